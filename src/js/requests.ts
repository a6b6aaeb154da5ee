/// <reference lib="esnext.disposable" preserve="true" />
import type { Path } from "./types.js";

/** Options of `create` and `update`. */
export interface WriteOptions {
  /** Aborting it gives up the request and all further tries. */
  signal?: AbortSignal;
}

/** Options of `delete`. */
export interface DeleteOptions extends WriteOptions {
  /** What must hold of the object; the server checks it. */
  preconditions?: { uid?: string; resourceVersion?: string };
  /** Seconds that the object may take to end. Default: its kind's own, 30 for pods. */
  gracePeriodSeconds?: number;
  /** What happens to what it owns. Default: its kind's own, mostly `"Background"`. */
  propagationPolicy?: "Orphan" | "Background" | "Foreground";
}

/** Options of `watch`: those of a Kubernetes watch request, and how it is handled here. */
export interface WatchOptions {
  namespace?: string;
  name?: string;
  labelSelector?: string;
  /** Any scalar path may be named, not only the few a server offers. */
  fieldSelector?: string;
  /**
   * One of several readers' share of the objects, by the hash of a field, such as
   * `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')`; several ranges are joined by `||`.
   */
  shardSelector?: string;
  /** Where to start: none or `"0"` with the current state as ADDED events, `n` with what came after `n`. */
  resourceVersion?: string;
  resourceVersionMatch?: "NotOlderThan";
  /**
   * Starts with the state at a version not older than `resourceVersion`, and with `allowWatchBookmarks` marks its end by a bookmark. It
   * needs `resourceVersionMatch: "NotOlderThan"`.
   */
  sendInitialEvents?: boolean;
  /** Sends a BOOKMARK now and then. */
  allowWatchBookmarks?: boolean;
  /** Ends the watch after this many seconds. */
  timeoutSeconds?: number;
  /** Events that may wait for this watcher before it counts as too slow. Default: as the apiserver chooses, a second's worth, 10 to 1,000. */
  bufferSize?: number;
  /**
   * What happens to a watch that has more than `bufferSize` events waiting:
   * - `terminate`: it has a moment to catch up, then ends with reason `overflow`, as in the apiserver. The default.
   * - `resync`: changes are skipped. Once the buffer is read there comes a BOOKMARK with `resync`, and after it the difference: one event
   *   for each object that is not as this watch told it last, by version. Such a watch outlives a relist in the same way; an object that
   *   vanished meanwhile is DELETED at the list's version.
   * - `coalesce`: changes of one object merge into one event, without a word. What was ADDED and is gone again never shows.
   */
  onOverflow?: "terminate" | "resync" | "coalesce";
  /** Before the cache is ready: wait for it (default), or fail at once with `too-many-requests`. */
  wait?: boolean;
  /** Aborting it is the same as `stop()`. */
  signal?: AbortSignal;
}

/** Why a watch ended. */
export interface WatchEnd {
  /**
   * - `stopped`: by `stop`, `return`, the signal, or by leaving the loop
   * - `error`: refused, or ended by an ERROR event
   * - `relist`: the upstream was listed anew; watch again from `lastResourceVersion`
   * - `overflow`: the watcher was too slow for its buffer
   * - `timeout`: after `timeoutSeconds`
   * - `closed`: the resource or the cache was closed
   */
  readonly reason: "stopped" | "error" | "relist" | "overflow" | "timeout" | "closed";
  /**
   * A new watch from this version goes on where this one ended. Absent where there is no such version, as amid the initial events or a
   * difference.
   */
  readonly lastResourceVersion?: string;
}

/**
 * A running watch: an async iterable of single events, or of whole flushes by `batches()`, or a callback by `forEach`.
 *
 * A watch that is not read holds its events back until its buffer is full, then ends with reason `overflow`, or does what its
 * `onOverflow` says. One that nobody holds any more, without a handler of `forEach` and with nobody waiting, stops when the engine collects
 * it; call `stop()` all the same, because nothing says when that is.
 */
export interface Watcher<T> extends AsyncIterableIterator<WatchEvent<T>> {
  next(): Promise<IteratorResult<WatchEvent<T>, undefined>>;
  return(): Promise<IteratorResult<WatchEvent<T>, undefined>>;
  /** The same events, as many at once as one flush brought. Leaving its loop stops the watch. */
  batches(): AsyncIterableIterator<readonly WatchEvent<T>[]>;
  /**
   * Calls the handler with each event. When it returns a promise, the next event waits for it: the queue then builds up in the cache,
   * up to `bufferSize`. A handler that throws, or whose promise rejects, is reported by `reportError` and gets the next event.
   *
   * @returns a promise that resolves when the watch has ended and the handler has, and rejects as the iteration would.
   * @throws {WatchCacheError} `invalid` when the watcher is being read in another way.
   */
  forEach(handler: (event: WatchEvent<T>) => void | Promise<void>): Promise<void>;
  /** Ends the watch: nothing is delivered afterwards. */
  stop(): void;
  /**
   * Why the stream ended, once the events before its end have been taken. Never rejects: a refused watch rejects the iteration, and ends
   * here with reason `error`.
   */
  readonly ended: Promise<WatchEnd>;
  [Symbol.asyncIterator](): Watcher<T>;
  /** The same as `stop()`, for `await using`, where the engine has the symbol. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** One event. Its getters read the stored bytes: nothing is decoded before it is asked for. */
export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  /** `"namespace/name"` or `"name"`; empty for BOOKMARK and ERROR. */
  readonly key: string;
  readonly resourceVersion: string;
  /** Decoded at the first read, then shared by all readers: do not change it. For ERROR it is a `Status`. */
  readonly object: T;
  /** A copy of the stored JSON. */
  readonly raw: Uint8Array;
  /**
   * One field, without decoding the object; `undefined` when it is absent.
   *
   * @throws {WatchCacheError} `invalid` for a path that cannot be read.
   */
  get(path: Path): unknown;
  /** True on the bookmark that ends the initial events. */
  readonly initialEventsEnd?: true | undefined;
  /**
   * True on the bookmark at which a watch with `onOverflow: "resync"` skips changes: everything up to its version was delivered, and what
   * follows is the difference.
   */
  readonly resync?: true | undefined;
}

/** Options of `list`: those of a Kubernetes list request. */
export interface ListOptions {
  namespace?: string;
  labelSelector?: string;
  /** Any scalar path may be named, not only the few a server offers. */
  fieldSelector?: string;
  /** As in `WatchOptions`. */
  shardSelector?: string;
  /**
   * None: as new as the upstream is now, which is asked for it. `"0"`: what is held, at once. `n`: not older than `n`, or with a `limit`
   * exactly `n`. What is not there yet is waited for, for up to 3 seconds.
   */
  resourceVersion?: string;
  /** With a `resourceVersion` other than `"0"`: as it was at exactly that version. From the cache, as far as it reaches back, else from the upstream. */
  resourceVersionMatch?: "Exact" | "NotOlderThan";
  /** Objects a page; the answer's `continue` asks for the next one. Not heeded at `resourceVersion` `"0"`. */
  limit?: number;
  /**
   * What the page before gave. All pages are of one version; when that is no longer kept the error is `expired`, and its
   * `status.metadata.continue`, where there is one, goes on at the newest version.
   */
  continue?: string;
  /** Before the cache is ready: wait for it (default), or fail at once with `too-many-requests`. */
  wait?: boolean;
  /** Ends the wait, and the requests that were sent for it. */
  signal?: AbortSignal;
}

/** The answer to `list`: objects in the order of their keys, all of one version. */
export interface List<T> {
  /**
   * The objects. Each is decoded when it is first read, and is the same object that events and views give, so a long list costs what is read
   * of it. It is a `Proxy` of an array: `[...items]` is a plain one, for `postMessage` and `structuredClone`.
   */
  readonly items: readonly T[];
  /** A copy of the stored JSON of `items`, as one array: what passes a list on, or keeps it, without decoding any of it. */
  readonly raw: Uint8Array;
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
  resourceVersion?: string;
  /** As in `ListOptions`. */
  signal?: AbortSignal;
}
