// The built package over a Source object, in tests that use it as its users do.
import { afterEach } from "node:test";

import { createWatchCache } from "watchcache";

const caches = [];
afterEach(() => Promise.all(caches.splice(0).map((cache) => cache.close())));

/** A cache that is closed when its test is over, and its one resource. `reported` collects the errors that it logged. */
export function open(upstream, options = {}) {
  const reported = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (...words) => reported.push(words.at(-1)) };
  const cache = createWatchCache({ flush: "microtask", logger, retry: { initialMs: 1, capMs: 5 }, ...options });
  caches.push(cache);
  return { cache, resource: cache.resource({ source: upstream, id: "pods" }), reported };
}

/** Waits until it holds, without a limit of its own: the runner has one. */
export async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}
