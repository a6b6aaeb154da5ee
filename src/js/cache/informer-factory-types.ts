import type { Informer, WaitOptions, WatchInterruption } from "../informer/types.js";
import type { KindSpec } from "../kubernetes/types.js";
import type { KubeObject, ObjectLike } from "../object/metadata.js";
import type { Immutable, Mutable } from "../object/readonly.js";
import type { SourceSpec } from "../upstream/source.js";
import type { ResourceSpec, ResourceTypes } from "../upstream/types.js";

/** Options of `createInformerFactory`: those of its informers. */
export interface InformerFactoryOptions {
  /** As in `InformerOptions`. */
  resyncPeriod?: number | undefined;
  /** As in `InformerOptions`, for the objects of all resources. */
  transform?: ((object: any) => any) | undefined;
  /** Narrows every informer that is named by text. */
  namespace?: string | undefined;
  /** Narrows them to objects with such labels. */
  labelSelector?: string | undefined;
  /** Narrows them to objects with such fields, of those that the server offers. */
  fieldSelector?: string | undefined;
  /** As in `InformerOptions`; also told which resource it is about. */
  onWatchError?: ((interruption: WatchInterruption, resource: string) => void) | undefined;
}

/** Informers by resource, one for each, started and waited for together. */
export interface InformerFactory {
  /** The informer of a resource: the same for equal specs. It starts with `start()`. @throws {WatchCacheError} as `WatchCache.resource`; `closed` after `shutdown()`. */
  forResource<Name extends keyof ResourceTypes, Access extends Immutable | Mutable = Immutable>(
    spec: Name,
  ): Informer<ResourceTypes[Name], Access>;
  /** The informer of a resource: the same for equal specs. It starts with `start()`. @throws {WatchCacheError} as `WatchCache.resource`; `closed` after `shutdown()`. */
  forResource<T extends ObjectLike = KubeObject, Access extends Immutable | Mutable = Immutable>(
    spec: string | ResourceSpec | KindSpec | SourceSpec,
  ): Informer<T, Access>;
  /** Starts those informers that have not started. Does nothing after `shutdown()`. */
  start(): void;
  /**
   * Waits for those informers that have started.
   *
   * @throws as `waitForSync`.
   * @returns their names, in the order in which they were done
   */
  waitForCacheSync(options?: WaitOptions): Promise<readonly string[]>;
  /** Stops all of them. Resolves when the calls under way have ended. */
  shutdown(): Promise<void>;
}
