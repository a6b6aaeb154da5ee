import type { WatchCacheError } from "../error/errors.js";
import type { DetailEvent, HostAsyncDisposable, HostEventTarget } from "../host/types.js";
import type { AccessAnswer, AccessQuestion, DiscoverOptions, Discovery, KindSpec } from "../kubernetes/types.js";
import type { KubeObject, ObjectLike, PartialObjectMetadata, TableRow } from "../object/metadata.js";
import type { Immutable, Mutable } from "../object/readonly.js";
import type { Resource, ResourceStats } from "../resource/types.js";
import type { PolledSourceSpec, SourceSpec } from "../upstream/source.js";
import type { ResourceSpec, ResourceTypes } from "../upstream/types.js";

/** The events of a cache, and what they carry. */
export interface WatchCacheEventMap {
  /** The WebAssembly instance failed for good; `detail` says why. Every resource of it has failed with it. */
  error: DetailEvent<WatchCacheError>;
}

/**
 * One cache: one server, one set of options, any number of resources.
 *
 * `Index` are the names of its indexes, where they are known: `createWatchCache` reads them off its options.
 */
export interface WatchCache<Index extends string = string> extends HostEventTarget, HostAsyncDisposable {
  /**
   * The resource, shared by all who name it equally. Opens nothing until it is used.
   *
   * @param spec `"pods"`, `"v1/pods"`, `"apps/v1/deployments"`: as they are named in `ResourceTypes`, which says what type they have.
   * @throws {WatchCacheError} `invalid` for a spec that names nothing, `closed` after `close()`.
   */
  resource<Name extends keyof ResourceTypes, Access extends Immutable | Mutable = Immutable>(
    spec: Name,
  ): Resource<ResourceTypes[Name], Access, Index>;
  /**
   * The resource of a source, whose objects have the type that the source says. Opens nothing until it is used.
   *
   * @throws {WatchCacheError} `invalid` for what is no source, and for the object of one behind a worker; `closed` after `close()`.
   */
  resource<T extends ObjectLike = KubeObject, Access extends Immutable | Mutable = Immutable>(
    spec: SourceSpec<T> | PolledSourceSpec<T>,
  ): Resource<T, Access, Index>;
  /**
   * The rows of a resource as the server makes them, or the metadata of its objects. Opens nothing until it is used.
   *
   * @throws {WatchCacheError} `invalid` for a spec that names nothing, `closed` after `close()`.
   */
  resource<As extends "PartialObjectMetadata" | "Table", Access extends Immutable | Mutable = Immutable>(
    spec: (ResourceSpec | KindSpec) & { as: As },
  ): Resource<As extends "Table" ? TableRow : PartialObjectMetadata, Access, Index>;
  /**
   * The resource, shared by all who name it equally. Opens nothing until it is used.
   *
   * Its objects have the type that you give, `resource<Pod>("pods")`, and are deeply readonly; `resource<Pod, Mutable>("pods")` gives them
   * as they are.
   *
   * Once `discover()` has resolved, any name of kubectl's does, such as `"deploy"`, and so does a kind: `{ kind: "Deployment" }`. Names that the core group
   * has mean the same before and after.
   *
   * @param spec `"pods"`, `"v1/pods"`, `"apps/v1/deployments"`, a `ResourceSpec`, a `KindSpec`, or a `SourceSpec`.
   * @throws {WatchCacheError} `invalid` for a spec that names nothing, and for a kind or a name that needs `discover()` first. The same for one that stands
   *   in several groups: the message names them. `not-found` for what the server does not have, `unavailable` where it could not tell; `closed`
   *   after `close()`.
   */
  resource<T extends ObjectLike = KubeObject, Access extends Immutable | Mutable = Immutable>(
    spec: string | ResourceSpec | KindSpec | SourceSpec | PolledSourceSpec,
  ): Resource<T, Access, Index>;
  /**
   * Asks the server what it has: groups, versions, kinds, scopes, verbs and short names. From then on `resource` knows them. Later calls give what is
   * known; with `refresh` the server is asked again, for a custom resource that is new. A few requests of kilobytes, or one for each version of
   * each group where the server knows no aggregated form.
   *
   * @throws {WatchCacheError} `not-found` where a server tells nothing; `unauthorized`, `forbidden`, `unavailable`, `too-many-requests` as it says.
   *   `network`, `timeout`, `closed`; `protocol` and `decode` for what is no discovery. What single groups lack is told by `failed`. After a
   *   failure what was known stays.
   * @throws {DOMException} when the signal is aborted, as in `Resource.synced`.
   */
  discover(options?: DiscoverOptions): Promise<Discovery>;
  /**
   * Asks the server whether it would let a request through (`SelfSubjectAccessReview`), as for a button that is shown or not. An answer is given again for
   * ten seconds, unless `auth` gives other credentials.
   *
   * @throws {WatchCacheError} `invalid` for a question that cannot be meant, and for a resource as in `resource`; `not-found` where the server
   *   answers none; else as `discover`. A refusal rejects nothing: `allowed` is false.
   * @throws {DOMException} when the signal is aborted, as in `Resource.synced`.
   */
  can(question: AccessQuestion): Promise<AccessAnswer>;
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
  /** Calls the listener for each event of this name. */
  addEventListener<K extends keyof WatchCacheEventMap>(
    type: K,
    listener: (this: WatchCache, event: WatchCacheEventMap[K]) => void,
    options?: Parameters<HostEventTarget["addEventListener"]>[2],
  ): void;
  /** As any `EventTarget`. */
  addEventListener(...listening: Parameters<HostEventTarget["addEventListener"]>): void;
  /** Calls it no more. */
  removeEventListener<K extends keyof WatchCacheEventMap>(
    type: K,
    listener: (this: WatchCache, event: WatchCacheEventMap[K]) => void,
    options?: Parameters<HostEventTarget["removeEventListener"]>[2],
  ): void;
  /** As any `EventTarget`. */
  removeEventListener(...listening: Parameters<HostEventTarget["removeEventListener"]>): void;
}

/** Counters of a cache. */
export interface CacheStats {
  /** The package's version, once the WebAssembly is there. */
  readonly version?: string;
  /** Where the streams are held: as was asked by the option, or `"inline"` where there is no worker. Undefined while that is being found out. */
  readonly mode?: "inline" | "worker" | "shared";
  /** Bytes of WebAssembly memory, shared by all caches of the page; 0 before it is there. */
  readonly memoryBytes: number;
  /** One entry for each resource that is open. */
  readonly resources: readonly ResourceStats[];
  /** Of the worker that holds the streams, as it last said. Absent where there is none, and until it can be asked. */
  readonly worker?: WorkerStats;
}

/** Counters of the worker that holds the streams of a cache. It says them every five seconds, and when a page comes or goes. */
export interface WorkerStats {
  /** Pages that share it, this one as well. */
  readonly tabs: number;
  /** Bytes of its WebAssembly memory. */
  readonly memoryBytes: number;
  /** Its resources: events and lists are those of the server. */
  readonly resources: readonly ResourceStats[];
  /** Its metrics, as the text of {@link WatchCache.metrics}: that has those of the page alone. */
  readonly metrics: string;
}
