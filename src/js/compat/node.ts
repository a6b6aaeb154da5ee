// The same exports as client-node.ts, on the cache that reads its WebAssembly from disk; see there.
import { createWatchCache } from "../node.js";
import type { WatchCache, WatchCacheOptions } from "../types.js";
import { cacheOf } from "./config.js";
import { ListWatch } from "./list-watch.js";
import type { Informer, KubernetesObject, ListPromise, ObjectCache } from "./types.js";
import { WatchOver } from "./watch.js";

export { RequestError } from "./errors.js";
export { ListWatch } from "./list-watch.js";
export * from "./types.js";
export type { WatchCallback, WatchParameters } from "./watch.js";

/** Watches by path, on a cache or the options of one. */
export class Watch extends WatchOver {
  constructor(config: WatchCache | WatchCacheOptions) {
    super(cacheOf(config, createWatchCache));
  }
}

/**
 * An informer of a collection, which `start()` starts.
 *
 * @param config the cache, or options for one, in the place of a `KubeConfig`
 * @param path such as `/api/v1/namespaces/default/pods`
 * @param listFn not needed, and never called
 * @throws {WatchCacheError} `invalid` for a path that names no collection, or options that cannot be meant.
 */
export function makeInformer<T extends KubernetesObject>(
  config: WatchCache | WatchCacheOptions,
  path: string,
  listFn?: ListPromise<T>,
  labelSelector?: string,
  fieldSelector?: string,
): Informer<T> & ObjectCache<T> {
  return new ListWatch<T>(path, new Watch(config), listFn, false, labelSelector, fieldSelector);
}
