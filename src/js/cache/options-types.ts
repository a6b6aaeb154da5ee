import type { AbortSignalLike, HostFetch, Logger, UrlLike, WebSocketClass } from "../host/types.js";
import type { NamedIndexes } from "../indexes/types.js";
import type { Path } from "../object/path.js";
import type { PersistOptions } from "../persist/types.js";
import type { Credentials, MaybePromise } from "../upstream/types.js";

/**
 * How failed connections are retried: the wait grows from `initialMs` by `factor` up to `capMs`, each lengthened by up to `jitter` of itself.
 * However short they are set, the waits of what goes on failing double up to 50 ms at least.
 */
export interface RetryOptions {
  /** First wait, in milliseconds: from 1 to a day. Default 800. */
  initialMs: number;
  /** Growth from one wait to the next: from 1 to 100. Default 2. */
  factor: number;
  /** Longest wait before jitter, in milliseconds: from 1 to a day. Default 30,000. */
  capMs: number;
  /** Each wait is multiplied by a random number between 1 and 1 + `jitter`: from 0 to 100. Default 1. */
  jitter: number;
  /** After this long without a failure, in milliseconds, the next wait is `initialMs` again. Default 120,000. */
  resetAfterMs: number;
}

/** The event window: the recent changes, so that a watch may start in the past and a list may be of it. */
export interface HistoryOptions {
  /** The window grows rather than lose changes younger than this, in milliseconds. Default, and least, 75,000: the period of bookmarks and a quarter of it. */
  minMs?: number | undefined;
  /** The least number of changes it can hold. Default 100. */
  minEvents?: number | undefined;
  /** The greatest number of changes it can hold. Default 102,400, doubled until it stands for `minMs`. */
  maxEvents?: number | undefined;
  /** The most bytes that changes may hold beyond the objects' own; the oldest give way first, however young. Default 64 MiB. */
  maxBytes?: number | undefined;
}

/**
 * Options of `createWatchCache`. All may be left out, and to give `undefined` is to leave one out. `Infinity` is a duration that never ends, and
 * a number of bytes without a bound; the waits of `retry` have an end.
 */
export interface WatchCacheOptions<Index extends string = string> {
  /** Base of every path, such as `https://host/clusters/x`. Default: the page's origin. */
  server?: string | UrlLike | undefined;
  /**
   * How the watch streams. Lists always use fetch. Default `"auto"`; in Node, Bun and Deno `"fetch"`, unless `WebSocket` is given or
   * `watchList` is asked for.
   *
   * `"auto"`: over a WebSocket. Over fetch where the server, or a proxy before it, opens none although it answers. That is remembered, for ten
   * minutes at first, and told to `logger.warn` once. Over fetch also where `auth` gives headers, because browsers send none with a WebSocket.
   */
  transport?: "auto" | "websocket" | "fetch" | undefined;
  /** Called anew at each connect, so a rotated token or another impersonated user takes effect with the next connection. */
  auth?: (() => MaybePromise<Credentials>) | undefined;
  /** Another fetch, for Node, Electron and tests. */
  fetch?: HostFetch | undefined;
  /** Another WebSocket: for Node, Bun and Deno, whose own says no `Origin`, for Electron and for tests. */
  WebSocket?: WebSocketClass | undefined;
  /** Whether requests carry cookies. Default `"same-origin"`. */
  credentials?: "omit" | "same-origin" | "include" | undefined;
  /** Paths dropped from each object before it is stored. Default `["metadata.managedFields"]`; `[]` keeps everything. */
  strip?: readonly Path[] | undefined;
  /**
   * The one field that routes events to watchers, such as `spec.nodeName`. A watch that demands a value of it hears of changes with that
   * value alone, whatever else it demands. Without it a watch is found by whichever label or field it demands that the fewest others share.
   */
  trigger?: Path | undefined;
  /**
   * Named indexes for `byIndex`. By a path, each object has one value: the text there, empty where there is none. By a function, any number;
   * one that throws or returns something else leaves the object without values, and is reported. The index `"namespace"` always exists.
   */
  indexes?: NamedIndexes<Index> | undefined;
  /** How far back in time watches may start, and lists may be of. */
  history?: HistoryOptions | undefined;
  /**
   * The most bytes that all resources of this cache may hold, their windows, views, watchers and informers included. Default 512 MiB. Above it,
   * resources that nobody uses go first, then history; then whoever has grown most lately ends with code `out-of-memory`:
   * - a resource stops in phase `failed` and keeps what it holds; `resume()` tries again
   * - a view says so in its snapshot and keeps the rows that it showed; its resource's `resume()` brings it back when there is room
   * - a watch ends with an `ERROR`, and can go on from its `lastResourceVersion`
   * - an informer stops for good, and tells its `onWatchError`: make another
   *
   * What only waits to be collected by JavaScript ends nobody.
   */
  memory?: { maxBytes?: number | undefined } | undefined;
  /** Objects a list page. Default 500. */
  pageSize?: number | undefined;
  /**
   * Reads the first state over the watch (`sendInitialEvents`) instead of by a paged list, and lists where that fails. It spares a server that
   * answers from its own cache; a list shows its pages earlier. Over a WebSocket alone, so not with the transport `"fetch"`. Default false.
   */
  watchList?: boolean | undefined;
  /** How long a stream outlives its last user, in milliseconds. Default 5,000. */
  linger?: number | undefined;
  /**
   * A watch that brings no frame for this long, in milliseconds, is taken for dead and opened again. Default 90,000.
   * With less than 7,000 the transport `"auto"` cannot learn that a proxy swallows WebSockets.
   */
  idleTimeout?: number | undefined;
  /** How failed connections are retried. */
  retry?: { [Name in keyof RetryOptions]?: RetryOptions[Name] | undefined } | undefined;
  /** When a view's subscribers hear of changes: with the next animation frame (a timer while the page is hidden), or in the next microtask. Default `"frame"`. */
  flush?: "frame" | "microtask" | undefined;
  /** Freezes decoded objects deeply, so that code which changes a shared object fails at once, and checks consistency. Names that are nearly a column's are warned of. Default false. */
  debug?: boolean | undefined;
  /**
   * Compares every resource with its upstream, each 5 to 7.5 minutes, as the apiserver does with etcd. That lists everything, page by page. A
   * difference is told by the event `error`, and lists of past versions then go to the upstream. So is an upstream that went back behind what
   * is held. Default: the value of `debug`.
   */
  checkConsistency?: boolean | undefined;
  /**
   * Where the streams are held. Default `"inline"`: by this page. `"shared"`: by one worker for all tabs of equal `identity`, server and options,
   * which cost the server what one of them does. `"worker"`: by a worker of this page alone, off its thread. Both need an `identity`.
   *
   * In Node `"worker"` is a thread, which keeps the process alive until `close()`. Where there can be no worker the page holds them
   * itself and says so once. That is under a Content-Security-Policy that forbids it, and in Node with `"shared"`.
   * `stats().mode` tells which it is. `fetch`, `WebSocket` and the object of a source cannot be handed to a worker: they are `invalid`. Name the module that exports the source.
   */
  mode?: "inline" | "worker" | "shared" | undefined;
  /**
   * Who this page is, such as the id of its user and cluster. Pages that share a worker see what its credentials may see. So no two that may see different
   * things may give the same.
   */
  identity?: string | undefined;
  /**
   * Keeps what is held on disk, and shows it at the next start before the network answers, as `stale`. `identity` is required: what one user
   * saw, no other is shown. `forgetPersisted(identity)` deletes it, and is what a logout calls. Credentials are never kept.
   */
  persist?: PersistOptions | undefined;
  /** Where the worker's script lies, if a bundler has not put it beside the others: that of `watchcache/worker.js`. Or what opens a `MessagePort` to one. */
  worker?: string | UrlLike | ((name: string) => any) | undefined;
  /** Where messages go. Default: the console. */
  logger?: Logger | undefined;
  /** Aborting it closes the cache. */
  signal?: AbortSignalLike | undefined;
}
