// What the core and the facade both number or name: this is the one place in JavaScript. In Rust each number stands at the enum that it numbers.
// tests/conformance/wire.rs fails when the two differ.

/** Kinds of watch events: `kind` in `Hooks.flush` and `Hooks.event`. */
export const EVENT_ADDED = 0;
export const EVENT_MODIFIED = 1;
export const EVENT_DELETED = 2;
export const EVENT_BOOKMARK = 3;
export const EVENT_ERROR = 4;
/** The bookmark that ends the initial events. */
export const EVENT_INITIAL_EVENTS_END = 5;
/** The bookmark before a difference: changes were skipped after it. */
export const EVENT_RESYNC = 6;

/** The number of an event of several changes is larger than its kind: so many times the id of the object before them is added. */
export const KINDS_OF_EVENTS = 8;

/** What users call each kind of event. */
export const EVENT_TYPES = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "BOOKMARK", "BOOKMARK"] as const;

/** Why a watch ended: `ended` in `Hooks.flush`. */
export const END_REASONS = ["stopped", "error", "relist", "overflow", "timeout", "closed"] as const;

/** What else a flush tells: bits of `signals` in `Hooks.flush`. */
export const SIGNAL_STATUS = 1;
/** The first list is complete. */
export const SIGNAL_SYNCED = 2;
/** A later list replaced the state. */
export const SIGNAL_RELIST = 4;
/** A watcher or a handler did not keep up. */
export const SIGNAL_OVERFLOW = 8;
/** The status has a new error. */
export const SIGNAL_ERROR = 16;
/** Memory is short: decoded versions that are held for their successors are to be let go of. */
export const SIGNAL_LET_GO = 32;

/** What a watcher takes from now on: `RawResource.demand`. */
export const DEMAND_NONE = 0;
/** What comes until the next flush, then nothing. */
export const DEMAND_BATCH = 1;
export const DEMAND_ALL = 2;

/** Kinds of notifications: `kind` in `Hooks.notify`. */
export const NOTIFICATION_ADDED = 0;
/** Of the state that the handler began with. */
export const NOTIFICATION_INITIALLY_ADDED = 1;
export const NOTIFICATION_UPDATED = 2;
/** Told once more, unchanged. */
export const NOTIFICATION_RESYNCED = 3;
export const NOTIFICATION_DELETED = 4;
/** Its deletion was missed: this is the last state that was seen. */
export const NOTIFICATION_DELETED_UNSEEN = 5;
/** The handler's queue is full; it is about no object. */
export const NOTIFICATION_OVERFLOWED = 6;

/** What users call each kind of notification. */
export const NOTIFICATION_TYPES = ["add", "add", "update", "update", "delete", "delete", "overflow"] as const;

/** The index that every resource has, so that no other one may bear its name. */
export const NAMESPACE_INDEX = "namespace";

/** How a view can compare values. The first is the core's where none is named: specs that say so and specs that say nothing share a view. */
export const ORDERS = ["text", "natural", "number", "quantity", "time"] as const;

/** Where the stream of a resource stands: `phase` in `RawStatus`. */
export type Phase = "idle" | "loading" | "listing" | "live" | "reconnecting" | "relisting" | "paused" | "needs-auth" | "failed" | "closed";
