// A large list, page by page, until all of it answers reads.
import { ListWatch } from "@kubernetes/client-node/dist/cache.js";
import { fromJS, Map as ImmutableMap } from "immutable";
import { observable } from "mobx";
import { createWatchCache } from "watchcache";
import { Checksum, settle, timed } from "./measure.js";
import { canonical } from "./path.js";
import { keyOf } from "./peers/object.js";
import { plain, podCollection } from "./peers/tanstack-db.js";
import { idle } from "./upstream.js";

const PODS = "/api/v1/pods";
const PAGE = 500;

/** What is loaded stays reachable here, so that the heap can be measured. */
globalThis.held = undefined;

function page(next) {
  return fetch(`${PODS}?limit=${PAGE}${next && `&continue=${encodeURIComponent(next)}`}`, { cache: "no-store" });
}

/** The list's pages, one after another. */
async function* pages() {
  let next = "";
  do {
    const { items, metadata } = await (await page(next)).json();
    yield items;
    next = metadata.continue ?? "";
  } while (next !== "");
}

async function intoMap(prepare = (object) => object) {
  const objects = new Map();
  globalThis.held = { objects };
  for await (const items of pages()) for (const object of items) objects.set(keyOf(object), prepare(object));
}

/** How many objects the checksum looks at whole, at most. */
const LOOKED_AT = 500;

const loaders = {
  async watchcache() {
    const cache = createWatchCache({ pageSize: PAGE, linger: 3_600_000, idleTimeout: 3_600_000 });
    const resource = cache.resource("pods");
    globalThis.held = { cache, resource };
    await resource.synced();
  },

  "fetch into a Map": () => intoMap(),

  /** What nobody can do without: Chromium brings the bytes to the page, one page of the list after the other. */
  async "read and dropped"({ pods }) {
    for (let from = 0; from < pods; from += PAGE) {
      const reader = (await page(String(from))).body.getReader();
      while (!(await reader.read()).done);
    }
  },

  /** What a page does that minds its memory; the Kubernetes dashboards that strip, strip this. */
  "fetch into a Map, stripped": () =>
    intoMap((object) => {
      delete object.metadata.managedFields;
      return object;
    }),

  async "client-node informer"() {
    const list = async () => {
      const all = [];
      for await (const items of pages()) all.push(...items);
      return { metadata: { resourceVersion: "1000" }, items: all };
    };
    const informer = new ListWatch(PODS, { watch: async () => ({ abort() {} }) }, list, false);
    await informer.start();
    globalThis.held = { informer, keys: () => informer.list().map(keyOf), get: (key) => informer.get(...key.split("/").reverse()) };
  },

  async MobX() {
    const objects = observable.map([], { deep: false });
    globalThis.held = { objects };
    for await (const items of pages()) objects.merge(items.map((object) => [keyOf(object), object]));
  },

  async "TanStack DB"() {
    const { collection, sync } = await podCollection([]);
    globalThis.held = { collection, keys: () => [...collection.keys()], get: (key) => plain(collection.get(key)) };
    for await (const items of pages()) {
      sync.begin();
      for (const value of items) sync.write({ type: "insert", value });
      sync.commit();
    }
  },

  async "Immutable.js"() {
    const held = { objects: ImmutableMap(), keys: () => [...held.objects.keys()], get: (key) => held.objects.get(key).toJS() };
    globalThis.held = held;
    for await (const items of pages()) {
      held.objects = held.objects.withMutations((next) => items.forEach((object) => next.set(keyOf(object), fromJS(object))));
    }
  },
};

/**
 * Loads once; call it on a fresh page.
 * @param {{ harness: keyof typeof loaders, pods: number }} options `pods`: how many the server has
 */
export async function load({ harness, ...options }) {
  await settle();
  performance.mark("load begins");
  const time = await timed(() => loaders[harness](options));
  performance.mark("load ends");
  return time;
}

/** Lets a cache pack what it has loaded; the others have nothing to do. */
export async function rest() {
  const { cache } = globalThis.held;
  if (cache) await idle(cache);
}

/** Bytes of WebAssembly memory, and what was loaded, for after the heap was measured. */
export async function loaded() {
  const { cache, resource, objects, keys, get } = globalThis.held;
  const memoryBytes = cache?.stats().memoryBytes ?? 0;
  const stats = cache?.stats().resources[0];
  const all = resource ? (await resource.list({ resourceVersion: "0" })).items.map(keyOf) : keys ? keys() : [...objects.keys()];
  const read = resource ? (key) => resource.peek(key) : (get ?? ((key) => objects.get(key)));
  const checksum = new Checksum();
  all.sort();
  for (const key of all) checksum.add(key);
  const step = Math.max(1, Math.floor(all.length / LOOKED_AT));
  for (let i = 0; i < all.length; i += step) checksum.add(canonical(read(all[i])));
  return { memoryBytes, stats, checksum: `${all.length} objects ${checksum}` };
}
