// The same exports as client-node.ts, on the cache that reads its WebAssembly from disk; see there.
import { createWatchCache } from "../node.js";
import type { WatchCache, WatchCacheOptions } from "../types.js";
import { cacheOf } from "./config.js";
import { informersOf, type MakeInformer } from "./make-informer.js";
import { WatchOver } from "./watch.js";

export * from "./entry.js";

/** Watches by path, on a cache or the options of one. */
export class Watch extends WatchOver {
  /** @param config a cache, or options for one: the same object gives the same cache */
  constructor(config: WatchCache | WatchCacheOptions) {
    super(cacheOf(config, createWatchCache));
  }
}

/** An informer of a collection; see `MakeInformer`. */
export const makeInformer: MakeInformer = /* @__PURE__ */ informersOf(Watch);
