import type { WatchCacheError } from "./errors.js";

/** Where a resource's stream stands. Data and status are separate: no phase but `closed` takes a row away. */
export type ResourceStatus = Readonly<{
  /**
   * - `idle`: not used by anyone
   * - `loading`: the WebAssembly is being compiled, or the first list was asked for
   * - `listing`: the pages of the first list arrive
   * - `live`: the watch is open
   * - `reconnecting`: the watch broke; the next try is at `retryAt`
   * - `relisting`: the version was too old to resume from, or `refresh` was called
   * - `paused`: `pause` was called
   * - `needs-auth`: the server answered 401; the next try, at `retryAt` or by `resume`, asks `auth` anew
   * - `failed`: the server said no, see `error`; it is tried again at `retryAt`, or by `resume`
   * - `closed`
   */
  phase: "idle" | "loading" | "listing" | "live" | "reconnecting" | "relisting" | "paused" | "needs-auth" | "failed" | "closed";
  /** The newest version held. */
  resourceVersion?: string;
  /** How far the list that is on its way has come, in objects. */
  listed?: Readonly<{ loaded: number; remaining?: number }>;
  /** Something is held, but changes are not arriving. */
  stale: boolean;
  /** When the last frame came, in milliseconds since 1970. */
  lastEventAt?: number;
  /** Failed tries since the last success. */
  attempt: number;
  /** When the next try is due, in milliseconds since 1970. */
  retryAt?: number;
  /** The last error, until the stream is well again and nothing is in quarantine. */
  error?: WatchCacheError;
  /**
   * The keys of objects that the server sends in a form that cannot be taken, and that a new list has not cured: no usable version, a name
   * that is no key, bytes that are no JSON. What was held of them stays as it was, everything else goes on. An `error` event tells of each;
   * the first sound version of an object takes it out again.
   */
  quarantined?: readonly string[];
}>;
