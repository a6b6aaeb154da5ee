// What the tests of collections share: the cores of TanStack DB, and resources over upstreams in memory.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after } from "node:test";
import * as newest from "@tanstack/db";
import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";

/** The newest core, and the older one that the bindings for Vue and Svelte bring. */
export const cores = Object.entries({ newest, older: createRequire(import.meta.resolve("@tanstack/vue-db"))("@tanstack/db") });

const caches = [];
after(() => Promise.all(caches.map((cache) => cache.close())));

export const thing = (name, { namespace = "a", labels = { app: "web" }, ...rest } = {}) => ({
  metadata: { namespace, name, labels },
  ...rest,
});

export function open({ objects = [], options = {}, ...source } = {}) {
  const upstream = memorySource({ objects, ...source });
  const cache = createWatchCache({ flush: "microtask", linger: 50, ...options });
  caches.push(cache);
  return { upstream, cache, resource: cache.resource({ source: upstream, id: "things" }) };
}

export async function until(condition, ms = 3_000) {
  const deadline = performance.now() + ms;
  while (!condition()) {
    assert.ok(performance.now() < deadline, `never: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export const names = (collection) => [...collection.keys()].map((key) => key.split("/")[1]).sort();
export const views = (cache) => cache.stats().resources.reduce((sum, { views }) => sum + views, 0);
