// A list of whole objects, of rows as a table, or of metadata alone, page by page, until all of it answers reads.
import { createWatchCache } from "watchcache";
import { PARTS } from "../lib/parts.js";
import { Checksum, settle, timed } from "./measure.js";
import { keyOf } from "./peers/object.js";
import { idle } from "./upstream.js";

const PODS = "/api/v1/pods";
const PAGE = 500;

/** What is loaded stays reachable here, so that the heap can be measured. */
globalThis.heldPart = undefined;

const loaders = {
  async watchcache(part) {
    const cache = createWatchCache({ pageSize: PAGE, linger: 3_600_000, idleTimeout: 3_600_000, transport: "fetch" });
    const resource = cache.resource({ version: "v1", resource: "pods", ...(part === "Object" ? {} : { as: part }) });
    globalThis.heldPart = { cache, keys: async () => (await resource.list({ resourceVersion: "0" })).items.map(keyOf) };
    await resource.synced();
  },

  async "fetch into a Map"(part) {
    const held = new Map();
    globalThis.heldPart = { keys: () => [...held.keys()] };
    for (let next = ""; next !== undefined;) {
      const query = `limit=${PAGE}${next && `&continue=${encodeURIComponent(next)}`}`;
      const list = await (await fetch(`${PODS}?${query}`, { headers: { accept: PARTS[part] }, cache: "no-store" })).json();
      for (const item of list.rows ?? list.items) held.set(keyOf(part === "Table" ? item.object : item), item);
      next = list.metadata.continue || undefined;
    }
  },
};

/**
 * Loads once; call it on a fresh page.
 * @param {{ harness: keyof typeof loaders, part: keyof typeof PARTS }} options
 */
export async function loadPart({ harness, part }) {
  await settle();
  return timed(() => loaders[harness](part));
}

/** Lets a cache pack what it has loaded; a Map has nothing to do. */
export async function restPart() {
  const { cache } = globalThis.heldPart;
  if (cache) await idle(cache);
}

/** Bytes of WebAssembly memory, and which objects were loaded, for after the heap was measured. */
export async function loadedPart() {
  const { cache, keys } = globalThis.heldPart;
  const all = (await keys()).sort();
  const checksum = new Checksum();
  for (const key of all) checksum.add(key);
  return { memoryBytes: cache?.stats().memoryBytes ?? 0, checksum: `${all.length} objects ${checksum}` };
}
