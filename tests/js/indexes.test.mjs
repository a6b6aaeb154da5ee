// Named indexes and the event window, through the built package with a Source object.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";

import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const names = (objects) => objects.map(({ metadata }) => metadata.name);

test("an index by a path follows the objects; each has one value, empty where there is none", async () => {
  const upstream = memorySource({ objects: [pod("a/x", { node: "n1" }), pod("b/y", { node: "n2" }), pod("a/z", { node: "n1" })] });
  upstream.put({ apiVersion: "v1", kind: "Pod", metadata: { name: "w", namespace: "a", uid: "a/w" } });
  upstream.expire();
  const { resource, cache } = open(upstream, { indexes: { node: "spec.nodeName", app: "metadata.labels['app']" } });
  await resource.synced();
  assert.deepEqual(names(resource.byIndex("node", "n1")), ["x", "z"]);
  assert.deepEqual(names(resource.byIndex("node", "")), ["w"]);
  assert.deepEqual(names(resource.byIndex("node", "n3")), []);
  assert.deepEqual(resource.indexValues("node"), ["", "n1", "n2"]);
  assert.deepEqual(resource.indexValues("namespace"), ["a", "b"]);
  assert.deepEqual(names(resource.byIndex("app", "web")), ["x", "z", "y"], "in the order of keys");

  const [values, objects] = [resource.indexValues("node"), resource.byIndex("node", "n2")];
  upstream.put(pod("a/x", { node: "n3" }));
  await until(() => resource.peek("a/x").spec.nodeName === "n3");
  assert.deepEqual(resource.indexValues("node"), ["", "n1", "n2", "n3"]);
  assert.deepEqual([names(resource.byIndex("node", "n1")), names(resource.byIndex("node", "n3"))], [["z"], ["x"]]);
  assert.equal(resource.byIndex("node", "n2"), objects, "the same array until one of them changes");
  assert.notEqual(resource.indexValues("node"), values);
  assert.equal(resource.indexValues("node"), resource.indexValues("node"));
  upstream.remove("a/x");
  await until(() => resource.size === 3);
  assert.deepEqual(resource.indexValues("node"), ["", "n1", "n2"]);
  assert.ok(cache.stats().resources[0].decoded <= 5, "only what was read was decoded");
});

test("an index by a function gives each object none, one or several values, and sees it once", async () => {
  const upstream = memorySource({ objects: [pod("a/web-1"), pod("a/web-db-2"), pod("a/3")] });
  const seen = [];
  const words = ({ metadata: { name } }) => {
    seen.push(name);
    return name.split("-").slice(0, -1);
  };
  const { resource } = open(upstream, { indexes: { words } });
  await resource.synced();
  assert.deepEqual(resource.indexValues("words"), ["db", "web"]);
  assert.deepEqual(names(resource.byIndex("words", "web")), ["web-1", "web-db-2"]);
  assert.deepEqual(names(resource.byIndex("words", "db")), ["web-db-2"]);
  upstream.put(pod("a/web-1", { phase: "Failed" }));
  await until(() => resource.peek("a/web-1").status.phase === "Failed");
  assert.deepEqual(names(resource.byIndex("words", "web")), ["web-1", "web-db-2"]);
  assert.deepEqual(seen.sort(), ["3", "web-1", "web-1", "web-db-2"]);
});

test("an index function may throw, answer nonsense, or use the cache: the objects are there all the same", async () => {
  const upstream = memorySource({ objects: [pod("a/throws"), pod("a/nonsense"), pod("a/reads"), pod("a/good")] });
  const { resource, reported } = open(upstream, {
    indexes: {
      kind({ metadata: { name } }) {
        if (name === "throws") throw new RangeError("no");
        if (name === "nonsense") return [1];
        if (name === "reads") {
          resource.peek("a/good");
          resource.watch().stop();
          void resource.list({ resourceVersion: "0" });
        }
        return [name];
      },
      all: () => ["one"],
    },
  });
  await resource.synced();
  assert.equal(resource.size, 4);
  assert.deepEqual(resource.indexValues("kind"), ["good", "reads"]);
  assert.equal(resource.byIndex("all", "one").length, 4);
  assert.deepEqual(reported.map(({ name, code }) => code ?? name).sort(), ["RangeError", "invalid"]);
});

test("an index that was not declared, and options that make none, are refused by name", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = open(upstream, { indexes: { node: "spec.nodeName" } });
  await resource.synced();
  for (const read of [() => resource.byIndex("nodes", "n1"), () => resource.indexValues("nodes")]) {
    assert.throws(read, { code: "invalid", message: "Index with name nodes does not exist" });
  }
  for (const [indexes, message] of [
    [{ namespace: "a" }, /namespace/],
    [{ "": "a" }, /names/],
    [{ x: 7 }, /indexes\.x is a path or a function/],
    [{ x: "a[[" }, /^indexes\.x: /],
  ]) {
    assert.throws(() => createWatchCache({ indexes }), { code: "invalid", message });
  }
});

test("history bounds the window, and stats say how far back it reaches", async () => {
  for (const [history, message] of [
    [{ minMs: 74_999 }, /history\.minMs/],
    [{ minEvents: 0 }, /history\.minEvents/],
    [{ minEvents: 10, maxEvents: 9 }, /history\.maxEvents/],
    [{ maxBytes: -1 }, /history\.maxBytes/],
  ]) {
    assert.throws(() => createWatchCache({ history }), { code: "invalid", message });
  }
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, cache } = open(upstream, { history: { minEvents: 2, maxEvents: 4 } });
  await resource.synced();
  const stats = () => cache.stats().resources[0];
  assert.deepEqual([stats().history, stats().historyCapacity, stats().historyFrom], [0, 2, "101"]);
  await until(() => resource.status.phase === "live");
  for (let i = 0; i < 10; i++) upstream.put(pod("a/x"));
  await until(() => resource.resourceVersion === "111");
  const { history, historyCapacity, historyFrom, historyMs, historyBytes, historyIncreases, historyDecreases } = stats();
  assert.deepEqual([history, historyCapacity, historyFrom, historyIncreases, historyDecreases], [4, 4, "107", 1, 0]);
  assert.ok(historyMs >= 0 && historyBytes > 0);
  assert.equal((await resource.watch({ resourceVersion: "107" }).next()).value.resourceVersion, "108");
  assert.equal((await resource.watch({ resourceVersion: "106" }).next()).value.object.code, 410);

  const small = open(upstream, { history: { maxBytes: 0 } });
  await small.resource.synced();
  await until(() => small.resource.status.phase === "live");
  upstream.put(pod("a/x"));
  await until(() => small.resource.resourceVersion === "112");
  assert.equal(small.cache.stats().resources[0].history, 0);
});

test("memory: what nobody uses goes first, then the resource that grows stops and says so", async () => {
  const many = (count) => Array.from({ length: count }, (_, i) => pod(`a/p-${i}`));
  const small = memorySource({ objects: many(10) });
  const measured = open(small);
  await measured.resource.synced();
  const { bytes } = measured.cache.stats().resources[0];

  const { cache, resource: idle } = open(small, { memory: { maxBytes: 2 * bytes }, linger: 0 });
  await idle.synced();
  await until(() => idle.status.phase === "idle");
  const used = cache.resource({ source: memorySource({ objects: many(10) }), id: "used" });
  used.watch();
  await used.synced();
  const upstream = memorySource({ objects: many(8) });
  const grows = cache.resource({ source: upstream, id: "grows" });
  const watcher = grows.watch();
  await grows.synced();
  assert.equal(cache.stats().resources.length, 2, "the idle one was closed");
  await until(() => grows.status.phase === "live");
  const heard = (async () => {
    const types = [];
    for await (const { type } of watcher) types.push(type);
    return types;
  })();
  for (let i = 0; i < 6; i++) upstream.put(pod(`b/more-${i}`));
  await until(() => grows.status.phase === "failed");
  assert.equal(grows.status.error.code, "out-of-memory");
  assert.equal((await heard).at(-1), "ERROR");
  assert.ok(grows.size >= 8 && grows.peek("a/p-0").metadata.name === "p-0", "what it held is there");
  assert.ok(cache.stats().resources.reduce((sum, each) => sum + each.bytes, 0) <= 2 * bytes);
  used.close();
  grows.resume();
  // Nobody watches it any more, so it is live only while it is read.
  await until(() => grows.size === 14);
  assert.equal(idle.status.phase, "idle");
  assert.throws(() => createWatchCache({ memory: { maxBytes: -1 } }), { code: "invalid", message: /memory\.maxBytes/ });
});
