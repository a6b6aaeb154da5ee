// Texts with a grammar: selectors, paths and names of indexes. When a mistake in them is told, before and after the core is loaded.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createWatchCache, init } from "watchcache";
import { memorySource } from "watchcache/memory";

import { openCache } from "../../dist/cache/cache.js";
import { runtimeOf } from "../../dist/load/instance.js";
import { ModelModule } from "./lib/model.mjs";
import { closing, newCache, openShared, silent, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

await init();
const { loaded } = runtimeOf({});

/** A cache whose core arrives when it is told to. It counts how often resources are opened. */
function early(options = {}) {
  let opened = 0;
  const openSource = (...given) => {
    opened++;
    return loaded().openSource(...given);
  };
  const module = { ...loaded(), openSource };
  const runtime = new ModelModule().runtime({ ready: false });
  runtime.loaded = () => (runtime.loading.phase === "loaded" ? module : undefined);
  const cache = closing(openCache({ flush: "microtask", logger: silent, ...options }, runtime));
  return { cache, arrive: () => runtime.arrive(), opened: () => opened };
}

const { upstream, cache: shared, pods, informer } = await openShared();

const BAD_PATH = "spec..nodeName";
const BAD_SELECTOR = "app in (";

test("grammar is told at once where the core is loaded", async () => {
  for (const options of [{ trigger: BAD_PATH }, { strip: ["a", BAD_PATH] }, { indexes: { node: BAD_PATH } }]) {
    const [name] = Object.keys(options);
    assert.throws(
      () => createWatchCache(options),
      (error) => error.code === "invalid" && error.message.startsWith(name),
    );
  }
  for (const options of [{ labelSelector: BAD_SELECTOR }, { fieldSelector: "a=b=c" }]) {
    const mistaken = (error) => error.code === "invalid" && error.mistake?.option === Object.keys(options)[0];
    assert.throws(() => shared.resource({ version: "v1", resource: "pods", ...options }), mistaken);
    assert.throws(() => pods.watch(options), mistaken);
    assert.throws(() => pods.view(options), mistaken);
    assert.throws(() => informer.addEventHandler(() => {}, options), mistaken);
    await assert.rejects(pods.list(options), mistaken);
  }
  for (const call of [(changesOf) => pods.watch({ changesOf }), (changesOf) => informer.addEventHandler(() => {}, { changesOf })]) {
    assert.throws(() => call(["spec", BAD_PATH]), { code: "invalid", message: /^changesOf\[1\]: / });
    assert.throws(() => call([]), { code: "invalid", message: /^changesOf names at least one path; leave it out / });
  }
  assert.throws(() => pods.watch({ shardSelector: "x" }), { code: "invalid", message: /^invalid shard selector/ });
  assert.throws(() => pods.view({ groupBy: BAD_PATH }), { code: "invalid", message: /^groupBy: / });
  assert.throws(() => pods.view({ orderBy: [{ path: BAD_PATH }] }), { code: "invalid", message: /^orderBy\[0\]\.path: / });
  assert.throws(() => pods.informer({ indexers: { x: BAD_PATH } }), { code: "invalid", message: /^indexers\.x: / });
});

// The core judges names of indexes as well. What it refused after the call would end the informer, or the resource.
for (const [name, by] of [
  ["", "a"],
  ["", () => []],
  ["namespace", "metadata.namespace"],
  ["namespace", () => []],
  ["namespace", undefined],
  ["", undefined],
]) {
  test(`an index that may not be called ${JSON.stringify(name)} (${typeof by}) is refused at the call, before the core is there, in its words`, async () => {
    const judged = (list) => {
      try {
        loaded().checkGrammar(`${list}.${name}`, undefined);
      } catch ({ code, message }) {
        return { code, message };
      }
    };
    const [ofCache, ofInformer] = ["indexes", "indexers"].map(judged);
    assert.equal(ofCache.code, "invalid");
    assert.throws(() => early({ indexes: { [name]: by } }), ofCache);
    assert.throws(() => createWatchCache({ indexes: { [name]: by } }), ofCache);
    const { cache, arrive } = early();
    const resource = cache.resource({ source: upstream, id: "pods" });
    assert.throws(() => resource.informer({ indexers: { [name]: by } }), ofInformer);
    const informer = resource.informer({ indexers: { words: () => ["a"] } });
    assert.throws(() => informer.addIndexers({ [name]: by, more: () => ["b"] }), ofInformer);
    arrive();
    await informer.synced;
    assert.deepEqual(informer.indexKeys("words", "a"), ["a/x"], "the informer lives");
    assert.deepEqual(informer.indexKeys("namespace", "a"), ["a/x"]);
    assert.throws(() => informer.indexKeys("more", "b"), { code: "invalid" }, "of a refused call nothing is added");
  });
}

test("before that, a watch, a list, an informer and a view hear of it when the core loads", async () => {
  const { cache, arrive } = early();
  const resource = cache.resource({ source: upstream, id: "pods" });
  const [watch, list] = [resource.watch({ labelSelector: BAD_SELECTOR }).next(), resource.list({ fieldSelector: "a=b=c" })];
  const { synced } = resource.informer({ indexers: { x: BAD_PATH } });
  const view = resource.view({ orderBy: [{ path: BAD_PATH }] });
  const told = [];
  view.subscribe(() => void told.push(view.getSnapshot().error));
  assert.equal(view.getSnapshot().error, undefined);
  arrive();
  for (const waiting of [watch, list, synced]) await assert.rejects(waiting, { code: "invalid" });
  // It is theirs alone.
  await resource.synced();
  await until(() => resource.status.phase === "live" && view.getSnapshot().error !== undefined);
  const { error, rows } = view.getSnapshot();
  assert.deepEqual([error.code, rows.length], ["invalid", 0]);
  assert.match(error.message, /^orderBy\.path: /);
  assert.equal(told.filter((each) => each !== undefined).length, 1);
});

for (const options of [{ trigger: BAD_PATH }, { strip: [BAD_PATH] }, { indexes: { node: BAD_PATH } }]) {
  const [name] = Object.keys(options);
  test(`${name} that cannot be read fails once when the core loads, whatever listeners do`, async () => {
    const { cache, arrive, opened } = early(options);
    const resource = cache.resource({ source: upstream, id: "pods" });
    const told = { status: 0, error: 0, view: 0 };
    const provoke = () => {
      if (resource.status.phase === "closed") return;
      resource.peek("a/x");
      resource.byIndex("namespace", "a");
      void resource.size;
      void resource.status;
      resource.resume();
      resource.synced().catch(() => {});
      resource
        .watch()
        .next()
        .catch(() => {});
      void resource.view().getSnapshot();
    };
    for (const type of ["status", "error"]) {
      resource.addEventListener(type, () => {
        told[type]++;
        provoke();
      });
    }
    const rows = resource.view();
    rows.subscribe(() => {
      told.view++;
      provoke();
    });
    const waiting = [resource.synced(), resource.list(), resource.watch().next(), resource.informer().synced];
    arrive();
    for (const outcome of await Promise.allSettled(waiting)) assert.equal(outcome.reason?.code, "invalid");
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.equal(opened(), 1, "it is tried once");
    assert.equal(told.error, 1);
    assert.ok(told.status <= 3 && told.view <= 3, JSON.stringify(told));
    assert.equal(resource.status.phase, "failed");
    assert.equal(resource.status.retryAt, undefined);
    assert.ok(resource.status.error.message.startsWith(name), resource.status.error.message);
    // Later requests are told the same, and nothing is tried again.
    const { error } = resource.status;
    assert.equal(rows.getSnapshot().error, error);
    assert.equal(resource.peek("a/x"), undefined);
    await assert.rejects(resource.list(), error);
    await assert.rejects(resource.watch().next(), error);
    await assert.rejects(resource.informer().synced, error);
    provoke();
    assert.equal(resource.status.error, error);
    assert.deepEqual([opened(), told.error], [1, 1]);
  });
}

test("a listener that resumes what it hears of is not called for that again", async () => {
  const resource = newCache().resource({ source: memorySource({ objects: [pod("a/x")] }), id: "pods" });
  let told = 0;
  resource.addEventListener("status", () => {
    // A loop without an end froze the page here.
    if (++told < 10_000) resource.resume();
  });
  await resource.synced();
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(told <= 10, String(told));
});
