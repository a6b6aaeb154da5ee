import { openCache } from "./cache/cache.js";
import { serveHere } from "./hub/here.js";
import { startWorker } from "./link/script.js";
import { instantiate, instantiateSync, runtimeOf } from "./load/instance.js";
import type { WasmBytes, WasmSource, WatchCache, WatchCacheOptions } from "./types.js";
import { address } from "./wasm/address.js";

export * from "./exports.js";

const entry = { bundled: address };

/**
 * Loads the WebAssembly, once. The first use of a resource does so by itself; call this to choose when, or where the bytes come from. An
 * address that is given here is where resources look from then on.
 *
 * This is one try, which rejects when it fails, or the one that is under way. After a failure it takes part in the next, which it hastens,
 * up to three times a minute.
 * Resources do not need this one to succeed: they try again and again while they are used. What waits for them goes on when any try
 * succeeds.
 *
 * @param module Default: the `watchcache_bg.wasm` that is part of the package.
 * @throws {WatchCacheError} `network` when the bytes cannot be had. `decode` when they are not this package's WebAssembly or may not be
 *   compiled. `invalid` for what is no source or no URL, and when there is another build's already. All copies of a build are the same: the first that is there is used.
 */
export function init(module?: WasmSource): Promise<void> {
  return instantiate(module, entry);
}

/**
 * Compiles the WebAssembly at once, for tests and for hosts that have the bytes at hand. Browsers refuse this for large modules on the
 * main thread: prefer `init` there.
 *
 * @throws {WatchCacheError} `decode`, and `invalid` for what is neither bytes nor a module, and when there is another build's already.
 */
export function initSync(module: WasmBytes): void {
  instantiateSync(module);
}

/**
 * A cache. Synchronous, and opens nothing before a resource is used.
 *
 * @throws {WatchCacheError} `invalid` for an option of a wrong type or name, and for a path that cannot be read. Before the WebAssembly is
 *   there nobody can read paths: then each resource fails of it once, when it is used.
 */
export function createWatchCache<Index extends string = never>(options: WatchCacheOptions<Index> = {}): WatchCache<Index | "namespace"> {
  return openCache(options, runtimeOf(entry), { start: startWorker, here: serveHere });
}
