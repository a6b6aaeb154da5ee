/**
 * What the WebAssembly module exports, as the facade sees it. Private: users import `watchcache`.
 *
 * Objects cross the boundary as ids (safe integers). An id that Rust hands out is pinned. Its bytes stay readable until `release` has given
 * the id back as often as it was handed out. Nothing is decoded before `parse`.
 */

import type { RawError } from "../error/core-error.js";
import type { FrameEncoder } from "./frame-encoder.js";
import type { Phase } from "./numbers.js";

/** Called with flat arrays of numbers after Rust has let go of its state, so it may call anything on the cache. */
export interface Hooks {
  /**
   * One boundary crossing for everything that happened since the last. `events` and `pairs` are scratch: they hold only until this
   * returns. Flushes never nest: what the subscribers cause is told in another flush, after this one.
   * @param events  flat [kind, objectId]*, with the kinds `EVENT_…`. Each objectId is pinned once. An event of several changes has `KINDS_OF_EVENTS` times the id of the object before them added to its kind; that one is not pinned
   * @param pairs   flat [watcherId, index into events]*, in delivery order; with an audience its watcherIds, or nothing when they are those of the last one
   * @param ended   flat [watcherId, reason]*, with places in `END_REASONS`; delivered after the pairs
   * @param views   ids of views whose rows, total or counts changed
   * @param signals bits `SIGNAL_…`
   * @param audience not 0: the number of watchers to whom, in their order, each of the events goes
   */
  flush(events: Float64Array, pairs: Uint32Array, ended: Uint32Array, views: Uint32Array, signals: number, audience: number): void;
  /**
   * The same for a flush that is one event and nothing else: for one watcher, or, with an audience, for those of the last one.
   * @param kind   as in `events`
   * @param id   pinned once
   */
  event(kind: number, id: number, watcher: number, audience: number): void;
  /**
   * What handlers of informers are told, before the rest of the flush. `table` and `pairs` are scratch, as in `flush`.
   * @param table   flat [kind, id, id of the old object]*, with the kinds `NOTIFICATION_…`, and 0 where there is no object. Each id is pinned once.
   * @param pairs   flat [handler, index into the table]*, in delivery order
   * @param handlers   those that have handled the state they began with
   * @param informers   those whose first state is there
   * @param interruptions   of the stream, for all informers, or for one that there was no memory for
   */
  notify(
    table: Float64Array,
    pairs: Uint32Array,
    handlers: Uint32Array,
    informers: Uint32Array,
    interruptions: readonly RawInterruption[],
  ): void;
  /** The values of an object, whose id is pinned once, in each index without a path, in the order of these. Called before it is stored. */
  indexValues(id: number): string[][];
}

export interface RawInterruption {
  phase: Phase;
  error: RawError;
  stale: boolean;
  retryAt?: number; // absent: at once
  key?: string; // of the one object that it is about; absent: the stream
  ended?: number; // the one informer that has ended with it; absent: all are told, and go on
}

export interface RawStatus {
  phase: Phase;
  resourceVersion?: string;
  listed?: { loaded: number; remaining?: number };
  stale: boolean;
  staleSince?: number; // of the wall clock; there while it is stale
  unconfirmed?: true; // what is held was kept, and the server has not confirmed it
  lastEventAt?: number;
  attempt: number;
  retryAt?: number;
  quarantined?: string[]; // keys; absent when there are none
  namespaces?: Record<string, { phase: Phase; error?: { code: string; message: string }; retryAt?: number }>; // of a resource of several
  error?: RawError;
}

/** The transport of a Kubernetes resource; every function is called anew at each connect. */
export interface RawKubernetes {
  server: string; // absolute base URL without trailing slash
  path: string; // "/api/v1/namespaces/x/pods"
  labelSelector: string | undefined;
  fieldSelector: string | undefined;
  as?: string | undefined; // "PartialObjectMetadata" or "Table": over fetch alone
  transport: "auto" | "websocket" | "fetch";
  protocol?: ((server: string) => string) | undefined; // of its last answer, such as "h2", or ""; there where connections are few
  fellBack?: ((server: string) => void) | undefined; // its WebSockets are refused: called once
  credentials: string;
  auth?: (() => unknown) | undefined; // MaybePromise<{ headers?, token?, subprotocols?, query? }>
  /** Who else may ask, where the server has refused these answers in one try, the last one just now. Undefined: nobody. */
  others?: ((refused: readonly any[]) => unknown) | undefined; // MaybePromise<what auth gives | undefined>
  fetch: Function;
  WebSocket: Function | undefined;
  encoder?: FrameEncoder | undefined; // of the texts that sockets bring; otherwise a TextEncoder
}

/** A Source object given by the user; bodies and frames as the public contract says. */
export interface RawSource {
  list: Function;
  watch?: Function; // not called where it is polled
  get?: Function;
  create?: Function;
  update?: Function;
  patch?: Function;
  delete?: Function;
  deleteCollection?: Function;
  currentResourceVersion?: Function;
  requestProgress?: Function;
  compactedResourceVersion?: Function;
  collection?: { namespace?: string | undefined };
}

/** What is left out has its default in the core. */
export interface RawOptions {
  name: string; // for messages: "pods"
  namespaces?: readonly string[] | undefined; // as one resource: the path of the transport names none
  strip?: readonly string[] | undefined;
  pageSize?: number | undefined;
  watchList?: boolean | undefined;
  idleTimeout?: number | undefined;
  retry?: Partial<Record<"initialMs" | "factor" | "capMs" | "jitter" | "resetAfterMs", number | undefined>> | undefined;
  trigger?: string | undefined;
  history?: Partial<Record<"minMs" | "minEvents" | "maxEvents" | "maxBytes", number | undefined>> | undefined;
  /** Without a path: by `Hooks.indexValues`. */
  indexes?: readonly { name: string; path?: string | undefined }[];
  checkConsistency?: boolean | undefined;
  pollMs?: number | undefined; // lists this often instead of watching
}

export interface RawWatchOptions {
  namespace?: string | undefined;
  name?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  shardSelector?: string | undefined;
  changesOf?: readonly string[] | undefined;
  resourceVersion?: string | undefined;
  resourceVersionMatch?: string | undefined;
  sendInitialEvents?: boolean | undefined;
  allowWatchBookmarks?: boolean | undefined;
  timeoutSeconds?: number | undefined;
  bufferSize?: number | undefined;
  onOverflow?: string | undefined;
  wait?: boolean | undefined;
}
export interface RawListOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  shardSelector?: string | undefined;
  resourceVersion?: string | undefined;
  resourceVersionMatch?: string | undefined;
  limit?: number | undefined;
  continue?: string | undefined;
  wait?: boolean | undefined;
}
export interface RawInformerOptions {
  resyncPeriod?: number | undefined;
  relistUpdates?: boolean | undefined;
  readYourWrites?: boolean | undefined;
}
export interface RawHandlerOptions {
  resyncPeriod?: number | undefined;
  coalesce?: boolean | undefined;
  bufferSize?: number | undefined;
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  changesOf?: readonly string[] | undefined;
  /** The facade itself judges by `changesOf`; the core only reads it. */
  judged?: boolean | undefined;
}
/** What a write says beside its document. */
export interface RawWriteOptions {
  subresource?: string | undefined;
  dryRun?: boolean | undefined;
  fieldManager?: string | undefined;
  fieldValidation?: string | undefined;
}
export interface RawPatchOptions extends RawWriteOptions {
  type: string;
  force?: boolean | undefined;
}
export interface RawDeleteCollectionOptions extends RawDeleteOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}
export interface RawDeleteOptions {
  dryRun?: boolean | undefined;
  preconditions?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined;
  gracePeriodSeconds?: number | undefined;
  propagationPolicy?: string | undefined;
}
export interface RawList {
  ids: Float64Array; // each pinned once
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
  shardSelector?: string; // in its canonical form
}
export interface RawViewSpec {
  namespaces: string[] | undefined;
  labelSelector: string | undefined;
  fieldSelector: string | undefined;
  /** Words between whitespace; without paths they are looked for in keys. */
  search: { text: string; paths?: string[] | undefined } | undefined;
  predicate: boolean;
  orderBy: { path: string; descending?: boolean; as?: string | undefined }[] | undefined;
  groupBy: string | undefined;
  select: string[] | undefined; // paths
  /** Where one of these names stands as a path of `orderBy`, `groupBy` or `select`, the column is meant. */
  derive: { name: string; paths: string[] }[] | undefined;
  /** Views of the same derived columns: what the one of them was told that was told most is known here, too. */
  alike?: number[];
}
/** A derived column by its position, an object's key, the values at the column's paths, and the positions of those that are missing. */
export type RawAsked = [column: number, key: string, fields: unknown[], missing: number[]];

/** The storage of one resource. What it rejects with costs a list, and nothing else. */
export interface RawKeeper {
  /** What was kept. */
  read(): Promise<RawKept | undefined>;
  /** Resolves when this one may write; true if nobody else could since it read. Rejects where there is no storage. */
  turn(): Promise<boolean>;
  /** Writes at once or not at all. With `isWhole` all other blocks go. `order` has the numbers of all blocks, as they are to be read. */
  write(
    head: Uint8Array,
    numbers: Uint32Array,
    blocks: Uint8Array[],
    order: Uint32Array,
    removed: Uint32Array,
    isWhole: boolean,
  ): Promise<void>;
}

/** What a keeper has kept. */
export interface RawKept {
  readonly head: Uint8Array;
  /** Some blocks more, in their order; undefined behind the last. */
  next(): Promise<Uint8Array[] | undefined>;
}

/** One resource: a cacher with its reflector. Every method may throw a RawError; none calls back into JavaScript before it returns. */
export interface RawResource {
  /** Opens the list and the watch; until then the phase is idle. Again after `pause`. */
  start(): void;
  /** Before `start`: has its state kept there, from which nothing is taken that is older than so many milliseconds. */
  persist(keeper: RawKeeper, maxAgeMs: number): void;
  status(): RawStatus;
  stats(): unknown;
  /** A Table's `columnDefinitions` as JSON, once they are known; undefined where the resource is not of rows. */
  tableColumns(): string | undefined;
  /** Adds its metrics to an exposition. An empty scope: all of the resource. */
  metrics(exposition: RawMetrics, group: string, resource: string, scope: string): void;

  parse(id: number): unknown; // JSON.parse of the stored bytes: a new value at each call, the facade caches
  /** Called before an object is decoded. The newest version of it of which this was called before, unless that was long ago. 0 = none */
  predecessor(id: number): number;
  /** The same of many objects. */
  predecessors(ids: Float64Array): Float64Array;
  /** What makes one version of another, flat [route, value]*; a route is of names and indexes. Undefined where that would save too little. */
  patch(from: number, to: number): unknown;
  /** Whether a decoded version may be held for the sake of the next one. If so it is from now on, and another one is no more (0 = none). */
  hold(id: number, insteadOf: number): boolean;
  /** So many bytes of frames are held for the sake of the next ones. If that may not be, all of them go. */
  holdFrames(bytes: number): boolean;
  raw(id: number): Uint8Array; // a copy
  rawList(ids: Float64Array): Uint8Array; // a copy, as one JSON array
  texts(ids: Float64Array): string; // of the first of them, at least one, with a NUL between them
  columns(paths: string[]): void; // which fields `facts` brings from now on
  facts(id: number, ofEvent: boolean): string; // its version, or that of the event which told of it, a space, its key; with columns a JSON array of that, their values, and which are missing if any is
  field(id: number, path: string): unknown; // a scalar, or a decoded sub-document
  /**
   * Whether the value at a path is another than it was before. True where that is not known any more, or there was no object.
   * @param before   the id of an earlier version; 0 for the one that the object replaced
   */
  changed(id: number, before: number, path: string): boolean;
  release(ids: Float64Array): void;
  /** The garbage collector has been through all there is: what is pinned since before that counts as memory. */
  collected(): void;

  peek(key: string): number; // 0 = absent
  byIndex(index: string, value: string): Float64Array;
  indexValues(index: string): string[];
  size(): number;

  /** Registers a watcher; events come by flush once it is wanted. Refusals arrive as an ended watcher whose `refusal` tells why. */
  watch(options: RawWatchOptions): number;
  /** `DEMAND_…`: what is not taken waits in the core. */
  demand(watcher: number, mode: number): void;
  stop(watcher: number): void;
  /** Why a watch was refused, or cut short for want of memory (RawError), or undefined; and the last version delivered to it. Kept until `forget`. */
  refusal(watcher: number): RawError | undefined;
  lastVersion(watcher: number): string | undefined;
  /** Whether a subscriber that missed what waits can go on from the last version that it saw. Asked before `stop`. */
  resumesFromSeen(watcher: number, pastInitialEvents: boolean): boolean;
  forget(watcher: number): void;

  // Reads end, and their requests with them, when `over` resolves; it has to in the end.
  list(options: RawListOptions, over: Promise<void>): Promise<RawList>;
  get(key: string, options: { resourceVersion?: string | undefined }, over: Promise<void>): Promise<number>;

  // Writes end, and their request with them, when `over` resolves; it has to in the end.
  // They answer with an object's id, or with JSON text of another kind: a subresource's own, or a Status.
  create(document: string, options: RawWriteOptions, over: Promise<void>): Promise<number | string>;
  /**
   * `change` gets an id that is readable until it returns, and gives JSON, or undefined to leave the object alone. What it throws is
   * rejected with as it is.
   */
  update(key: string, change: (id: number) => string | undefined, options: RawWriteOptions, over: Promise<void>): Promise<number | string>;
  writePatch(key: string, document: string, options: RawPatchOptions, over: Promise<void>): Promise<number | string>;
  getSubresource(key: string, subresource: string, over: Promise<void>): Promise<string>;
  delete(key: string, options: RawDeleteOptions, over: Promise<void>): Promise<void>;
  deleteCollection(options: RawDeleteCollectionOptions, over: Promise<void>): Promise<void>;

  /**
   * Opens a view. It answers for the state of its last `viewSync`, all of it, until the next: what happens meanwhile waits. A flush names a view
   * for which something waits that may show, once, and not again before its `viewSync`.
   */
  view(spec: RawViewSpec): number;
  /** Closes a view and its ranges. */
  viewClose(view: number): void;
  /** Opens a range of a view's rows; there may be any number. */
  viewRange(view: number, offset: number, limit: number): number;
  /** Shows in `viewRows` at once: other rows of the same state. */
  viewMove(range: number, offset: number, limit: number): void;
  viewRangeClose(range: number): void;
  /** Takes in what waits, verdicts included; true when a range, total, counts or `viewLoaded` may tell something else than before. */
  viewSync(view: number): boolean;
  viewRows(range: number): Float64Array; // ids of the range's rows, pinned
  viewStamps(range: number): Float64Array; // of the range's rows, where fields are selected: another one where a row shows something else
  viewFields(range: number, positions: Float64Array): [key: string, ...fields: unknown[]][]; // in the order of `select`, then where any is missing
  viewTotal(view: number): number; // not final before `viewLoaded`
  viewCounts(view: number): (string | number)[]; // flat [value, count]*
  viewIndexOf(view: number, key: string): number; // -1 = no row
  viewKeys(view: number): string; // all, in order, with a % behind each
  /** `out-of-memory`, once there was none for its rows: it has none from then on, and a flush has named it. */
  viewError(view: number): RawError | undefined;
  /** Whether the list is whole and every object was asked. Before that for the first time, an ordered view has no rows yet; a plain one those found. */
  viewLoaded(view: number): boolean;
  /** Ids that pass the selectors and wait for the JavaScript predicate, pinned; `viewDecide` gives the verdicts in the same order, `viewSync` takes them in. */
  viewUndecided(view: number): Float64Array;
  viewDecide(view: number, ids: Float64Array, verdicts: Uint8Array): void;
  /** Derived columns that order or group: what is asked of so many objects, which have no place before `viewTell` and `viewSync`. */
  viewAsks(view: number, max: number): RawAsked[];
  /** Derived columns that rows show: what is asked of so many rows of the range. To be asked and told before `viewStamps`. */
  viewAsksIn(range: number, max: number): RawAsked[];
  /** The answers to what was asked last, or to the first of it, in that order: scalars as a JSON array. */
  viewTell(view: number, values: string): void;
  keysOf(ids: Float64Array): string[]; // of pinned ids

  /** An informer that has not started. */
  informer(options: RawInformerOptions): number;
  /** Whether it had not started. The stream is opened by `start`. */
  informerStart(informer: number): boolean;
  /** Ends it; it can still be read, until `informerForget`. */
  informerStop(informer: number): void;
  informerForget(informer: number): void;
  informerSynced(informer: number): boolean;
  informerVersion(): string; // empty before the first list
  informerHandler(informer: number, options: RawHandlerOptions): number;
  handlerRemove(informer: number, handler: number): void;
  /** It is not done with the last of so many notifications of this flush; those after it come again. With `pace` one at a time. */
  handlerWaits(handler: number, begun: number, pace: boolean): void;
  handlerDone(handler: number): void;
  informerGet(informer: number, key: string): number; // 0 = absent
  informerList(informer: number, labelSelector: string | undefined, namespace: string): Float64Array;
  /** Without a path: by `informerDecide`. */
  informerAddIndexers(informer: number, indexers: { name: string; path?: string }[]): void;
  informerUndecided(informer: number, index: string): Float64Array; // pinned
  informerDecide(informer: number, index: string, id: number, values: string[]): void;
  informerByIndex(informer: number, index: string, value: string): Float64Array;
  informerIndexKeys(informer: number, index: string, value: string): string[];
  informerIndexValues(informer: number, index: string): string[];
  informerMutated(document: string): void;

  /** Answers who shares it, to whom `post` sends packets. From the first on, no watch of this handle is told anything. */
  serve(post: RawPost): RawServing;

  synced(): Promise<void>; // rejects with a RawError for forbidden, not-found, unauthorized, closed
  refresh(reset: boolean): Promise<void>; // a relist now; resolves when it is applied. With reset also one that is older than what is held
  setNamespaces(namespaces: readonly string[]): void; // of a resource of several, in place of those it had
  pause(): void;
  /** As `pause`, for want of users: when memory is short the core closes such a resource, and its phase is then closed. */
  goIdle(): void;
  resume(): void;
  signedIn(): void; // the next try waits no longer for somebody who can say who asks; it is no early try
  close(): void;
}

/** Sends a packet to the other end of a channel; it must not call back before it returns. */
export type RawPost = (head: string, body: Uint8Array | undefined) => void;

/** The end of a channel at which a resource answers. Freed, it ends all that it was asked. */
export interface RawServing {
  take(head: string, body: Uint8Array | undefined): void; // throws a RawError for what no end of this build sends
  calls(): number; // that are not over
  free(): void;
}

/** The end of a channel at which a resource is asked. */
export interface RawRemote {
  take(head: string, body: Uint8Array | undefined): void; // as above
  breakOff(why: string): void; // what was asked fails
  reconnect(post: RawPost): void; // there is another end
  free(): void;
}

/** Bytes that several resources may hold together; nothing to call. */
export type RawMemory = object;

/** An exposition: the metrics of any number of resources as one text. */
export interface RawMetrics {
  text(): string;
  free(): void;
}

/** What stands before the body of an answer. */
export interface RawHead {
  code: number;
  redirected: boolean;
  contentType: string | undefined;
  retryAfter: string | undefined;
  date: string | undefined;
}

export interface RawModule {
  openMetrics(): RawMetrics;
  openKubernetes(options: RawOptions, transport: RawKubernetes, hooks: Hooks, memory: RawMemory): RawResource;
  /** `transport` says what it is; undefined: a source that only the other end knows. `connect` leads to who holds it, once, or for each of its namespaces. */
  openShared(
    options: RawOptions,
    transport: RawKubernetes | undefined,
    connect: (remote: RawRemote, namespace: string | undefined) => void,
    hooks: Hooks,
    memory: RawMemory,
  ): RawResource;
  openSource(options: RawOptions, source: RawSource | (() => Promise<RawSource>), hooks: Hooks, memory: RawMemory): RawResource;
  /** The bound of one cache, shared by its resources. */
  RawMemory: new (maxBytes?: number) => RawMemory;
  /**
   * Judges the text of an option: as a selector where it is named as one, else as a path. Of an index it judges the name, too, which is all
   * that one by a function has. Throws `invalid`, as the use of it would.
   */
  checkGrammar(option: string, text: string | undefined): void;
  /** Judges what a view asks for. Throws `invalid`, as opening it would. */
  checkView(spec: RawViewSpec): void;
  /** Judges the answer to a request of the facade's own. Throws what it means, unless it may be a document. */
  checkAnswer(head: RawHead, body: Uint8Array): void;
  /** The message of the panic that stopped this instance, or undefined. After one, every call throws an `internal` error. */
  poisoned(): string | undefined;
  /**
   * Sets who hears of a panic: a panic inside a task of the core throws at nobody, and whoever waits would wait for ever. Called with its
   * message from within the panic hook, so the callback may call nothing here before its next microtask.
   */
  onPanic(callback: (message: string) => void): void;
  /** The machine has slept for so many milliseconds in all, of which `performance.now()` knows nothing: deadlines count them, too. */
  slept(millis: number): void;
  /** Bytes of linear memory. */
  memoryBytes(): number;
  buildInfo(): { version: string; simd: boolean };
}

/** Reads what etcd's JSON gateway answers: src/web/transport/dialect.rs. No part of `RawModule`: caches call none of it. */
export type RawEtcdClass = new (prefix: Uint8Array, transactions: boolean) => RawEtcd;

export interface RawEtcd {
  /** A List. */
  list(answer: { readonly revision?: string }, body: string | Uint8Array): Uint8Array;
  /** One object. */
  object(answer: { readonly deleted?: string }, body: string | Uint8Array): Uint8Array;
  watch(after: string, bookmarks: boolean): RawEtcdWatch;
}

/** The messages of one watch. */
export interface RawEtcdWatch {
  /** The frames of a message; nothing follows an error. */
  frames(message: string): (Uint8Array | RawError)[];
}
