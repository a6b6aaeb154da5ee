import { openCache } from "./cache/cache.js";
import { serveHere } from "./hub/here.js";
import { startThread } from "./link/thread.js";
import { instantiate, instantiateSync, runtimeOf } from "./load/instance.js";
import { entry } from "./node-entry.js";
import type { WasmBytes, WasmSource, WatchCache, WatchCacheOptions } from "./types.js";

export * from "./exports.js";

/** As in index.ts; the default, and any other `file:` URL, is read from disk. */
export function init(module?: WasmSource): Promise<void> {
  return instantiate(module, entry);
}

/** As in index.ts. */
export function initSync(module: WasmBytes): void {
  instantiateSync(module);
}

/** As in index.ts, with the transport `"fetch"` where neither `transport` nor `WebSocket` is given and `watchList` is not asked for. */
export function createWatchCache<Index extends string = never>(options: WatchCacheOptions<Index> = {}): WatchCache<Index | "namespace"> {
  return openCache(options, runtimeOf(entry), { start: startThread, here: serveHere });
}
