import { openCache } from "./cache.js";
import { instantiate, instantiateSync, loaded, onPanic } from "./init.js";
import type { WasmBytes, WasmSource, WatchCache, WatchCacheOptions } from "./types.js";

export { WatchCacheError } from "./errors.js";
export type { SelectorMistake, WatchCacheErrorCode } from "./errors.js";
export { createInformerFactory } from "./factory.js";
export type * from "./types.js";
export { waitForSync } from "./wait.js";

/** Beside this file; bundlers find it by this very expression. */
function bundled(): URL {
  return new URL("./wasm/watchcache_bg.wasm", import.meta.url);
}

/**
 * Compiles the WebAssembly, once. The first use of a resource calls it; call it yourself to choose when, or where the bytes come from.
 *
 * @param module Default: the `watchcache_bg.wasm` that is part of the package.
 * @throws {WatchCacheError} `network` when the bytes cannot be had, `decode` when they are no WebAssembly module or may not be compiled.
 */
export function init(module?: WasmSource): Promise<void> {
  return instantiate(() => module ?? bundled());
}

/**
 * Compiles the WebAssembly at once, for tests and for hosts that have the bytes at hand. Browsers refuse this for large modules on the
 * main thread: prefer `init` there.
 *
 * @throws {WatchCacheError} `decode`.
 */
export function initSync(module: WasmBytes): void {
  instantiateSync(module);
}

/**
 * A cache. Synchronous, and opens nothing before a resource is used.
 *
 * @throws {WatchCacheError} `invalid` for an option that cannot be meant.
 */
export function createWatchCache<Index extends string = never>(options: WatchCacheOptions<Index> = {}): WatchCache<Index | "namespace"> {
  return openCache(options, { loaded, load: () => init(), onPanic });
}
