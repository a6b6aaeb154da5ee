import type { AbortSignalLike } from "../host/types.js";
import type { DeepReadonly, Immutable, Read } from "../object/readonly.js";

/** What can be given up. */
export interface SignalOptions {
  /** Aborting it gives up the request and all further tries. */
  signal?: AbortSignalLike | undefined;
}

/** Options of `create`, `update` and `patch`. */
export interface WriteOptions extends SignalOptions {
  /** The server checks the write and answers with what it would keep, and keeps nothing. Then nothing is waited for either. Default: false. */
  dryRun?: boolean | undefined;
  /** Who writes, as `metadata.managedFields` names it. Default: the first word of the User-Agent, in a page `Mozilla`. */
  fieldManager?: string | undefined;
  /** What becomes of fields that the kind does not have. They are dropped, dropped with a warning, or refused. Default: the server's own, `"Warn"`. */
  fieldValidation?: "Ignore" | "Warn" | "Strict" | undefined;
}

/** The status of an object, which `update` and `patch` may write. */
export interface StatusSubresource {
  /** A part of the object with an address of its own. Default: the object itself. */
  subresource?: "status" | undefined;
}

/** A part of an object with an address of its own. */
export interface Subresource {
  /** Its name, such as `scale`, `eviction`, `ephemeralcontainers`, `resize` or `token`. */
  subresource: string;
}

/** Options of `patch`. */
export interface PatchOptions<Type extends PatchType = PatchType> extends WriteOptions {
  /**
   * How the patch says what is to change. `"merge"` (RFC 7386): members replace those of their names, null removes one, a list is replaced whole.
   * `"strategic"`: the same, but lists of built-in kinds are merged by the keys of their items; custom resources have no such patches.
   * `"json"` (RFC 6902): operations. `"apply"`: all that the manager wants; the server keeps who owns which field, and adds the object if it is missing.
   */
  type: Type;
  /** Only with `"apply"`: takes fields from their owners. Default: false, and they are a `conflict`. */
  force?: boolean | undefined;
}

/** How a patch says what is to change: see `PatchOptions`. */
export type PatchType = "merge" | "strategic" | "json" | "apply";

/** One operation of a patch of type `"json"`. Paths are JSON pointers: `/spec/replicas`, `/metadata/annotations/a~1b`. */
export type JsonPatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "move" | "copy"; readonly from: string; readonly path: string };

/** A patch of type `"merge"`: what is to be otherwise. */
export type MergePatch<T> = T extends readonly unknown[]
  ? DeepReadonly<T>
  : T extends object
    ? { readonly [Key in keyof T]?: MergePatch<T[Key]> | null }
    : T;

/** Options of `delete`. */
export interface DeleteOptions extends SignalOptions {
  /** As in `WriteOptions`. */
  dryRun?: boolean | undefined;
  /** What must hold of the object; the server checks it. */
  preconditions?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined;
  /** Seconds that the object may take to end. Default: its kind's own, 30 for pods. */
  gracePeriodSeconds?: number | undefined;
  /** What happens to what it owns. Default: its kind's own, mostly `"Background"`. */
  propagationPolicy?: "Orphan" | "Background" | "Foreground" | undefined;
}

/** Options of `deleteCollection`: which objects, and how each of them is deleted. */
export interface DeleteCollectionOptions extends Omit<DeleteOptions, "preconditions"> {
  /** The namespace. Servers delete all of a kind in one namespace only, so it is needed unless the resource is of one, or has none. */
  namespace?: string | undefined;
  /** Only objects with such labels, beside those that the resource selects. */
  labelSelector?: string | undefined;
  /** Only objects with such fields: of those that the server can select by. */
  fieldSelector?: string | undefined;
}

/** Options of `list`: those of a Kubernetes list request. */
export interface ListOptions {
  /** Only objects of this namespace. */
  namespace?: string | undefined;
  /** Only objects with such labels: `app=web,tier in (front,back)`. */
  labelSelector?: string | undefined;
  /** Any scalar path may be named, not only the few a server offers. */
  fieldSelector?: string | undefined;
  /** As in `WatchOptions`. */
  shardSelector?: string | undefined;
  /**
   * None: as new as the upstream is now, which is asked for it. `"0"`: what is held, at once. `n`: not older than `n`, or with a `limit`
   * exactly `n`. What is not there yet is waited for, for up to 3 seconds.
   */
  resourceVersion?: string | undefined;
  /** With a `resourceVersion` other than `"0"`: as it was at exactly that version. From the cache, as far as it reaches back, else from the upstream. */
  resourceVersionMatch?: "Exact" | "NotOlderThan" | undefined;
  /** Objects a page; the answer's `continue` asks for the next one. Not heeded at `resourceVersion` `"0"`. */
  limit?: number | undefined;
  /**
   * What the page before gave. All pages are of one version. When that is no longer kept the error is `expired`. Its
   * `status.metadata.continue`, where there is one, goes on at the newest version.
   */
  continue?: string | undefined;
  /** Before the cache is ready: wait for it (default), or fail at once with `too-many-requests`. */
  wait?: boolean | undefined;
  /** Ends the wait, and the requests that were sent for it. */
  signal?: AbortSignalLike | undefined;
}

/** The answer to `list`: objects in the order of their keys, all of one version. */
export interface List<T, Access = Immutable> {
  /**
   * The objects. Each is decoded when it is first read, and is the same object that events and views give. So a long list costs what is read
   * of it. It is a `Proxy` of an array: `[...items]` is a plain one, for `postMessage` and `structuredClone`.
   */
  readonly items: readonly Read<T, Access>[];
  /** A copy of the stored JSON of `items`, as one array: what passes a list on, or keeps it, without decoding any of it. */
  readonly raw: Uint8Array;
  /** The version that all of it is of. */
  readonly resourceVersion: string;
  /** Asks for the next page. Absent on the last one. A page may hold fewer objects than `limit`, even none, and yet not be the last. */
  readonly continue?: string;
  /** How many objects the further pages hold; absent where selectors make it unknown. */
  readonly remainingItemCount?: number;
  /** The shard that was asked for, in its canonical form. */
  readonly shardSelector?: string;
}

/** Options of `get`. */
export interface GetOptions {
  /** None: the upstream is asked. `"0"`: what is held. `n`: not older than `n`, which is waited for, for up to 3 seconds. */
  resourceVersion?: string | undefined;
  /** As in `ListOptions`. */
  signal?: AbortSignalLike | undefined;
}
