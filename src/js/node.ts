import { readFile } from "node:fs/promises";

import { openCache } from "./cache.js";
import { instantiate, instantiateSync, loaded, onPanic, type WasmSource } from "./init.js";
import type { WatchCache, WatchCacheOptions } from "./types.js";
import { address } from "./wasm/address.js";

export * from "./exports.js";

/** Node's fetch reads no files. */
async function fromDisk(source: WasmSource): Promise<WasmSource> {
  return source instanceof URL && source.protocol === "file:" ? readFile(source) : source;
}

/** As in index.ts; the default, and any other `file:` URL, is read from disk. */
export function init(module?: WasmSource): Promise<void> {
  return instantiate(() => fromDisk(module ?? address()));
}

/** As in index.ts. */
export function initSync(module: BufferSource | WebAssembly.Module): void {
  instantiateSync(module);
}

/** As in index.ts. */
export function createWatchCache(options: WatchCacheOptions = {}): WatchCache {
  return openCache(options, { loaded, load: () => init(), onPanic });
}
