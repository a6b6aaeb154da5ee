// The built package over a Source object, in tests that use it as its users do.
import { after, afterEach } from "node:test";

import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";

import { pod } from "./pod.mjs";

const caches = [];
afterEach(() => Promise.all(caches.splice(0).map((cache) => cache.close())));

/** Says nothing. */
export const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Closes a cache when its test is over. */
export function closing(cache) {
  caches.push(cache);
  return cache;
}

/** A cache that is closed when its test is over. */
export function newCache(options = {}) {
  return closing(createWatchCache({ flush: "microtask", logger: silent, ...options }));
}

/** A cache that is closed when its test is over, and its one resource. `reported` collects the errors that it logged. */
export function open(upstream, options = {}) {
  const reported = [];
  const logger = { ...silent, error: (...words) => reported.push(words.at(-1)) };
  const cache = newCache({ logger, retry: { initialMs: 1, capMs: 5 }, ...options });
  return { cache, resource: cache.resource({ source: upstream, id: "pods" }), reported };
}

/** What all tests of a file may refuse calls of, as a refused call changes nothing: a cache over one pod, which takes no writes. */
export async function openShared() {
  const upstream = memorySource({ objects: [pod("a/x")], readOnly: true });
  const cache = createWatchCache({ flush: "microtask", logger: silent, retry: { initialMs: 1 } });
  after(() => cache.close());
  const pods = cache.resource({ source: upstream, id: "pods" });
  await pods.synced();
  const informer = pods.informer();
  await informer.synced;
  return { upstream, cache, pods, informer };
}

/** Waits until it holds, without a limit of its own: the runner has one. */
export async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Has the stream lose its place, so that a list follows. */
export async function relist(upstream, resource, missed = () => {}) {
  const lists = upstream.asked("list").length;
  upstream.drop();
  missed();
  upstream.resourceVersion = String(Number(upstream.resourceVersion) + 1);
  upstream.expire();
  // Behind a worker the list is the worker's, and comes here after it.
  const isHere = () => resource.status.phase === "live" && resource.resourceVersion === upstream.resourceVersion;
  await until(() => upstream.asked("list").length > lists && isHere());
}
