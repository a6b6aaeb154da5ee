// What a closed cache leaves behind. A timer that waits holds all that it will ask, as long as it waits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { memorySource } from "watchcache/memory";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const LINGER_MS = 3_600_000;
/** What waits so long is noticed. A worker's half waits for a few seconds, in case that somebody comes back. */
const LONG_MS = 60_000;

/** The timers that wait for long, by who set them. Since when this is imported. */
const waiting = new Map();
for (const [set, clear] of [
  ["setTimeout", "clearTimeout"],
  ["setInterval", "clearInterval"],
]) {
  const [given, ended] = [globalThis[set], globalThis[clear]];
  globalThis[set] = (call, ms, ...rest) => {
    const timer = given(call, ms, ...rest);
    if (ms >= LONG_MS) waiting.set(timer, new Error("set here").stack);
    return timer;
  };
  globalThis[clear] = (timer) => (waiting.delete(timer), ended(timer));
}

/** Each way to use a resource once. The resource closes with it. */
const USES = {
  "a list": ({ resource }) => resource.list(),
  "a read": ({ resource }) => resource.peek("a/x"),
  "a view that was read": ({ resource }) => resource.view().rows,
  "a view that was subscribed to": ({ resource }) => resource.view({ window: { offset: 0, limit: 1 } }).subscribe(() => {})(),
  "a view that is subscribed to": ({ resource }) => void resource.view({ search: { text: "x" } }).subscribe(() => {}),
  "a view that comes late": ({ resource, after }) => after.push(() => resource.view({ search: { text: "y" } }).rows),
  "an informer": ({ resource }) => resource.informer().synced,
  "a watch": async ({ resource }) => {
    for await (const _ of resource.watch({ resourceVersion: "0" })) return;
  },
  "a watch that is read": ({ resource, after }) => {
    const read = resource.watch().forEach(() => {});
    after.push(() => read.catch(() => {}));
  },
};

for (const [name, use] of Object.entries(USES)) {
  test(`law_08_bounded: nothing of a closed cache waits: ${name}`, async () => {
    const before = new Set(waiting.keys());
    const { cache, resource } = open(memorySource({ objects: [pod("a/x"), pod("a/y")] }), { linger: LINGER_MS });
    await resource.synced();
    const after = [];
    await use({ cache, resource, after });
    await until(() => resource.status.phase === "live");
    await cache.close();
    for (const late of after) {
      try {
        await late();
      } catch (error) {
        assert.equal(error.code, "closed");
      }
    }
    // A source hears of it a moment later.
    await sleep(20);
    const left = [...waiting].filter(([timer]) => !before.has(timer)).map(([, stack]) => stack);
    assert.deepEqual(left, []);
  });
}
