// The page of devtools.test.mjs: two caches, and a panel.
import { createWatchCache } from "/dist/index.js";
import { defineDevtools } from "/dist/devtools/index.js";
import { memorySource } from "/dist/memory/index.js";

const open = (id, count) => {
  const source = memorySource({ objects: Array.from({ length: count }, (_, i) => ({ metadata: { name: `${id}-${i}` } })) });
  const cache = createWatchCache({ linger: 50, retry: { initialMs: 5, jitter: 0 } });
  const resource = cache.resource({ source, id });
  return { source, cache, resource };
};

const hostile = `<img src=x onerror="globalThis.hacked=true">`;
const one = open(hostile, 3);
const two = open("two", 5);
const stop = one.resource.view().subscribe(() => {});
two.resource.view().subscribe(() => {});
await Promise.all([one.resource.synced(), two.resource.synced()]);

const early = document.body.appendChild(document.createElement("watchcache-devtools"));
early.cache = one.cache;
defineDevtools();
defineDevtools();

/** Calls of `stats`, which cost something. */
let reads = 0;
const { stats } = one.cache;
Object.defineProperty(one.cache, "stats", {
  value: () => {
    reads++;
    return stats();
  },
});

Object.assign(globalThis, { one, two, panel: early, hostile, stop, reads: () => reads });
globalThis.ready = true;
