// A large list, page by page, until all of it answers reads.
import { createWatchCache } from "/dist/index.js";
import { Checksum, settle, timed } from "./measure.js";

const PODS = "/api/v1/pods";
const PAGE = 500;

/** What is loaded stays reachable here, so that the heap can be measured. */
globalThis.held = undefined;

const loaders = {
  async watchcache() {
    const cache = createWatchCache({ pageSize: PAGE, linger: 3_600_000 });
    const resource = cache.resource("pods");
    globalThis.held = { cache, resource };
    await resource.synced();
  },

  async "fetch into a Map"() {
    const objects = new Map();
    globalThis.held = { objects };
    let next = "";
    do {
      const response = await fetch(`${PODS}?limit=${PAGE}&pretty=false${next && `&continue=${encodeURIComponent(next)}`}`, {
        cache: "no-store",
      });
      const page = await response.json();
      for (const object of page.items) objects.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
      next = page.metadata.continue ?? "";
    } while (next !== "");
  },
};

/**
 * Loads once; call it on a fresh page.
 * @param {{ harness: keyof typeof loaders }} options
 */
export async function load({ harness }) {
  await settle();
  performance.mark("load begins");
  const time = await timed(loaders[harness]);
  performance.mark("load ends");
  return time;
}

/** Bytes of WebAssembly memory, and what was loaded, for after the heap was measured. */
export async function loaded() {
  const { cache, resource, objects } = globalThis.held;
  const memoryBytes = cache?.stats().memoryBytes ?? 0;
  const get = objects ? (key) => objects.get(key) : (key) => resource.peek(key);
  const keys = objects ? [...objects.keys()] : (await resource.list({ resourceVersion: "0" })).items.map(keyOf);
  const checksum = new Checksum();
  for (const key of keys.sort()) {
    const { managedFields, ...metadata } = get(key).metadata;
    checksum.add(JSON.stringify({ ...get(key), metadata }));
  }
  return { memoryBytes, stats: cache?.stats().resources[0], checksum: `${keys.length} objects ${checksum}` };
}

function keyOf({ metadata }) {
  return `${metadata.namespace}/${metadata.name}`;
}
