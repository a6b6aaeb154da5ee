// Watches of the built package in Node, over a Source object: slow ones, shards, and which watch hears of which change.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";

import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

async function live(upstream, options = {}) {
  const { cache, resource } = open(upstream, options);
  await resource.synced();
  await until(() => resource.status.phase === "live");
  return { cache, resource };
}

const summary = ({ type, key, resourceVersion, resync }) => [type, key, resync && "resync", resourceVersion].filter(Boolean).join(" ");

/** Reads so many events. */
async function read(watcher, count) {
  const seen = [];
  while (seen.length < count) {
    const { value, done } = await watcher.next();
    if (done) break;
    seen.push(summary(value));
  }
  return seen;
}

/** Changes of which a buffer of two holds the first two. */
async function change(upstream, resource) {
  for (const key of ["a/x", "a/x", "a/y", "a/z", "a/y"]) upstream.put(pod(key));
  upstream.remove("a/z");
  upstream.remove("a/d");
  upstream.put(pod("a/x"));
  await until(() => resource.resourceVersion === upstream.resourceVersion);
}

test("a slow watch that resyncs is told where the gap is, and hears the difference", async () => {
  const upstream = memorySource({ objects: [pod("a/d")] });
  const { resource, cache } = await live(upstream);
  let overflows = 0;
  resource.addEventListener("overflow", () => overflows++);
  const watcher = resource.watch({ resourceVersion: "101", bufferSize: 2, onOverflow: "resync" });
  await change(upstream, resource);
  assert.deepEqual(await read(watcher, 6), [
    "ADDED a/x 102",
    "MODIFIED a/x 103",
    "BOOKMARK resync 103",
    "ADDED a/y 106",
    "DELETED a/d 108",
    "MODIFIED a/x 109",
  ]);
  upstream.put(pod("a/y"));
  assert.deepEqual(await read(watcher, 1), ["MODIFIED a/y 110"], "and from then on everything again");
  assert.equal(overflows, 1);
  assert.equal(cache.stats().resources[0].terminated, 0);
});

test("a slow watch that coalesces hears of each object once", async () => {
  const upstream = memorySource({ objects: [pod("a/d")] });
  const { resource } = await live(upstream);
  const watcher = resource.watch({ resourceVersion: "101", bufferSize: 2, onOverflow: "coalesce" });
  await change(upstream, resource);
  const expected = ["ADDED a/x 102", "MODIFIED a/x 103", "ADDED a/y 106", "DELETED a/d 108", "MODIFIED a/x 109"];
  assert.deepEqual(await read(watcher, 5), expected);
});

test("a relist ends watches, but not those that resync: they hear the difference", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y"), pod("a/z")] });
  const { resource } = await live(upstream);
  const seen = [];
  const kept = resource.watch({ resourceVersion: "103", onOverflow: "resync" });
  const done = kept.forEach((event) => void seen.push(summary(event)));
  const plain = resource.watch({ resourceVersion: "103" });
  const relisted = new Promise((resolve) => resource.addEventListener("relist", resolve, { once: true }));
  const rest = read(plain, 1);
  upstream.drop();
  upstream.put(pod("a/y", { phase: "Failed" }));
  upstream.remove("a/z");
  upstream.put(pod("a/n"));
  upstream.resourceVersion = String(Number(upstream.resourceVersion) + 10);
  upstream.expire();
  await relisted;
  assert.deepEqual(await rest, []);
  assert.deepEqual(await plain.ended, { reason: "relist", lastResourceVersion: "103" });
  await until(() => seen.length === 4);
  assert.deepEqual(seen, ["BOOKMARK resync 103", "MODIFIED a/y 104", "ADDED a/n 106", "DELETED a/z 116"]);
  await until(() => resource.status.phase === "live");
  upstream.put(pod("a/n"));
  await until(() => seen.length === 5);
  assert.equal(seen[4], "MODIFIED a/n 117");
  kept.stop();
  await done;
  assert.deepEqual(await kept.ended, { reason: "stopped", lastResourceVersion: "117" });
});

test("stopped amid a difference, a watch knows no version to go on from", async () => {
  const upstream = memorySource({ objects: [pod("a/d")] });
  const { resource } = await live(upstream);
  const watcher = resource.watch({ resourceVersion: "101", bufferSize: 2, onOverflow: "resync" });
  await change(upstream, resource);
  assert.equal((await read(watcher, 4)).at(-1), "ADDED a/y 106");
  watcher.stop();
  assert.deepEqual(await watcher.ended, { reason: "stopped" });
});

test("shards share out the objects by the hash of their uid", async () => {
  const keys = Array.from({ length: 20 }, (_, number) => `ns-${number % 4}/${"abcdefghij"[number % 10]}${number}`);
  const upstream = memorySource({ objects: keys.map((key) => pod(key)) });
  const { resource } = await live(upstream);
  const shards = ["0x0000000000000000", "0x5555555555555555", "0xaaaaaaaaaaaaaaaa", "0x10000000000000000"];
  const seen = [];
  for (let number = 0; number < 3; number++) {
    const shardSelector = `shardRange(object.metadata.uid, '${shards[number]}', '${shards[number + 1]}')`;
    const watcher = resource.watch({
      shardSelector,
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: true,
      resourceVersion: "1",
    });
    for await (const event of watcher) {
      if (event.initialEventsEnd) break;
      seen.push(event.key);
    }
  }
  assert.deepEqual(seen.sort(), keys.sort());
  const message = /^invalid shard selector: hexStart must be a 0x-prefixed 16-digit hex value, got "1"$/;
  const wrong = { shardSelector: "shardRange(object.metadata.uid, '1', '2')" };
  assert.throws(() => resource.watch(wrong), { code: "invalid", message });
});

test("a change is compared only with watches that it may concern, by any field, and by the trigger first", async () => {
  for (const trigger of [undefined, "spec.nodeName"]) {
    const upstream = memorySource({ objects: [pod("a/x")] });
    const { resource, cache } = await live(upstream, trigger === undefined ? {} : { trigger });
    const heard = [];
    for (let number = 0; number < 200; number++) {
      const watcher = resource.watch({ resourceVersion: "101", namespace: "a", fieldSelector: `spec.nodeName=node-${number}` });
      void watcher.forEach(({ key }) => void heard.push([number, key]));
    }
    const visited = () => cache.stats().resources[0].visited;
    const before = visited();
    upstream.put(pod("a/y", { node: "node-7" }));
    await until(() => heard.length === 1);
    assert.deepEqual(heard, [[7, "a/y"]]);
    assert.equal(visited() - before, 1);
    // The watch that the object leaves, and the one that it enters.
    upstream.put(pod("a/y", { node: "node-8" }));
    await until(() => heard.length === 3);
    assert.equal(visited() - before, 3);
  }
});

test("options that cannot be read are said to be so", async () => {
  const { resource } = await live(memorySource());
  assert.throws(() => resource.watch({ onOverflow: "drop" }), {
    code: "invalid",
    message: 'onOverflow is one of terminate, resync, coalesce, not "drop"',
  });
  const both = { sendInitialEvents: true, resourceVersionMatch: "Exact" };
  await assert.rejects(resource.watch(both).next(), ({ code, status }) => {
    assert.deepEqual([code, status.code, status.details.causes.length], ["invalid", 422, 2]);
    assert.match(status.message, /^ListOptions\.meta\.k8s\.io "" is invalid: \[resourceVersionMatch: Forbidden: .*, .*\]$/);
    return true;
  });
  assert.throws(() => createWatchCache({ trigger: "spec..nodeName" }), { code: "invalid", message: /^trigger: / });
});

test("a watch ends at its time, and says from where another goes on", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = await live(upstream);
  const watcher = resource.watch({ resourceVersion: "101", timeoutSeconds: 1 });
  const all = read(watcher, 2);
  upstream.put(pod("a/y"));
  assert.deepEqual(await watcher.ended, { reason: "timeout", lastResourceVersion: "102" });
  assert.deepEqual(await all, ["ADDED a/y 102"]);
});

test("many watches hear of every event in its order while some throw, stop others, join or become slow", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const logger = { debug() {}, info() {}, warn() {}, error: () => void thrown++ };
  let thrown = 0;
  const { resource } = await live(upstream, { logger });
  const heard = [];
  const watchers = [];
  const acts = new Map();
  const join = () => {
    const number = watchers.length;
    const watcher = resource.watch({ resourceVersion: resource.resourceVersion });
    watchers.push(watcher);
    void watcher.forEach((event) => {
      heard.push(`${number}@${event.resourceVersion}`);
      return acts.get(`${number}@${event.resourceVersion}`)?.();
    });
  };
  for (let i = 0; i < 40; i++) join();
  const first = Number(resource.resourceVersion) + 1;
  const everyone = (...without) => Array.from({ length: 40 }, (_, i) => i).filter((i) => !without.includes(i));
  const step = async (version, expected) => {
    upstream.put(pod("a/x"));
    await until(() => resource.resourceVersion === String(version) && heard.length >= expected.length);
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(
      heard.splice(0),
      expected.map((number) => `${number}@${version}`),
    );
  };
  for (let i = 0; i < 3; i++) await step(first + i, everyone());

  acts.set(`5@${first + 3}`, () => {
    throw new Error("on purpose");
  });
  await step(first + 3, everyone());
  assert.equal(thrown, 1);
  await step(first + 4, everyone());

  acts.set(`7@${first + 5}`, () => watchers[30].stop());
  await step(first + 5, everyone(30));
  await step(first + 6, everyone(30));
  await step(first + 7, everyone(30));

  acts.set(`9@${first + 8}`, () => join());
  await step(first + 8, everyone(30));
  for (let i = 9; i < 12; i++) await step(first + i, [...everyone(30), 40]);

  let settle;
  acts.set(`3@${first + 12}`, () => new Promise((resolve) => (settle = resolve)));
  await step(first + 12, [...everyone(30), 40]);
  await step(first + 13, [...everyone(3, 30), 40]);
  settle();
  await until(() => heard.length === 1);
  assert.deepEqual(heard.splice(0), [`3@${first + 13}`]);
});

test("law_08_bounded_a_watch_that_nobody_holds_any_more_ends_and_one_that_somebody_reads_does_not", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, cache } = await live(upstream);
  const watches = () => cache.stats().resources[0].watchers;
  const collectUntil = async (count) => {
    for (let i = 0; i < 400 && watches() !== count; i++) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.equal(watches(), count);
  };
  const heard = { called: 0, looped: 0, ended: 0 };
  const from = { resourceVersion: upstream.resourceVersion };
  const start = async () => {
    for (let i = 0; i < 20; i++) {
      void resource.watch(from).ended.then(({ reason }) => (heard.ended += reason === "stopped" ? 1 : 0));
      await resource.watch().next(); // one event is read, and then none
    }
  };
  await start();
  void resource.watch(from).forEach(() => void heard.called++);
  void (async () => {
    for await (const _ of resource.watch(from)) heard.looped++;
  })();
  const batches = resource.watch(from).batches();
  const held = resource.watch(from);
  const waited = resource.watch(from).next();
  assert.equal(watches(), 45);

  await collectUntil(5);
  assert.equal(heard.ended, 20, "who waits for the end is told");
  upstream.put(pod("a/x"));
  assert.equal((await batches.next()).value.length, 1);
  assert.equal((await held.next()).value.key, "a/x");
  assert.equal((await waited).value.key, "a/x", "what was asked for still comes");
  assert.deepEqual([heard.called, heard.looped], [1, 1]);
  await collectUntil(4);
  upstream.put(pod("a/x"));
  await until(() => heard.called === 2 && heard.looped === 2);
  assert.equal((await batches.next()).done, false);
});
