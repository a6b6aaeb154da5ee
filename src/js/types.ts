/// <reference lib="dom" preserve="true" />
/// <reference lib="esnext.disposable" preserve="true" />
import type { WatchCacheError } from "./errors.js";
import type { Informer, InformerOptions } from "./informer-types.js";
import type { DeleteOptions, GetOptions, List, ListOptions, Watcher, WatchOptions, WriteOptions } from "./requests.js";
import type { SourceSpec } from "./source.js";
import type { ResourceStatus } from "./status-types.js";
import type { View, ViewSpec } from "./view-types.js";

export type * from "./informer-types.js";
export type * from "./requests.js";
export type * from "./source.js";
export type * from "./status-types.js";
export type * from "./view-types.js";

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * A path into an object, in the manner of JSONPath without the leading `$.`: `status.phase`,
 * `metadata.labels['app.kubernetes.io/name']`, `status.conditions[?(@.type=='Ready')].status`.
 */
export type Path = string;

/** The least that is asked of a cached object. Give your own type as `resource<Pod>("pods")`. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata?: {
    name?: string;
    namespace?: string;
    uid?: string;
    /** A decimal number of any length, as text: compare by length, then by text; never as a JavaScript number. */
    resourceVersion?: string;
    generation?: number;
    labels?: { [key: string]: string };
    annotations?: { [key: string]: string };
  };
}

/** Kubernetes' `metav1.Status`: what the API server answers when a request fails. */
export interface Status {
  /** The HTTP code. */
  code?: number;
  /** A machine-readable word, such as `Expired` or `Forbidden`. */
  reason?: string;
  /** A sentence for people. */
  message?: string;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: { reason?: string; message?: string; field?: string }[];
    /** Seconds to wait before the next try. */
    retryAfterSeconds?: number;
  };
}

// ------------------------------------------------------------------------------------------------ the cache

/** What `auth` gives for one connection. */
export interface Credentials {
  /** Headers of list requests, and of the watch where it streams by fetch. Browsers send no custom headers with a WebSocket. */
  headers?: HeadersInit;
  /** A bearer token: the `Authorization` header of a fetch, a `base64url.bearer.authorization.k8s.io.…` subprotocol of a WebSocket. Never part of a URL. */
  token?: string;
  /** Further WebSocket subprotocols. */
  subprotocols?: string[];
  /** Added to the query of each request. */
  query?: Record<string, string>;
}

/** How failed connections are retried: the wait grows from `initialMs` by `factor` up to `capMs`, each lengthened by up to `jitter` of itself. */
export interface RetryOptions {
  /** First wait, in milliseconds. Default 800. */
  initialMs: number;
  /** Growth from one wait to the next. Default 2. */
  factor: number;
  /** Longest wait before jitter, in milliseconds. Default 30,000. */
  capMs: number;
  /** Each wait is multiplied by a random number between 1 and 1 + `jitter`. Default 1. */
  jitter: number;
  /** After this long without a failure, in milliseconds, the next wait is `initialMs` again. Default 120,000. */
  resetAfterMs: number;
}

/** The event window: the recent changes, so that a watch may start in the past and a list may be of it. */
export interface HistoryOptions {
  /** The window grows rather than lose changes younger than this, in milliseconds. Default, and least, 75,000: the period of bookmarks and a quarter of it. */
  minMs?: number;
  /** The least number of changes it can hold. Default 100. */
  minEvents?: number;
  /** The greatest number of changes it can hold. Default 102,400, doubled until it stands for `minMs`. */
  maxEvents?: number;
  /** The most bytes that changes may hold beyond the objects' own; the oldest give way first, however young. Default 64 MiB. */
  maxBytes?: number;
}

/** Gives the values of an object in an index: none, one or several. Called once for each object that arrives. It decodes the object, so a path is cheaper. */
export type IndexFunction = (object: any) => readonly string[];

/** Options of `createWatchCache`. All may be left out. */
export interface WatchCacheOptions {
  /** Base of every path, such as `https://host/clusters/x`. Default: the page's origin. */
  server?: string | URL;
  /** How the watch streams. Lists always use fetch. Default `"websocket"`. */
  transport?: "websocket" | "fetch";
  /** Called anew at each connect, so a rotated token or another impersonated user takes effect with the next connection. */
  auth?: () => MaybePromise<Credentials>;
  /** Another fetch, for Node, Electron and tests. */
  fetch?: typeof fetch;
  /** Another WebSocket, for Node before version 22, Electron and tests. */
  WebSocket?: new (url: string | URL, protocols?: string | string[]) => any;
  /** Whether requests carry cookies. Default `"same-origin"`. */
  credentials?: RequestCredentials;
  /** Paths dropped from each object before it is stored. Default `["metadata.managedFields"]`; `[]` keeps everything. */
  strip?: readonly Path[];
  /**
   * The one field that routes events to watchers, such as `spec.nodeName`: a watch that demands a value of it hears of changes with that
   * value alone, whatever else it demands. Without it a watch is found by whichever label or field it demands that the fewest others share.
   */
  trigger?: Path;
  /**
   * Named indexes for `byIndex`. By a path, each object has one value: the text there, empty where there is none. By a function, any number;
   * one that throws or returns something else leaves the object without values, and is reported. The index `"namespace"` always exists.
   */
  indexes?: Readonly<Record<string, Path | IndexFunction>>;
  history?: HistoryOptions;
  /**
   * The most bytes that all resources of this cache may hold, their windows included. Default 512 MiB. Above it, resources that nobody uses
   * go first, then history; then the resource that grows stops in phase `failed` with code `out-of-memory` and keeps what it holds. Its
   * `resume()` tries again.
   */
  memory?: { maxBytes?: number };
  /** Objects a list page. Default 500. */
  pageSize?: number;
  /**
   * Reads the first state over the watch (`sendInitialEvents`) instead of by a paged list, and lists where that fails. It spares a server that
   * answers from its own cache; a list shows its pages earlier. Not with the transport `"fetch"`. Default false.
   */
  watchList?: boolean;
  /** How long a stream outlives its last user, in milliseconds. Default 5,000. */
  linger?: number;
  /** A watch that brings no frame for this long, in milliseconds, is taken for dead and opened again. Default 90,000. */
  idleTimeout?: number;
  retry?: Partial<RetryOptions>;
  /** When a view's subscribers hear of changes: with the next animation frame (a timer while the page is hidden), or in the next microtask. Default `"frame"`. */
  flush?: "frame" | "microtask";
  /** Freezes decoded objects deeply, so that code which changes a shared object fails at once, and checks consistency. Default false. */
  debug?: boolean;
  /**
   * Compares every resource with its upstream, each 5 to 7.5 minutes, as the apiserver does with etcd. That lists everything, page by page. A
   * difference is told by the event `error`, and lists of past versions then go to the upstream. Default: the value of `debug`.
   */
  checkConsistency?: boolean;
  /** Where messages go. Default: the console. */
  logger?: Pick<Console, "debug" | "info" | "warn" | "error">;
  /** Aborting it closes the cache. */
  signal?: AbortSignal;
}

/** One Kubernetes resource. `namespace` and the selectors narrow the upstream stream itself. */
export interface ResourceSpec {
  /** The API group; none for the core group. */
  group?: string;
  /** Such as `v1`. */
  version: string;
  /** The plural name, such as `pods`. */
  resource: string;
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** The events of a cache, and what they carry. */
export interface WatchCacheEventMap {
  /** The WebAssembly instance failed for good; `detail` says why. Every resource of it has failed with it. */
  error: CustomEvent<WatchCacheError>;
}

/** One cache: one server, one set of options, any number of resources. */
export interface WatchCache extends EventTarget {
  /**
   * The resource, shared by all who name it equally. Opens nothing until it is used.
   *
   * @param spec `"pods"`, `"v1/pods"`, `"apps/v1/deployments"`, a `ResourceSpec`, or a `SourceSpec`.
   * @throws {WatchCacheError} `invalid` for a spec that names nothing, `closed` after `close()`.
   */
  resource<T extends KubeObject = KubeObject>(spec: string | ResourceSpec | SourceSpec): Resource<T>;
  /** Counters of now. */
  stats(): CacheStats;
  /**
   * The metrics of all open resources under the apiserver's names, as Prometheus text (version 0.0.4). Labels are `group` and `resource`, and
   * `scope` where a namespace or a selector narrows the resource. A custom source's id stands for the resource. Empty before the
   * WebAssembly is there.
   */
  metrics(): string;
  /** Closes every resource: watchers end with reason `closed`, pending calls reject with code `closed`. Safe to call again. */
  close(): Promise<void>;
  /** The same as `close()`, for `await using`, where the engine has the symbol. */
  [Symbol.asyncDispose](): Promise<void>;
  addEventListener<K extends keyof WatchCacheEventMap>(
    type: K,
    listener: (this: WatchCache, event: WatchCacheEventMap[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<K extends keyof WatchCacheEventMap>(
    type: K,
    listener: (this: WatchCache, event: WatchCacheEventMap[K]) => void,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | EventListenerOptions): void;
}

/** Counters of a cache. */
export interface CacheStats {
  /** The package's version, once the WebAssembly is there. */
  readonly version?: string;
  /** Bytes of WebAssembly memory, shared by all caches of the page; 0 before it is there. */
  readonly memoryBytes: number;
  /** One entry for each resource that is open. */
  readonly resources: readonly ResourceStats[];
}

/** Counters of one resource. */
export interface ResourceStats {
  /** The resource's name, such as `pods`. */
  readonly name: string;
  readonly phase: ResourceStatus["phase"];
  /** Objects held. */
  readonly objects: number;
  /** Bytes held: the objects' and those of the event window. */
  readonly bytes: number;
  /** Events received from the upstream so far. */
  readonly events: number;
  /** Lists of the upstream so far: one, and one for each relist. */
  readonly lists: number;
  /** Events that the window holds now. */
  readonly history: number;
  /** Events that the window can hold now; it grows and shrinks with the rate of events. */
  readonly historyCapacity: number;
  /** The oldest version that a watch can start from. */
  readonly historyFrom?: string;
  /** For how long, in milliseconds, the window has lost nothing: how far back in time it reaches. */
  readonly historyMs?: number;
  /** Bytes that the window holds beyond the objects' own. */
  readonly historyBytes: number;
  /** How often the window grew so far. */
  readonly historyIncreases: number;
  /** How often the window shrank so far. */
  readonly historyDecreases: number;
  /** Watches that are open. */
  readonly watchers: number;
  /** Views that are open. */
  readonly views: number;
  /** Informers that have started and not stopped. */
  readonly informers: number;
  /** Handlers that are registered with its informers. */
  readonly handlers: number;
  /** Notices that wait for those handlers: `informer_queued_items` in the metrics. */
  readonly queued: number;
  /** Events delivered so far, counted once for each watch that got them. */
  readonly delivered: number;
  /** Watches that events have looked at so far; one that cannot match is not looked at. */
  readonly visited: number;
  /** Watches that were too slow for their buffer so far. */
  readonly terminated: number;
  /** Times that the core called JavaScript so far. */
  readonly flushes: number;
  /** Object versions that JavaScript still refers to. */
  readonly pinned: number;
  /** The metrics under the apiserver's names, such as `apiserver_watch_cache_events_received_total`, without the buckets of histograms. */
  readonly metrics: Readonly<Record<string, number>>;
  /** Objects decoded so far: at most one for each version of an object that somebody read. */
  readonly decoded: number;
}

// ------------------------------------------------------------------------------------------- one resource

/** The events of a resource. Each carries the status of that moment. */
export interface ResourceEventMap {
  /** The status changed. */
  status: CustomEvent<ResourceStatus>;
  /** The first complete list has arrived. */
  sync: CustomEvent<ResourceStatus>;
  /** The upstream was listed again; watchers have ended with reason `relist`, or hear of the difference where they asked for that. */
  relist: CustomEvent<ResourceStatus>;
  /** A watcher was too slow for its buffer: it was ended with reason `overflow`, or skips changes as its `onOverflow` says. */
  overflow: CustomEvent<ResourceStatus>;
  /** Something failed; `detail.error` says what, in every phase. The resource goes on by itself wherever it can. */
  error: CustomEvent<ResourceStatus & { readonly error: WatchCacheError }>;
}

/**
 * One resource: the apiserver's watch cache over one upstream list and watch.
 *
 * Its stream opens with the first use and closes `linger` after the last: a watcher, a view with subscribers, a pending call, or a read.
 */
export interface Resource<T> extends EventTarget {
  /**
   * Where the stream stands: a frozen snapshot. A new one comes with a `status` event and only so, which makes it fit for
   * `useSyncExternalStore`. `pause`, `resume` and `close` tell of theirs before they return.
   */
  readonly status: ResourceStatus;
  /** The newest version held. It changes with each event and is no part of the status. Absent before the first complete list. */
  readonly resourceVersion?: string;
  /** When the last event or bookmark came, in milliseconds since 1970. */
  readonly lastEventAt?: number;
  /** Whether the first complete list has arrived, and what it led to is held. */
  readonly hasSynced: boolean;
  /**
   * Resolves when the first complete list has arrived, at once if it has. The status then says how things stand: it waits for the watch to be
   * opened or refused, a second at most.
   *
   * @throws {WatchCacheError} `forbidden`, `not-found`, `unauthorized` or `closed`; network errors reject nothing, they show in `status`.
   * @throws {DOMException} `AbortError` when the signal is aborted.
   */
  synced(options?: { signal?: AbortSignal }): Promise<void>;

  /** Watches from a version, as a watch request to the API server does. Errors reject the iteration. */
  watch(options?: WatchOptions): Watcher<T>;
  /**
   * Lists from the cache, as a list request to the API server does.
   *
   * @throws {WatchCacheError} `invalid` for options that cannot be read or contradict each other, `timeout` for a version that does not
   *   arrive, `expired` for one that is no longer kept, `too-many-requests` with `wait: false` before the cache is ready, `closed`.
   * @throws {DOMException} `AbortError`.
   */
  list(options?: ListOptions): Promise<List<T>>;
  /**
   * One object.
   *
   * @param key `"namespace/name"`, or `"name"` where there are no namespaces.
   * @throws {WatchCacheError} `not-found`, `timeout` for a version that does not arrive, `invalid`, `closed`.
   * @throws {DOMException} `AbortError`.
   */
  get(key: string, options?: GetOptions): Promise<T>;

  /**
   * An informer, as client-go has them: handlers, indexes and reads over this resource's stream and objects. It starts at once, unless
   * `start: false` says otherwise, and uses the resource until it is stopped.
   *
   * @throws {WatchCacheError} `invalid` for options that cannot be meant, `closed`.
   */
  informer(options?: InformerOptions<T>): Informer<T>;

  /** The object held under `"namespace/name"` or `"name"`, at once. */
  peek(key: string): T | undefined;
  /**
   * The objects with this value of an index, in the order of their keys. The index `"namespace"` always exists, others are declared by the
   * option `indexes`. The same array until one of them changes.
   *
   * @throws {WatchCacheError} `invalid` for an index that was not declared.
   */
  byIndex(index: string, value: string): readonly T[];
  /** The values that some object has in this index, in their order byte by byte. The same array until they change. @throws {WatchCacheError} `invalid` for an index that was not declared. */
  indexValues(index: string): readonly string[];
  /** Objects held. */
  readonly size: number;

  /**
   * A live, filtered, ordered and windowed list: what a component renders.
   *
   * @throws {WatchCacheError} `invalid` for a selector or path that cannot be read. Before the WebAssembly is there the view's first read throws it.
   */
  view(spec?: ViewSpec<T>): View<T>;

  /**
   * Adds an object upstream. Resolves with the object as the server keeps it, once the stream has brought it: `peek` then shows it. Should
   * the stream not come that far within three seconds, it resolves all the same, because the write has happened.
   *
   * @param object with `metadata.name` or `metadata.generateName`, and with `metadata.namespace` where the resource spans namespaces.
   * @throws {WatchCacheError} what the server says, such as `conflict` for a name that is taken, `invalid` with its causes in
   *   `status.details`, `forbidden`; `network` and `timeout` when no answer came: whether it was created is not known then, and it is not
   *   tried again. After 429 it is, as long as the server asks for, up to ten times within a minute.
   * @throws {DOMException} `AbortError`. The write may have happened.
   */
  create(object: T, options?: WriteOptions): Promise<T>;
  /**
   * Changes an object upstream, as the apiserver's `GuaranteedUpdate` does. Resolves as `create` does.
   *
   * `change` is called with a copy that it may change and return, first of the object that is held. When the object has changed upstream
   * meanwhile, it is called again with the newest, so it has no lasting effects of its own. Whatever `metadata.resourceVersion` it
   * returns, the write replaces the version it was called with. What it throws rejects the call, unless it was thrown over an object
   * that turns out to be old.
   *
   * Where `strip` drops more than `metadata.managedFields`, what is held is no whole object, and the newest is read first.
   *
   * @param key `"namespace/name"`, or `"name"` where there are no namespaces.
   * @param change returns the whole object, or undefined to leave it alone. A copy that was changed and not returned is an error.
   * @throws {WatchCacheError} as `create`; `not-found`; `conflict` when somebody else was quicker each time for a minute.
   * @throws {DOMException} `AbortError`. The write may have happened.
   */
  update(key: string, change: (current: T) => T | undefined, options?: WriteOptions): Promise<T>;
  /**
   * Deletes an object upstream. Resolves once the stream has told of it, within three seconds as for `create`: `peek` no longer shows it
   * then, or shows it with a `deletionTimestamp` where it ends gracefully or waits for finalizers.
   *
   * @param key `"namespace/name"`, or `"name"` where there are no namespaces.
   * @throws {WatchCacheError} as `create`; `not-found`; `conflict` when a precondition does not hold.
   * @throws {DOMException} `AbortError`. The deletion may have happened.
   */
  delete(key: string, options?: DeleteOptions): Promise<void>;

  /**
   * Lists the upstream anew; resolves when the differences are applied. A list that is older than what is held is not applied, because it may
   * come from a replica that is behind, unless `reset` says that the server itself was reset, such as from a backup.
   */
  refresh(options?: { reset?: boolean }): Promise<void>;
  /** Closes the upstream stream and keeps what is held. */
  pause(): void;
  /** Opens the stream again, from where it was. While it waits for its next try to connect: tries at once. */
  resume(): void;
  /** Ends the watchers with reason `closed` and lets go of what is held. `WatchCache.resource` then gives a new one. */
  close(): void;

  addEventListener<K extends keyof ResourceEventMap>(
    type: K,
    listener: (this: Resource<T>, event: ResourceEventMap[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<K extends keyof ResourceEventMap>(
    type: K,
    listener: (this: Resource<T>, event: ResourceEventMap[K]) => void,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | EventListenerOptions): void;
}
