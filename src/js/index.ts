import { openCache } from "./cache.js";
import { instantiate, instantiateSync, loaded, onPanic, type WasmSource } from "./init.js";
import type { WatchCache, WatchCacheOptions } from "./types.js";
import { address } from "./wasm/address.js";

export * from "./exports.js";

/**
 * Compiles the WebAssembly, once. The first use of a resource calls it; call it yourself to choose when, or where the bytes come from.
 *
 * @param module Default: the `watchcache_bg.wasm` that is part of the package.
 * @throws {WatchCacheError} `network` when the bytes cannot be had, `decode` when they are no WebAssembly module or may not be compiled.
 */
export function init(module?: WasmSource): Promise<void> {
  return instantiate(() => module ?? address());
}

/**
 * Compiles the WebAssembly at once, for tests and for hosts that have the bytes at hand. Browsers refuse this for large modules on the
 * main thread: prefer `init` there.
 *
 * @throws {WatchCacheError} `decode`.
 */
export function initSync(module: BufferSource | WebAssembly.Module): void {
  instantiateSync(module);
}

/**
 * A cache. Synchronous, and opens nothing before a resource is used.
 *
 * @throws {WatchCacheError} `invalid` for an option that cannot be meant.
 */
export function createWatchCache(options: WatchCacheOptions = {}): WatchCache {
  return openCache(options, { loaded, load: () => init(), onPanic });
}
