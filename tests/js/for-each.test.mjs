// The promise of `forEach` settles after the handler's own last promise.
import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "watchcache/memory";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Ways in which a watch ends while its handler works. */
const ends = {
  "stop()": ({ watcher }) => watcher.stop(),
  "its signal": ({ controller }) => controller.abort(),
  "close() of the resource": ({ resource }) => resource.close(),
  "close() of the cache": ({ cache }) => void cache.close(),
};

/** One watch over two objects, whose handler is given with what it may do. */
function watched(handler) {
  const { cache, resource, reported } = open(memorySource({ objects: [pod("ns/a"), pod("ns/b")] }));
  const controller = new AbortController();
  const watcher = resource.watch({ signal: controller.signal });
  const log = [];
  const it = { cache, resource, reported, controller, watcher, log };
  it.done = watcher.forEach((event) => handler(event, it)).then(() => log.push("resolved"));
  return it;
}

for (const [way, end] of Object.entries(ends)) {
  test(`ended by ${way} in its first, synchronous part, an async handler is waited for`, async () => {
    const { done, log, reported } = watched(async ({ key }, it) => {
      it.log.push(`begin ${key}`);
      end(it);
      await wait(5);
      it.log.push(`end ${key}`);
    });
    await done;
    assert.deepEqual(log, ["begin ns/a", "end ns/a", "resolved"]);
    assert.deepEqual(reported, []);
  });

  test(`ended by ${way} while it waits, an async handler is waited for, and not called again`, async () => {
    const it = watched(async ({ key }) => {
      it.log.push(`begin ${key}`);
      await wait(20);
      it.log.push(`end ${key}`);
    });
    await until(() => it.log.length > 0);
    end(it);
    await it.done;
    assert.deepEqual(it.log, ["begin ns/a", "end ns/a", "resolved"]);
  });

  test(`ended by ${way} in a call that returns nothing, it resolves`, async () => {
    const { done, log } = watched(({ key }, it) => {
      it.log.push(key);
      end(it);
    });
    await done;
    assert.deepEqual(log, ["ns/a", "resolved"]);
  });
}

test("a stream that ends by itself: the handler gets what waits for it, and is waited for", async () => {
  const { resource } = open(memorySource({ objects: [pod("ns/a"), pod("ns/b")] }));
  const log = [];
  await resource.watch({ timeoutSeconds: 1 }).forEach(async ({ key }) => {
    await wait(key === "ns/a" ? 1500 : 20);
    log.push(key);
  });
  assert.deepEqual(log, ["ns/a", "ns/b"]);
});

test("what the last promise rejects with is reported, and fails nobody", async () => {
  const { done, reported } = watched(async (_event, { watcher }) => {
    watcher.stop();
    await wait(1);
    throw new RangeError("mine");
  });
  await done;
  assert.deepEqual(
    reported.map(({ message }) => message),
    ["mine"],
  );
});
