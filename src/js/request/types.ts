import type { AbortSignalLike } from "../host/types.js";
import type { Immutable, Read } from "../object/readonly.js";

/** Options of `create` and `update`. */
export interface WriteOptions {
  /** Aborting it gives up the request and all further tries. */
  signal?: AbortSignalLike | undefined;
}

/** Options of `delete`. */
export interface DeleteOptions extends WriteOptions {
  /** What must hold of the object; the server checks it. */
  preconditions?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined;
  /** Seconds that the object may take to end. Default: its kind's own, 30 for pods. */
  gracePeriodSeconds?: number | undefined;
  /** What happens to what it owns. Default: its kind's own, mostly `"Background"`. */
  propagationPolicy?: "Orphan" | "Background" | "Foreground" | undefined;
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
