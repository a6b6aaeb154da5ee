import type { AbortSignalLike, HostAsyncDisposable } from "../host/types.js";
import type { Status } from "../object/metadata.js";
import type { Path } from "../object/path.js";
import type { DeepReadonly, Immutable, Read } from "../object/readonly.js";

/** Options of `watch`: those of a Kubernetes watch request, and how it is handled here. */
export interface WatchOptions {
  /** Only objects of this namespace. */
  namespace?: string | undefined;
  /** Only the object of this name. */
  name?: string | undefined;
  /** Only objects with such labels: `app=web,tier in (front,back)`. */
  labelSelector?: string | undefined;
  /** Any scalar path may be named, not only the few a server offers. */
  fieldSelector?: string | undefined;
  /**
   * One of several readers' share of the objects, by the hash of a field, such as
   * `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')`; several ranges are joined by `||`.
   */
  shardSelector?: string | undefined;
  /**
   * Of MODIFIED events only those that change the value at one of these paths, such as `["metadata.generation"]`. All others come as always: what is
   * added, deleted, or comes to be selected or ceases to, the initial state, bookmarks. Nothing is decoded for it. A missing value counts as one, objects
   * and arrays are compared as text. What is held back is no gap: bookmarks and `lastResourceVersion` go on over it. At least one path.
   */
  changesOf?: readonly Path[] | undefined;
  /** Where to start: none or `"0"` with the current state as ADDED events, `n` with what came after `n`. */
  resourceVersion?: string | undefined;
  /** With `sendInitialEvents`: how the state's version relates to `resourceVersion`. */
  resourceVersionMatch?: "NotOlderThan" | undefined;
  /**
   * Starts with the state at a version not older than `resourceVersion`, and with `allowWatchBookmarks` marks its end by a bookmark. It
   * needs `resourceVersionMatch: "NotOlderThan"`.
   */
  sendInitialEvents?: boolean | undefined;
  /** Sends a BOOKMARK now and then. */
  allowWatchBookmarks?: boolean | undefined;
  /** Ends the watch after this many seconds. */
  timeoutSeconds?: number | undefined;
  /** Events that may wait for this watcher before it counts as too slow. Default: as the apiserver chooses, a second's worth, 10 to 1,000. */
  bufferSize?: number | undefined;
  /**
   * What happens to a watch that has more than `bufferSize` events waiting:
   * - `terminate`: it has a moment to catch up, then ends with reason `overflow`, as in the apiserver. The default.
   * - `resync`: changes are skipped. Once the buffer is read there comes a BOOKMARK with `resync`, and after it the difference. That is one
   *   event for each object that is not as this watch told it last, by version. Such a watch outlives a relist in the same way; an object
   *   that vanished meanwhile is DELETED at the list's version.
   * - `coalesce`: changes of one object merge into one event, without a word. What was ADDED and is gone again never shows.
   */
  onOverflow?: "terminate" | "resync" | "coalesce" | undefined;
  /** Before the cache is ready: wait for it (default), or fail at once with `too-many-requests`. */
  wait?: boolean | undefined;
  /** Aborting it is the same as `stop()`. */
  signal?: AbortSignalLike | undefined;
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
 * A watch that is not read holds its events back until its buffer is full. Then it ends with reason `overflow`, or does what its
 * `onOverflow` says. One that nobody holds any more, without a handler of `forEach` and with nobody waiting, stops when the engine collects
 * it. Call `stop()` all the same, because nothing says when that is.
 */
export interface Watcher<T, Access = Immutable> extends AsyncIterableIterator<WatchEvent<T, Access>>, HostAsyncDisposable {
  /** The next event, once it is there. */
  next(): Promise<IteratorResult<WatchEvent<T, Access>, undefined>>;
  /** The same as `stop()`: what leaving a loop over it calls. */
  return(): Promise<IteratorResult<WatchEvent<T, Access>, undefined>>;
  /** The same events, as many at once as one flush brought. Leaving its loop stops the watch. */
  batches(): AsyncIterableIterator<readonly WatchEvent<T, Access>[]>;
  /**
   * Calls the handler with each event. When it returns a promise, the next event waits for it: the queue then builds up in the cache,
   * up to `bufferSize`. A handler that throws, or whose promise rejects, is reported by `reportError` and gets the next event.
   *
   * @returns a promise that resolves when the watch has ended and the handler has, and rejects as the iteration would.
   * @throws {WatchCacheError} `invalid` when the watcher is being read in another way.
   */
  forEach(handler: (event: WatchEvent<T, Access>) => void | PromiseLike<unknown>): Promise<void>;
  /** Ends the watch: nothing is delivered afterwards. */
  stop(): void;
  /**
   * Why the stream ended, once the events before its end have been taken. Never rejects: a refused watch rejects the iteration, and ends
   * here with reason `error`.
   */
  readonly ended: Promise<WatchEnd>;
  /** Itself. */
  [Symbol.asyncIterator](): Watcher<T, Access>;
}

/** What all events have. Their getters read the stored bytes: nothing is decoded before it is asked for. */
export interface WatchEventBase {
  /** `"namespace/name"` or `"name"`; empty for BOOKMARK and ERROR. */
  readonly key: string;
  /** The version that the event made, or that a bookmark marks. */
  readonly resourceVersion: string;
  /** A copy of the stored JSON. */
  readonly raw: Uint8Array;
  /**
   * One field, without decoding the object; `undefined` when it is absent.
   *
   * @throws {WatchCacheError} `invalid` for a path that cannot be read.
   */
  get(path: Path): unknown;
  /**
   * Whether the value at a path is another than in the version before, without decoding either. Objects and arrays are compared as text. True for every path of
   * ADDED and DELETED, false for BOOKMARK and ERROR. Where several changes came as one event (`onOverflow`), all of them count. What `changesOf` held back before
   * this event does not, so name there what is asked here.
   *
   * Ask while you handle the event: it does not hold the version before. That one is in the event window, and what is unknown counts as changed. So it does
   * for every path once the window has moved on (after 75 seconds at least, if memory allows), and after a relist.
   *
   * @throws {WatchCacheError} `invalid` for a path that cannot be read.
   */
  changed(path: Path): boolean;
  /** True on the bookmark that ends the initial events. */
  readonly initialEventsEnd?: true | undefined;
  /**
   * True on the bookmark at which a watch with `onOverflow: "resync"` skips changes: everything up to its version was delivered, and what
   * follows is the difference.
   */
  readonly resync?: true | undefined;
}

/** A change of one object. */
export interface ObjectEvent<T, Access = Immutable> extends WatchEventBase {
  /** `ADDED`: it came to be, or to be selected. `DELETED`: it is gone, or no longer selected. */
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The object after it; for DELETED its last state. Decoded at the first read, then shared by all readers: do not change it. */
  readonly object: Read<T, Access>;
  /** Of bookmarks alone. */
  readonly initialEventsEnd?: undefined;
  /** Of bookmarks alone. */
  readonly resync?: undefined;
}

/** A version up to which everything was delivered. */
export interface BookmarkEvent extends WatchEventBase {
  /** Told now and then with `allowWatchBookmarks`. */
  readonly type: "BOOKMARK";
  /** No object, but what has its version. */
  readonly object: BookmarkObject;
}

/** What stands in a bookmark. */
export interface BookmarkObject {
  /** As of the resource's objects. */
  readonly apiVersion?: string;
  /** As of the resource's objects. */
  readonly kind?: string;
  /** The version, and the mark at the end of the initial events. */
  readonly metadata: {
    readonly resourceVersion: string;
    readonly annotations?: { readonly [key: string]: string };
  };
}

/** The server, or the cache, ended the watch. Nothing follows. */
export interface ErrorEvent extends WatchEventBase {
  /** As in the stream of the API server. */
  readonly type: "ERROR";
  /** Why it ended. */
  readonly object: DeepReadonly<Status>;
  /** Of bookmarks alone. */
  readonly initialEventsEnd?: undefined;
  /** Of bookmarks alone. */
  readonly resync?: undefined;
}

/** One event of a watch: its `type` says what its `object` is. */
export type WatchEvent<T, Access = Immutable> = ObjectEvent<T, Access> | BookmarkEvent | ErrorEvent;
