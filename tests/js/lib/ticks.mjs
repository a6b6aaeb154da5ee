// Runs in a worker: a cache with one watch. Its timers of more than a second are noted, and fire at once.
import { parentPort } from "node:worker_threads";

import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";

const waits = [];
const { setTimeout: wait } = globalThis;
globalThis.setTimeout = (call, ms, ...rest) => {
  const isTick = ms >= 1000 && ms < 1250;
  if (isTick && waits.push(ms) === 8) parentPort.postMessage(waits);
  return wait(call, isTick ? 0 : ms, ...rest);
};

const source = memorySource();
const cache = createWatchCache();
// Bookmarks are looked after as long as somebody wants them.
void cache
  .resource({ source, id: "pods" })
  .watch({ allowWatchBookmarks: true })
  .forEach(() => {});
