import type { WatchCache, WatchCacheOptions } from "../types.js";
import { ListWatch } from "./list-watch.js";
import type { Informer, KubernetesObject, ListPromise, ObjectCache } from "./types.js";
import type { WatchOver } from "./watch.js";

/**
 * An informer of a collection, which `start()` starts.
 *
 * @param config the cache, or options for one, in the place of a `KubeConfig`
 * @param path such as `/api/v1/namespaces/default/pods`
 * @param listFn not needed, and never called
 * @throws {WatchCacheError} `invalid` for a path that names no collection, or options that cannot be meant.
 */
export type MakeInformer = <T extends KubernetesObject>(
  config: WatchCache | WatchCacheOptions,
  path: string,
  listFn?: ListPromise<T>,
  labelSelector?: string,
  fieldSelector?: string,
) => Informer<T> & ObjectCache<T>;

/** `makeInformer` of an entry, whose `Watch` knows what a config is. */
export function informersOf(Watch: new (config: WatchCache | WatchCacheOptions) => WatchOver): MakeInformer {
  return (config, path, listFn, labelSelector, fieldSelector) =>
    new ListWatch(path, new Watch(config), listFn, false, labelSelector, fieldSelector);
}
