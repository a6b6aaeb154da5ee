import type { AbortSignalLike, DetailEvent, HostEventTarget } from "../host/types.js";
import type { Informer, InformerOptions } from "../informer/types.js";
import type { Path } from "../object/path.js";
import type { KubeObject, ObjectLike, TableColumn } from "../object/metadata.js";
import type { DeepReadonly, Immutable, Read } from "../object/readonly.js";
import type {
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  JsonPatchOperation,
  List,
  ListOptions,
  MergePatch,
  PatchOptions,
  SignalOptions,
  StatusSubresource,
  Subresource,
  WriteOptions,
} from "../request/types.js";
import type { ResourceErrorDetail, ResourceStatus } from "../status/types.js";
import type {
  DerivedColumn,
  DerivedRow,
  DerivedValue,
  FieldNames,
  LabelSelector,
  SelectedRow,
  SelectedViewSpec,
  View,
  ViewSpec,
} from "../view/types.js";
import type { Watcher, WatchOptions } from "../watch/types.js";

/** The events of a resource. Each carries the status of that moment. */
export interface ResourceEventMap {
  /** The status changed. */
  status: DetailEvent<ResourceStatus>;
  /** The first complete list has arrived. */
  sync: DetailEvent<ResourceStatus>;
  /** The upstream was listed again; watchers have ended with reason `relist`, or hear of the difference where they asked for that. */
  relist: DetailEvent<ResourceStatus>;
  /** A watcher was too slow for its buffer: it was ended with reason `overflow`, or skips changes as its `onOverflow` says. */
  overflow: DetailEvent<ResourceStatus>;
  /** Something failed; `detail.error` says what, in every phase. The resource goes on by itself wherever it can. */
  error: DetailEvent<ResourceErrorDetail>;
}

/**
 * One resource: the apiserver's watch cache over one upstream list and watch.
 *
 * Its stream opens with the first use and closes `linger` after the last: a watcher, a view with subscribers, a pending call, or a read.
 *
 * Its objects are `T`, and what is read of them is deeply readonly unless `Access` is `Mutable`. `Index` are the names of its indexes.
 */
export interface Resource<T, Access = Immutable, Index extends string = string> extends HostEventTarget {
  /**
   * Where the stream stands: a frozen snapshot. A new one comes with a `status` event and only so, which makes it fit for
   * `useSyncExternalStore`. `pause`, `resume` and `close` tell of theirs before they return.
   */
  readonly status: ResourceStatus;
  /** The newest version held. It changes with each event and is no part of the status. Absent before the first complete list. */
  readonly resourceVersion?: string;
  /** When the last event or bookmark came, in milliseconds since 1970. */
  readonly lastEventAt?: number;
  /** Whether the first complete list has arrived, and what it led to is held. What `persist` kept counts once the server has confirmed it. */
  readonly hasSynced: boolean;
  /**
   * Resolves when the first complete list has arrived, at once if it has. The status then says how things stand: it waits for the watch to be
   * opened or refused, a second at most.
   *
   * @throws {WatchCacheError} `forbidden`, `not-found`, `unauthorized` or `closed`; network errors reject nothing, they show in `status`.
   * @throws {DOMException} when the signal is aborted: its reason, where that is an `AbortError` or a `TimeoutError`. Else an `AbortError`
   *   with the reason as its `cause`.
   */
  synced(options?: { signal?: AbortSignalLike | undefined }): Promise<void>;

  /**
   * Watches from a version, as a watch request to the API server does. A refusal rejects the iteration.
   *
   * @throws {WatchCacheError} `invalid`, at once, for an option of a wrong type or name, and for a selector that cannot be read. Before the
   *   WebAssembly is there nobody can read selectors: then such a one rejects the iteration.
   */
  watch(options?: WatchOptions): Watcher<T, Access>;
  /**
   * Lists from the cache, as a list request to the API server does.
   *
   * @throws {WatchCacheError} `invalid` for options that cannot be read or contradict each other. `timeout` for a version that does not
   *   arrive, `expired` for one that is no longer kept. `too-many-requests` with `wait: false` before the cache is ready, `closed`. And as `synced`
   *   where the server refuses what it would wait for.
   * @throws {DOMException} as `synced`.
   */
  list(options?: ListOptions): Promise<List<T, Access>>;
  /**
   * One object.
   *
   * @param key `"namespace/name"`, or `"name"` where there are no namespaces.
   * @throws {WatchCacheError} `not-found`, `timeout` for a version that does not arrive, `invalid`, `closed`.
   * @throws {DOMException} as `synced`.
   */
  get(key: string, options?: GetOptions): Promise<Read<T, Access>>;
  /** A part of the object that has an address of its own, such as its `scale`, as the server has it now. */
  get<Part extends ObjectLike = KubeObject>(key: string, options: SignalOptions & Subresource): Promise<Read<Part, Access>>;

  /**
   * An informer, as client-go has them: handlers, indexes and reads over this resource's stream and objects. It starts at once, unless
   * `start: false` says otherwise, and uses the resource until it is stopped.
   *
   * @throws {WatchCacheError} `invalid` for options that cannot be meant, `closed`.
   */
  informer<Name extends string = never>(options?: InformerOptions<T, Access, Name>): Informer<T, Access, Index | Name | "namespace">;

  /** The object held under `"namespace/name"` or `"name"`, at once. */
  peek(key: string): Read<T, Access> | undefined;
  /**
   * The objects with this value of an index, in the order of their keys. The index `"namespace"` always exists, others are declared by the
   * option `indexes`. The same array until one of them changes.
   *
   * @throws {WatchCacheError} `invalid` for an index that was not declared.
   */
  byIndex(index: Index, value: string): readonly Read<T, Access>[];
  /** The values that some object has in this index, in their order byte by byte. The same array until they change. @throws {WatchCacheError} `invalid` for an index that was not declared. */
  indexValues(index: Index): readonly string[];
  /** Objects held. */
  readonly size: number;
  /**
   * What the `cells` of its rows are, where it was opened with `as: "Table"`: there with the first list. The same array until the server
   * tells of others. Rows that have not changed since keep the cells that they came with.
   */
  readonly columns?: readonly TableColumn[];

  /**
   * A live, filtered, ordered and windowed list: what a component renders.
   *
   * @throws {WatchCacheError} `invalid` for an option of a wrong type or name, and for a selector or path that cannot be read. Before the
   *   WebAssembly is there nobody can read those: then the snapshot's `error` tells it.
   */
  view(spec?: ViewSpec<T, Access>): View<T, Access>;
  /** The same with rows that show selected fields of their objects and derived columns, and are told of only when one of these differs. */
  view<const Select extends { readonly [name: string]: Path }, Values extends { readonly [name: string]: DerivedValue }>(
    spec: Omit<ViewSpec<T, Access>, "derive" | "select"> & {
      select: Select & FieldNames;
      derive: { readonly [Name in keyof Values]: DerivedColumn<Values[Name]> };
    },
  ): View<DerivedRow<Select, Values>, Access>;
  /** The same, with what the fields are said by you. */
  view<Fields extends object>(spec: SelectedViewSpec<T, Fields, Access>): View<SelectedRow<Fields>, Access>;

  /**
   * A view of what has this owner: `pods.childrenOf(replicaSet).rows`. The same as the option `childrenOf` of `view`.
   *
   * @param owner the owner, or its uid; `null` finds nothing
   * @throws {WatchCacheError} `invalid` for what has no uid, and as `view`.
   */
  childrenOf(owner: string | ObjectLike | null, spec?: ViewSpec<T, Access>): View<T, Access>;
  /**
   * A view of what an object selects: `pods.selectedBy(service).rows`. The same as the option `selectedBy` of `view`.
   *
   * @param selecting a Service, a Deployment or another object with a selector, or a `LabelSelector`; `null` finds nothing
   * @throws {WatchCacheError} `invalid` for what is no selector, and as `view`.
   */
  selectedBy(selecting: ObjectLike | LabelSelector | null, spec?: ViewSpec<T, Access>): View<T, Access>;
  /**
   * A view of the events about an object: `events.eventsOf(pod).rows`. The same as the option `eventsOf` of `view`.
   *
   * @param object the object, or its uid; `null` finds nothing
   * @throws {WatchCacheError} `invalid` for what has no uid, and as `view`.
   */
  eventsOf(object: string | ObjectLike | null, spec?: ViewSpec<T, Access>): View<T, Access>;

  /**
   * Adds an object upstream. Resolves with the object as the server keeps it, once the stream has brought it: `peek` then shows it. Should
   * the stream not come that far within three seconds, it resolves all the same, because the write has happened.
   *
   * @param object with `metadata.name` or `metadata.generateName`, and with `metadata.namespace` where the resource spans namespaces.
   * @throws {WatchCacheError} what the server says, such as `conflict` for a name that is taken, `invalid` with its causes in
   *   `status.details`, `forbidden`. `network` and `timeout` when no answer came: whether it was created is not known then, and it is not
   *   tried again. After 429 it is, as long as the server asks for, up to ten times within a minute.
   * @throws {DOMException} as `synced`. The write may have happened.
   */
  create(object: T | DeepReadonly<T>, options?: WriteOptions): Promise<Read<T, Access>>;
  /**
   * Adds what belongs to an object: an `eviction` to a pod, a `token` to a service account. `metadata` names that object. Resolves with the server's
   * answer, which may be a `Status`, once the stream has brought what became of the object.
   */
  create<Part extends ObjectLike = KubeObject>(object: ObjectLike, options: WriteOptions & Subresource): Promise<Read<Part, Access>>;
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
   * @param change returns the whole object, or undefined to leave it alone. A copy that was changed and not returned is an error, and so is a promise.
   * @throws {WatchCacheError} as `create`; `not-found`; `conflict` when somebody else was quicker each time for a minute.
   * @throws {DOMException} as `synced`. The write may have happened.
   */
  update(
    key: string,
    change: (current: T) => T | DeepReadonly<T> | undefined,
    options?: WriteOptions & StatusSubresource,
  ): Promise<Read<T, Access>>;
  /**
   * Changes a part of an object, such as its `scale`. `change` is called with the newest of it, which is read first, and not with the object.
   * Resolves with the part as the server keeps it, once the stream has brought the object.
   */
  update<Part extends ObjectLike = KubeObject>(
    key: string,
    change: (current: Part) => Part | DeepReadonly<Part> | undefined,
    options: WriteOptions & Subresource,
  ): Promise<Read<Part, Access>>;
  /**
   * Has the server change an object, whichever version of it is the newest there. Resolves as `create` does. Nothing is read for it. What must hold
   * of the object the patch says itself: by its `metadata.resourceVersion`, or by an operation `test`.
   *
   * @param key `"namespace/name"`, or `"name"` where there are no namespaces.
   * @param patch operations for the type `"json"`, else an object: see `PatchOptions`.
   * @throws {WatchCacheError} as `create`. `not-found`, but an `"apply"` adds the object. `conflict` where `resourceVersion` is another one. The same
   *   where an apply wants fields of another manager: `status.details` names them. `invalid` for a patch of another form than its type has.
   * @throws {DOMException} as `synced`. The write may have happened.
   */
  patch(key: string, patch: readonly JsonPatchOperation[], options: PatchOptions<"json"> & StatusSubresource): Promise<Read<T, Access>>;
  /** The same by the members that are to be otherwise. */
  patch(key: string, patch: MergePatch<T>, options: PatchOptions<"merge"> & StatusSubresource): Promise<Read<T, Access>>;
  /** The same by Kubernetes' own patches, which may hold directives, and by what is applied. */
  patch(key: string, patch: object, options: PatchOptions<"strategic" | "apply"> & StatusSubresource): Promise<Read<T, Access>>;
  /** The same for a part of an object, such as its `scale`: resolves with that part. */
  patch<Part extends ObjectLike = KubeObject>(key: string, patch: object, options: PatchOptions & Subresource): Promise<Read<Part, Access>>;
  /**
   * Deletes an object upstream. Resolves once the stream has told of it, within three seconds as for `create`. `peek` no longer shows it
   * then, or shows it with a `deletionTimestamp` where it ends gracefully or waits for finalizers.
   *
   * @param key `"namespace/name"`, or `"name"` where there are no namespaces.
   * @throws {WatchCacheError} as `create`; `not-found`; `conflict` when a precondition does not hold.
   * @throws {DOMException} as `synced`. The deletion may have happened.
   */
  delete(key: string, options?: DeleteOptions): Promise<void>;
  /**
   * Deletes all objects of the resource that these options choose, in one request. Without options that is all of them. Resolves as `delete` does.
   *
   * @throws {WatchCacheError} as `create`. `invalid`, with 405 in `status`, where it would take several namespaces: name one.
   * @throws {DOMException} as `synced`. The deletion may have happened.
   */
  deleteCollection(options?: DeleteCollectionOptions): Promise<void>;

  /**
   * Lists the upstream anew; resolves when the differences are applied. A list that is older than what is held is not applied, because it may
   * come from a replica that is behind. `reset` says that the server itself was reset, such as from a backup: then it is applied.
   */
  refresh(options?: { reset?: boolean | undefined }): Promise<void>;
  /**
   * Has these namespaces from now on, and no others: for a resource that was made with `namespaces`. Rows of those that stay are not touched. What is
   * new appears when it is listed, and what is taken away goes at once, as `ADDED` and `DELETED` events. All who hold this resource see it.
   *
   * @throws {WatchCacheError} `invalid` for what is no namespace, and where it was made without `namespaces`.
   */
  setNamespaces(namespaces: readonly string[]): void;
  /**
   * Closes the upstream stream and keeps what is held, which is stale from then on. While nothing is held, `list`, `get` and `synced` reject with
   * `unavailable`, also those that wait already; watches, views, informers and `refresh` wait for `resume()`.
   */
  pause(): void;
  /**
   * Opens the stream again, from where it was. While it waits for its next try to connect: tries at once. Waits end so three times a
   * minute, whoever asks. What is asked more often is done when there is room again, or when the wait is over. Brings back what
   * `out-of-memory` has stopped, the resource and its views, as far as there is room now.
   */
  resume(): void;
  /** Ends the watchers with reason `closed` and lets go of what is held. `WatchCache.resource` then gives a new one. */
  close(): void;

  /** Calls the listener for each event of this name. */
  addEventListener<K extends keyof ResourceEventMap>(
    type: K,
    listener: (this: Resource<T, Access, Index>, event: ResourceEventMap[K]) => void,
    options?: Parameters<HostEventTarget["addEventListener"]>[2],
  ): void;
  /** As any `EventTarget`. */
  addEventListener(...listening: Parameters<HostEventTarget["addEventListener"]>): void;
  /** Calls it no more. */
  removeEventListener<K extends keyof ResourceEventMap>(
    type: K,
    listener: (this: Resource<T, Access, Index>, event: ResourceEventMap[K]) => void,
    options?: Parameters<HostEventTarget["removeEventListener"]>[2],
  ): void;
  /** As any `EventTarget`. */
  removeEventListener(...listening: Parameters<HostEventTarget["removeEventListener"]>): void;
}

/** Counters of one resource. */
export interface ResourceStats {
  /** The resource's name, such as `pods`. */
  readonly name: string;
  /** Where its stream stands. */
  readonly phase: ResourceStatus["phase"];
  /** How its last watch came. Absent before the first, and where its source has no such choice. */
  readonly transport?: "websocket" | "fetch";
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
  /** Notifications that wait for those handlers: `informer_queued_items` in the metrics. */
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
  /** How many of them were made of another version that was still decoded: only what differs was parsed, and the rest is shared. */
  readonly renewed: number;
}
