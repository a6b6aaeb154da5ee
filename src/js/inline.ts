import { openCache } from "./cache/cache.js";
import { serveHere } from "./hub/here.js";
import { instantiate, instantiateSync, runtimeOf } from "./load/instance.js";
import type { WasmBytes, WasmSource, WatchCache, WatchCacheOptions } from "./types.js";
import base64 from "./wasm/text.js";

export * from "./exports.js";

// As index.ts, with the WebAssembly inside the JavaScript. Nothing in here knows an address. So scripts without one load it like any other:
// a blob worker, a file that was opened from disk, a test runner's CommonJS.

function bytes(): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const result = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) result[i] = text.charCodeAt(i);
  return result;
}

const entry = { bundled: bytes };

/** As in index.ts; the default are the bytes that this entry carries. */
export function init(module?: WasmSource): Promise<void> {
  return instantiate(module, entry);
}

/** As in index.ts; the default are the bytes that this entry carries. */
export function initSync(module: WasmBytes = bytes()): void {
  instantiateSync(module);
}

/** As in index.ts. */
export function createWatchCache<Index extends string = never>(options: WatchCacheOptions<Index> = {}): WatchCache<Index | "namespace"> {
  return openCache(options, runtimeOf(entry), { here: serveHere });
}
