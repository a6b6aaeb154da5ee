import type { WatchCache, WatchCacheOptions } from "../types.js";
import { invalid } from "./path.js";

/** Caches that were made of options: one for each object, so that whoever uses the same one shares its streams. */
const made = new WeakMap<WatchCacheOptions, WatchCache>();

/** The cache that stands in the place of a `KubeConfig`. */
export function cacheOf(given: WatchCache | WatchCacheOptions, create: (options: WatchCacheOptions) => WatchCache): WatchCache {
  if (typeof given !== "object" || given === null)
    throw invalid(`instead of a KubeConfig give a WatchCache, or options for one, not ${String(given)}`);
  if (isCache(given)) return given;
  if ("getCurrentCluster" in given) {
    throw invalid("a KubeConfig says nothing here: give createWatchCache({ server, auth, … }), or its options");
  }
  let cache = made.get(given);
  if (cache === undefined) made.set(given, (cache = create(given)));
  return cache;
}

function isCache(given: WatchCache | WatchCacheOptions): given is WatchCache {
  return typeof (given as WatchCache).resource === "function";
}
