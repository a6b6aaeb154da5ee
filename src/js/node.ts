import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";

import { openCache } from "./cache/cache.js";
import type { Entry } from "./load/compile.js";
import { instantiate, instantiateSync, runtimeOf } from "./load/instance.js";
import type { WasmBytes, WasmSource, WatchCache, WatchCacheOptions } from "./types.js";
import { address } from "./wasm/address.js";

export * from "./exports.js";

const entry: Entry = {
  bundled: address,
  /** Node's fetch reads no files. */
  read: (file) => readFile(file),
  host: {
    // Node's own WebSocket says no Origin, which API servers want, and Node 20 has none.
    transport: "fetch",
    unlimited: (target) => {
      try {
        setMaxListeners(0, target);
      } catch {
        // An `EventTarget` of another make stands for Node's, as under jsdom: it never warns.
      }
    },
  },
};

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
  return openCache(options, runtimeOf(entry));
}
