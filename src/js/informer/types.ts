import type { WatchCacheError } from "../error/errors.js";
import type { AbortSignalLike } from "../host/types.js";
import type { NamedIndexes } from "../indexes/types.js";
import type { ObjectLike } from "../object/metadata.js";
import type { Path } from "../object/path.js";
import type { Immutable, Read } from "../object/readonly.js";
import type { ResourceStatus } from "../status/types.js";

/** Options of `Resource.informer`. */
export interface InformerOptions<T, Access = Immutable, Index extends string = string> {
  /**
   * How often handlers are told every object once more, in milliseconds, where they ask for no period of their own. It costs no request. 0, the
   * default: never, whatever a handler asks for. Not shorter than a second; `Infinity` for those alone who ask for a period of their own.
   */
  resyncPeriod?: number | undefined;
  /**
   * Makes of each object what handlers, indexes by a function and reads see. It gets a copy of its own, which it may change and return. It
   * is called once for each version of an object that somebody looks at, and never with its own result. Where it throws, the error is
   * reported, handlers do not hear of that version, and reads leave the object out. It answers at once: a promise is such an error, told
   * once.
   */
  transform?: ((object: T) => T) | undefined;
  /**
   * Named indexes. By a path, each object has one value: the text there in the stored document, empty where there is none; nothing is decoded for
   * it. By a function, any number: it is called for what has changed when the index is next read. The index `"namespace"` always exists, and so do
   * those of the cache's option `indexes`.
   */
  indexers?: NamedIndexes<Index, Read<T, Access>> | undefined;
  /**
   * Whether a relist also tells of objects that did not change, as client-go does. Until the first resync it tells every handler, then
   * those whose resync is due. Default false: what did not change is told by resyncs alone.
   */
  relistUpdates?: boolean | undefined;
  /**
   * Whether reads of this informer show at once what was written through the resource, and what `mutated` was given. They do until the stream has
   * come as far, as with client-go's mutation cache. At most 100 objects, for at most five minutes. `get`, `list`, `byIndex` and `indexKeys` show it, through
   * indexes of either kind; `indexValues` and handlers tell of the stream alone. Default false.
   */
  readYourWrites?: boolean | undefined;
  /**
   * Told of every interruption of the stream: of lists and watches that failed, and of a connection that broke and is resumed at once. Not of a
   * watch that the server ended in good order, whose successor follows. Also told of an object that had to be set apart (`key`). And of the end of
   * this informer where its queues and indexes outgrew `memory.maxBytes` (code `out-of-memory`).
   * What it throws, or its promise rejects with, is reported.
   */
  onWatchError?: ((interruption: WatchInterruption) => void) | undefined;
  /** Whether it starts at once. Default true; otherwise `start()` does it. */
  start?: boolean | undefined;
}

/** A name of an index that is known, or any other: `addIndexers` may have added it. */
export type KnownIndex<Index extends string> = Index | (string & Record<never, never>);

/** One interruption of the stream under an informer. */
export interface WatchInterruption {
  /** What the resource does about it. */
  readonly phase: ResourceStatus["phase"];
  /** What happened; `error.status` is the server's own answer, where there was one. */
  readonly error: WatchCacheError;
  /** When it goes on, in milliseconds since 1970. Absent: at once. */
  readonly retryAt?: number;
  /** The same from now, in milliseconds; 0 for at once. */
  readonly delayMs: number;
  /** Whether something is held that may be out of date. */
  readonly stale: boolean;
  /**
   * The key of the one object that this is about. No list has cured it, so it is set apart (`status.quarantined`). What was held of it
   * stays, and the stream goes on with all others. Absent where the stream itself was interrupted.
   */
  readonly key?: string;
}

/**
 * A shared informer, as client-go has it: handlers over the one stream and the one copy of the objects that watches and views have too.
 *
 * The store changes first, then handlers are told: what a handler reads is at least as new as what it is told.
 */
export interface Informer<T, Access = Immutable, Index extends string = string> {
  /**
   * Registers a handler, at any time. It first hears of each object that is held, as additions with `isInInitialList`, then of every change: no gap,
   * no duplicate. The same handler may be registered several times. Handlers are called by themselves, each in its own order.
   *
   * A handler that throws is reported (`reportError`) and gets the next notification. One that returns a promise is waited for: its next notification comes when
   * that has settled.
   *
   * @param handler callbacks with decoded objects, or a function that gets events, of which nothing is decoded before it is read.
   * @throws {WatchCacheError} `closed` after `stop()`, `invalid` for options that cannot be read.
   */
  addEventHandler(handler: EventHandler<T, Access> | InformerListener<T, Access>, options?: HandlerOptions<T, Access>): HandlerRegistration;
  /** As `registration.remove()`. A registration of another informer stays as it is. */
  removeEventHandler(registration: HandlerRegistration): Promise<void>;
  /**
   * Adds indexes, at any time before the end; what is held is in them at once.
   *
   * @throws {WatchCacheError} `invalid`, and none is added, when a name is taken; `closed` after `stop()`.
   */
  addIndexers(indexers: NamedIndexes<string, Read<T, Access>>): void;
  /** The first list is whole, and in the queue of every handler of that moment. Never false again. */
  readonly hasSynced: boolean;
  /** Resolves when `hasSynced` comes true. Rejects with `closed` when the informer is stopped before. Network errors do not reject it. */
  readonly synced: Promise<void>;
  /** The newest version held; empty before the first list. */
  readonly lastSyncResourceVersion: string;
  /** It was started, or started by itself. */
  readonly isStarted: boolean;
  /** It was stopped, or has failed for good. */
  readonly isStopped: boolean;
  /**
   * The objects with a value of an index, in the order of their keys. The same array until one of them changes.
   *
   * @throws {WatchCacheError} `invalid` for an index that does not exist.
   */
  byIndex(index: KnownIndex<Index>, value: string): readonly Read<T, Access>[];
  /** Their keys, `"namespace/name"` or `"name"`, in order. @throws {WatchCacheError} `invalid` for an index that does not exist. */
  indexKeys(index: KnownIndex<Index>, value: string): readonly string[];
  /** The values that some object has in an index, in order; none for an index that does not exist. */
  indexValues(index: KnownIndex<Index>): readonly string[];
  /**
   * The objects that a label selector lets through, of one namespace or of all, in the order of their keys. The same array until one of them changes;
   * its elements are decoded when they are first read.
   *
   * @throws {WatchCacheError} `invalid` for a selector with a mistake.
   */
  list(labelSelector?: string, namespace?: string): readonly Read<T, Access>[];
  /** The object under `"namespace/name"` or `"name"`. */
  get(key: string): Read<T, Access> | undefined;
  /** For `readYourWrites`: an object as a write that went another way left it, with its new `metadata.resourceVersion`. */
  mutated(object: ObjectLike): void;
  /** Opens the stream, if `start: false` held it back. A second call only logs a warning, and so does one after `stop()`. */
  start(): void;
  /** Ends it for good: nothing is called afterwards. The stream stays open for other users, and for `linger`. */
  stop(): void;
}

/** Callbacks of an informer. Objects are shared by all readers: do not change them. */
export interface EventHandler<T, Access = Immutable> {
  /** An object is there. `isInInitialList`: it was when the handler joined. */
  onAdd?(object: Read<T, Access>, isInInitialList: boolean, event: AddEvent<T, Access>): void | PromiseLike<unknown>;
  /** An object changed, or is told once more by a resync (`event.resync`): then both have the same version. After a gap several changes come as one. */
  onUpdate?(old: Read<T, Access>, object: Read<T, Access>, event: UpdateEvent<T, Access>): void | PromiseLike<unknown>;
  /** An object is gone. */
  onDelete?(deleted: Deleted<T, Access>, event: DeleteEvent<T, Access>): void | PromiseLike<unknown>;
  /**
   * More changes wait than `bufferSize`: from here on those of one object merge, until nothing waits any more. No object's last state is lost.
   * Without this method it is reported as an error with code `overflow`.
   */
  onOverflow?(): void | PromiseLike<unknown>;
}

/** A handler as one function. */
export type InformerListener<T, Access = Immutable> = (event: InformerEvent<T, Access>) => void | PromiseLike<unknown>;

/** What all notifications have. Their getters read the stored bytes: nothing is decoded before it is asked for. */
export interface NotificationBase {
  /** `"namespace/name"` or `"name"`; empty for `overflow`. */
  readonly key: string;
  /** The version of the object after it; empty for `overflow`. */
  readonly resourceVersion: string;
  /** One field of the stored object, before any `transform`, without decoding it. @throws {WatchCacheError} `invalid` for a path that cannot be read. */
  get(path: Path): unknown;
  /** The same of the object before it; undefined where there is none. */
  getOld(path: Path): unknown;
  /**
   * Whether the value at a path of the stored object is another than in the object before it, without decoding either. Objects and arrays are compared as text.
   * True for every path of `add` and `delete`, false where nothing changed: a resync, `overflow`. Where updates merged, all of them count. What `changesOf` held
   * back before this one does not, so name there what is asked here.
   *
   * @throws {WatchCacheError} `invalid` for a path that cannot be read.
   */
  changed(path: Path): boolean;
  /** Of `add`: it was there when the handler joined. */
  readonly isInInitialList: boolean;
  /** Of `update`: nothing changed, it is told once more. */
  readonly resync: boolean;
  /** Of `delete`: the deletion was missed, and `object` is the last state that was seen. */
  readonly finalStateUnknown: boolean;
}

/** An object is there. */
export interface AddEvent<T, Access = Immutable> extends NotificationBase {
  /** It came to be, came to pass the handler's filter, or was there when the handler joined. */
  readonly type: "add";
  /** The object. Decoded at the first read, then shared by all readers. */
  readonly object: Read<T, Access>;
  /** There was none. */
  readonly oldObject: undefined;
  /** Of `update` alone. */
  readonly resync: false;
  /** Of `delete` alone. */
  readonly finalStateUnknown: false;
}

/** An object changed, or is told once more. */
export interface UpdateEvent<T, Access = Immutable> extends NotificationBase {
  /** With `resync` nothing changed. */
  readonly type: "update";
  /** The object after it. Decoded at the first read, then shared by all readers. */
  readonly object: Read<T, Access>;
  /** The object before it. Decoded at the first read. */
  readonly oldObject: Read<T, Access>;
  /** Of `add` alone. */
  readonly isInInitialList: false;
  /** Of `delete` alone. */
  readonly finalStateUnknown: false;
}

/** An object is gone. */
export interface DeleteEvent<T, Access = Immutable> extends NotificationBase {
  /** It was deleted, or ceased to pass the handler's filter. */
  readonly type: "delete";
  /** Its last state. Decoded at the first read, then shared by all readers. */
  readonly object: Read<T, Access>;
  /** The object before it, where that is known. */
  readonly oldObject: Read<T, Access> | undefined;
  /** Of `add` alone. */
  readonly isInInitialList: false;
  /** Of `update` alone. */
  readonly resync: false;
}

/** More changes wait than `bufferSize`: from here on those of one object merge, until nothing waits any more. */
export interface OverflowEvent extends NotificationBase {
  /** It is about no object. */
  readonly type: "overflow";
  /** Of the others alone. */
  readonly object: undefined;
  /** Of the others alone. */
  readonly oldObject: undefined;
  /** Of `add` alone. */
  readonly isInInitialList: false;
  /** Of `update` alone. */
  readonly resync: false;
  /** Of `delete` alone. */
  readonly finalStateUnknown: false;
}

/** What a handler is told: its `type` says what its objects are. */
export type InformerEvent<T, Access = Immutable> = AddEvent<T, Access> | UpdateEvent<T, Access> | DeleteEvent<T, Access> | OverflowEvent;

/** An object that is gone. */
export interface Deleted<T, Access = Immutable> {
  /** `"namespace/name"` or `"name"`. */
  readonly key: string;
  /** Its last state: as it was deleted, or where that was missed as it was last seen. Decoded at the first read. */
  readonly object?: Read<T, Access>;
  /** The deletion was missed. */
  readonly finalStateUnknown: boolean;
}

/** Options of `Informer.addEventHandler`. */
export interface HandlerOptions<T, Access = Immutable> {
  /** Its own resync period, in milliseconds, raised to a second and rounded up to the informer's. 0: none. Default: the informer's. */
  resyncPeriod?: number | undefined;
  /**
   * Whether changes of one object that wait for this handler merge. Two updates become one, an addition takes in what follows, and an
   * addition and a deletion become nothing. Default false.
   */
  coalesce?: boolean | undefined;
  /** Changes that may wait for a handler which returned a promise; see `onOverflow`. Default 1,000. */
  bufferSize?: number | undefined;
  /** How long the handler may be called, in milliseconds, before the page has its turn. Default: no limit but 500 notifications a turn. */
  timeSlice?: number | undefined;
  /** Only objects of this namespace. */
  namespace?: string | undefined;
  /** Only objects that it lets through. One that comes to pass is added, one that ceases to is deleted with its last state that passed. Nothing is decoded for it. */
  labelSelector?: string | undefined;
  /** The same for any scalar paths. */
  fieldSelector?: string | undefined;
  /** The same by a function, which decodes, and answers at once: a promise is an error, told once. */
  filter?: ((object: Read<T, Access>) => boolean) | undefined;
  /**
   * Of updates only those that change the value at one of these paths of the stored object, such as `["metadata.generation"]`. Everything else is told as always:
   * additions, deletions, what comes to pass the selectors or ceases to, resyncs. Nothing is decoded for it. A missing value counts as one, objects and
   * arrays are compared as text. Of updates that merge, the first state and the last are compared. At least one path.
   */
  changesOf?: readonly Path[] | undefined;
}

/** A handler's registration. */
export interface HandlerRegistration {
  /** The informer has synced, and every call with `isInInitialList` has returned, or thrown. */
  readonly hasSynced: boolean;
  /** Resolves when `hasSynced` comes true. Rejects with `closed` when the handler is removed, or the informer stopped, before. */
  readonly synced: Promise<void>;
  /**
   * Takes the handler away; what was not delivered to it never will be. Does nothing the second time.
   *
   * @returns resolves when a call that is under way has ended; so do not await it inside the handler itself.
   */
  remove(): Promise<void>;
}

/** What can be waited for. */
export interface Syncing {
  /** Whether it has. */
  readonly hasSynced: boolean;
  /** Resolves when it has, and rejects when it never will. */
  readonly synced: Promise<void>;
}

/** Options of `waitForSync`. */
export interface WaitOptions {
  /** Gives up after this many milliseconds. Default: never. */
  timeoutMs?: number | undefined;
  /** Aborting it gives up. */
  signal?: AbortSignalLike | undefined;
}
