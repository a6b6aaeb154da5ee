import { readFile } from "node:fs/promises";

import { openCache } from "./cache.js";
import { instantiate, instantiateSync, runtimeOf } from "./init.js";
import type { WasmBytes, WasmSource, WatchCache, WatchCacheOptions } from "./types.js";

export { WatchCacheError } from "./errors.js";
export type { SelectorMistake, WatchCacheErrorCode } from "./errors.js";
export { createInformerFactory } from "./factory.js";
export type * from "./types.js";
export { waitForSync } from "./wait.js";

// The same exports as index.ts. They are functions of this file, not re-exports with a default set on the side: the package is marked free
// of side effects, so a bundler may leave out what merely runs.

const entry = {
  bundled: () => new URL("./wasm/watchcache_bg.wasm", import.meta.url),
  /** Node's fetch reads no files. */
  read: (file: URL) => readFile(file),
};

/** As in index.ts; the default, and any other `file:` URL, is read from disk. */
export function init(module?: WasmSource): Promise<void> {
  return instantiate(module, entry);
}

/** As in index.ts. */
export function initSync(module: WasmBytes): void {
  instantiateSync(module);
}

/** As in index.ts. */
export function createWatchCache<Index extends string = never>(options: WatchCacheOptions<Index> = {}): WatchCache<Index | "namespace"> {
  return openCache(options, runtimeOf(entry));
}
