// Collections of TanStack DB, by the real package, over upstreams in memory.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { and, createCollection, createLiveQueryCollection, eq, gt, inArray, not, or } from "@tanstack/db";
import { createWatchCache, WatchCacheError } from "watchcache";
import { memorySource } from "watchcache/memory";
import { watchCacheCollectionOptions } from "watchcache/tanstack-db";

const caches = [];
after(() => Promise.all(caches.map((cache) => cache.close())));

const thing = (name, { namespace = "a", labels = { app: "web" }, ...rest } = {}) => ({
  metadata: { namespace, name, labels },
  ...rest,
});

function open({ objects = [], options = {}, ...source } = {}) {
  const upstream = memorySource({ objects, ...source });
  const cache = createWatchCache({ flush: "microtask", linger: 50, ...options });
  caches.push(cache);
  return { upstream, cache, resource: cache.resource({ source: upstream, id: "things" }) };
}

async function until(condition, ms = 3_000) {
  const deadline = performance.now() + ms;
  while (!condition()) {
    assert.ok(performance.now() < deadline, `never: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

const names = (collection) => [...collection.keys()].map((key) => key.split("/")[1]).sort();
const views = (cache) => cache.stats().resources.reduce((sum, { views }) => sum + views, 0);

describe("rows", () => {
  test("a collection holds what the resource holds, as it changes, and lets go when it is cleaned up", async () => {
    const { upstream, cache, resource } = open({ objects: [thing("one"), thing("two")] });
    const collection = createCollection(watchCacheCollectionOptions({ resource, id: "things" }));
    assert.equal(upstream.streams, 0, "nothing is opened before somebody looks");
    await collection.preload();
    assert.deepEqual(names(collection), ["one", "two"]);
    assert.equal(collection.get("a/one").metadata.name, "one");
    upstream.put(thing("three"));
    upstream.put(thing("one", { spec: { size: 2 } }));
    upstream.remove("a/two");
    await until(() => names(collection).join() === "one,three");
    assert.equal(collection.get("a/one").spec.size, 2);
    await collection.cleanup();
    await until(() => views(cache) === 0 && upstream.streams === 0);
    await collection.preload();
    assert.deepEqual(names(collection), ["one", "three"], "it begins again");
  });

  test("what one flush brings is one change", async () => {
    const { upstream, resource } = open({ objects: [thing("one")] });
    const collection = createCollection(watchCacheCollectionOptions({ resource }));
    await collection.preload();
    const batches = [];
    const told = (changes) => batches.push(changes.map(({ type, key }) => `${type} ${key}`).sort());
    const subscription = collection.subscribeChanges(told, { includeInitialState: true });
    batches.length = 0;
    upstream.put(thing("one", { spec: {} }));
    upstream.put(thing("two"));
    await until(() => collection.size === 2);
    assert.deepEqual(batches.flat().sort(), ["insert a/two", "update a/one"]);
    assert.ok(batches.length <= 2, "never more than the events");
    subscription.unsubscribe();
  });

  test("rows stay while the connection is down and over a relist", async () => {
    const { upstream, resource } = open({ objects: [thing("one"), thing("two")], options: { retry: { initialMs: 5, jitter: 0 } } });
    const collection = createCollection(watchCacheCollectionOptions({ resource }));
    await collection.preload();
    const told = [];
    collection.subscribeChanges((changes) => told.push(...changes.map(({ type, key }) => `${type} ${key}`)), { includeInitialState: true });
    told.length = 0;
    upstream.drop();
    upstream.remove("a/two");
    upstream.expire();
    assert.equal(collection.size, 2);
    await until(() => collection.size === 1);
    assert.deepEqual(told, ["delete a/two"]);
    await until(() => collection.utils.status.phase === "live");
  });

  test("what the server refuses is the collection's error, and it is ready once somebody has acted", async () => {
    const { upstream, resource } = open({ objects: [thing("one")] });
    upstream.fail({ code: 403, reason: "Forbidden", message: "not you" });
    const collection = createCollection(watchCacheCollectionOptions({ resource }));
    await assert.rejects(collection.preload(), /not you/);
    assert.deepEqual([collection.status, collection.utils.error.code], ["error", "forbidden"]);
    upstream.recover();
    resource.resume();
    await until(() => collection.status === "ready");
    assert.deepEqual(names(collection), ["one"]);
  });

  test("a view's filter and its selected fields; such rows are read only", async () => {
    const { upstream, resource } = open({ objects: [thing("one", { spec: { size: 1 } }), thing("two", { labels: { app: "db" } })] });
    const derive = { double: { paths: ["spec.size"], value: ([size = 0]) => size * 2 } };
    const view = { labelSelector: "app=web", select: { size: "spec.size", double: "double" }, derive };
    const collection = createCollection(watchCacheCollectionOptions({ resource, view }));
    await collection.preload();
    const { key, size, double } = collection.get("a/one");
    assert.deepEqual({ key, size, double }, { key: "a/one", size: 1, double: 2 });
    assert.equal(collection.size, 1);
    upstream.put(thing("one", { spec: { size: 5 } }));
    await until(() => collection.get("a/one").double === 10);
    assert.throws(() => collection.update("a/one", (draft) => void (draft.size = 3)), /onUpdate/);
  });

  test("mistakes are told where they are made", async () => {
    const { resource } = open();
    await resource.synced();
    const refused = (options, message) =>
      assert.throws(
        () => watchCacheCollectionOptions(options),
        (error) => error instanceof WatchCacheError && error.code === "invalid" && message.test(error.message),
      );
    refused({}, /resource is missing/);
    refused({ resource: "pods" }, /a collection is of a resource: give/);
    refused({ resource, syncmode: "eager" }, /syncmode is no option of a collection: did you mean syncMode/);
    refused({ resource, view: { window: { offset: 0, limit: 1 } } }, /view.window is no option of a collection/);
    refused({ resource, view: { labelSelector: "app in (" } }, /expected/);
    refused({ resource, view: { labelSelectr: "app" } }, /did you mean labelSelector/);
  });

  test("under debug rows are frozen, and queries work all the same", async () => {
    const { resource } = open({ objects: [thing("one", { spec: { size: 1 } })], options: { debug: true } });
    const collection = createCollection(watchCacheCollectionOptions({ resource }));
    const query = createLiveQueryCollection({
      query: (q) => q.from({ thing: collection }).where(({ thing }) => gt(thing.spec.size, 0)),
      startSync: true,
    });
    await query.preload();
    assert.equal(query.size, 1);
    const written = collection.update("a/one", (draft) => void (draft.spec.size = 2));
    await written.isPersisted.promise;
    assert.equal(collection.get("a/one").spec.size, 2);
  });
});

describe("writes", () => {
  test("they show at once, and stay shown: no row goes back between the server's answer and its event", async () => {
    const { upstream, resource } = open({ objects: [thing("one", { spec: { size: 1 } })], delay: 20, options: { flush: "frame" } });
    const collection = createCollection(watchCacheCollectionOptions({ resource }));
    await collection.preload();
    const seen = [];
    collection.subscribeChanges((changes) => {
      for (const { key, type, value } of changes) seen.push(`${type} ${key} ${value.spec?.size}`);
    });
    const update = collection.update("a/one", (draft) => void (draft.spec.size = 2));
    assert.equal(collection.get("a/one").spec.size, 2, "before the server has answered");
    const insert = collection.insert(thing("two", { spec: { size: 7 } }));
    assert.ok(collection.has("a/two"));
    await Promise.all([update.isPersisted.promise, insert.isPersisted.promise]);
    assert.equal(upstream.objects.find(({ metadata }) => metadata.name === "two").spec.size, 7);
    assert.ok(collection.get("a/two").metadata.resourceVersion, "as the server keeps it");
    const removal = collection.delete("a/one");
    assert.ok(!collection.has("a/one"));
    await removal.isPersisted.promise;
    assert.deepEqual(names(collection), ["two"]);
    assert.ok(!seen.includes("update a/one 1"), seen.join());
    assert.ok(!seen.includes("delete a/two undefined") && !seen.includes("delete a/two 7"), seen.join());
  });

  test("an update changes what it changes, of the newest version", async () => {
    const { upstream, resource } = open({ objects: [thing("one", { spec: { size: 1, color: "red", list: [1, 2] } })] });
    const collection = createCollection(watchCacheCollectionOptions({ resource }));
    await collection.preload();
    // Somebody else is quicker, and this page has not heard of it.
    upstream.before = ({ verb }) => {
      if (verb !== "update") return;
      upstream.before = undefined;
      upstream.put(thing("one", { spec: { size: 1, color: "blue", list: [1, 2] }, status: { beat: 1 } }));
    };
    await collection.update("a/one", (draft) => {
      draft.spec.size = 2;
      draft.spec.list.push(3);
      delete draft.metadata.labels;
    }).isPersisted.promise;
    const [{ spec, status, metadata }] = upstream.objects;
    assert.deepEqual(
      { spec, status, labels: metadata.labels },
      { spec: { size: 2, color: "blue", list: [1, 2, 3] }, status: { beat: 1 }, labels: undefined },
    );
  });

  test("where somebody else has changed the same value it is a conflict: theirs stays, and the optimistic one is rolled back", async () => {
    const { upstream, resource } = open({ objects: [thing("one", { spec: { size: 1 } })] });
    const collection = createCollection(watchCacheCollectionOptions({ resource }));
    await collection.preload();
    upstream.before = ({ verb }) => {
      if (verb !== "update") return;
      upstream.before = undefined;
      upstream.put(thing("one", { spec: { size: 9 } }));
    };
    const write = collection.update("a/one", (draft) => void (draft.spec.size = 2));
    await assert.rejects(write.isPersisted.promise, { code: "conflict", message: /spec.size of a\/one/ });
    await until(() => collection.get("a/one").spec.size === 9);
  });

  test("what the server refuses is rolled back", async () => {
    const { upstream, resource } = open({ objects: [thing("one")] });
    const collection = createCollection(watchCacheCollectionOptions({ resource }));
    await collection.preload();
    upstream.fail({ code: 403, reason: "Forbidden", message: "read only" }, { verbs: ["create", "update", "delete"] });
    for (const write of [
      () => collection.insert(thing("two")),
      () => collection.update("a/one", (draft) => void (draft.spec = {})),
      () => collection.delete("a/one"),
    ]) {
      await assert.rejects(write().isPersisted.promise, { code: "forbidden" });
      assert.deepEqual(names(collection), ["one"]);
      assert.equal(collection.get("a/one").spec, undefined);
    }
    assert.throws(() => collection.insert({ metadata: { generateName: "x-" } }), /has metadata.name/);
  });

  test("a write that the filter leaves out ends as well", async () => {
    const { upstream, resource } = open({ objects: [] });
    const collection = createCollection(watchCacheCollectionOptions({ resource, view: { labelSelector: "app=web" } }));
    await collection.preload();
    await collection.insert(thing("two", { labels: { app: "db" } })).isPersisted.promise;
    assert.equal(collection.size, 0);
    assert.equal(upstream.objects.length, 1);
  });
});

describe("queries", () => {
  test("joins of two resources are live", async () => {
    const pods = open({ objects: [thing("pod-1", { spec: { node: "n1" } }), thing("pod-2", { spec: { node: "n2" } })] });
    const nodes = open({ objects: [{ metadata: { name: "n1" }, ready: true }] });
    const [pod, node] = [pods, nodes].map(({ resource }) => createCollection(watchCacheCollectionOptions({ resource })));
    const joined = createLiveQueryCollection({
      startSync: true,
      query: (q) =>
        q
          .from({ pod })
          .join({ node }, ({ pod, node }) => eq(pod.spec.node, node.metadata.name), "left")
          .select(({ pod, node }) => ({ name: pod.metadata.name, ready: node?.ready })),
    });
    await joined.preload();
    const shown = () => joined.toArray.map(({ name, ready }) => `${name} ${ready}`).sort();
    assert.deepEqual(shown(), ["pod-1 true", "pod-2 undefined"]);
    nodes.upstream.put({ metadata: { name: "n2" }, ready: false });
    await until(() => shown().join() === "pod-1 true,pod-2 false");
    nodes.upstream.put({ metadata: { name: "n1" }, ready: false });
    await until(() => shown().join() === "pod-1 false,pod-2 false");
  });

  /** What an on-demand collection holds for a query, and what of it is decoded. */
  async function demand(where) {
    const objects = ["a", "b"].flatMap((namespace) =>
      ["web", "db", "api"].map((app) =>
        thing(`${app}-${namespace}`, { namespace, labels: { app }, spec: { app, size: app.length, on: true } }),
      ),
    );
    const opened = open({ objects });
    const collection = createCollection(watchCacheCollectionOptions({ resource: opened.resource, syncMode: "on-demand" }));
    const query = createLiveQueryCollection({ startSync: true, query: (q) => q.from({ thing: collection }).where(where) });
    await query.preload();
    return { ...opened, collection, query, held: names(collection), found: query.toArray.map(({ metadata }) => metadata.name).sort() };
  }

  const cases = [
    ["eq of the namespace", ({ thing }) => eq(thing.metadata.namespace, "a"), ["api-a", "db-a", "web-a"], 3],
    ["inArray of it", ({ thing }) => inArray(thing.metadata.namespace, ["a", "c"]), ["api-a", "db-a", "web-a"], 3],
    ["a label", ({ thing }) => eq(thing.metadata.labels.app, "web"), ["web-a", "web-b"], 2],
    ["labels in a list", ({ thing }) => inArray(thing.metadata.labels.app, ["web", "db"]), ["db-a", "db-b", "web-a", "web-b"], 4],
    ["any text", ({ thing }) => eq(thing.spec.app, "db"), ["db-a", "db-b"], 2],
    ["the name", ({ thing }) => eq("db-b", thing.metadata.name), ["db-b"], 1],
    [
      "and",
      ({ thing }) => and(eq(thing.metadata.namespace, "b"), eq(thing.metadata.labels.app, "web"), gt(thing.spec.size, 1)),
      ["web-b"],
      1,
    ],
    ["a number is asked of each", ({ thing }) => and(eq(thing.spec.size, 3), eq(thing.metadata.namespace, "a")), ["api-a", "web-a"], 3],
    [
      "or is asked of each",
      ({ thing }) => or(eq(thing.spec.app, "db"), eq(thing.metadata.namespace, "b")),
      ["api-b", "db-a", "db-b", "web-b"],
      6,
    ],
    ["not is asked of each", ({ thing }) => not(eq(thing.spec.app, "db")), ["api-a", "api-b", "web-a", "web-b"], 6],
    ["texts with signs of selectors", ({ thing }) => eq(thing.spec.app, "web,metadata.name=x"), [], 6],
  ];
  for (const [what, where, found, decoded] of cases) {
    test(`on demand, ${what}: what is found, and what is held for it`, async () => {
      const result = await demand(where);
      assert.deepEqual(result.found, found);
      assert.equal(result.held.length, decoded);
      assert.equal(result.cache.stats().resources[0].decoded, decoded, "nothing else is decoded");
    });
  }

  test("on demand, subsets share rows, follow changes, and are given back", async () => {
    const { cache, upstream, collection, query, resource } = await demand(({ thing }) => eq(thing.metadata.labels.app, "web"));
    const other = createLiveQueryCollection({
      startSync: true,
      query: (q) => q.from({ thing: collection }).where(({ thing }) => eq(thing.metadata.namespace, "a")),
    });
    await other.preload();
    assert.deepEqual(names(collection), ["api-a", "db-a", "web-a", "web-b"]);
    const same = createLiveQueryCollection({
      startSync: true,
      query: (q) => q.from({ thing: collection }).where(({ thing }) => eq(thing.metadata.namespace, "a")),
    });
    await same.preload();
    assert.equal(views(cache), 2, "equal subsets are one");
    upstream.put(thing("web-a", { labels: { app: "web" }, spec: { size: 7 } }));
    await until(() => query.toArray.some(({ spec }) => spec.size === 7) && other.toArray.some(({ spec }) => spec.size === 7));
    // It leaves one subset, and stays in the other.
    upstream.put(thing("web-a", { labels: { app: "no" } }));
    await until(() => query.size === 1 && other.toArray.some(({ metadata }) => metadata.labels.app === "no"));
    await other.cleanup();
    await same.cleanup();
    await until(() => names(collection).join() === "web-b");
    await query.cleanup();
    await until(() => collection.size === 0);
    await collection.cleanup();
    await until(() => views(cache) === 0);
    assert.ok(resource);
  });

  test("on demand, a refused list is the query's error, and another query is ready once somebody has acted", async () => {
    const { upstream, cache, resource } = open({ objects: [thing("one")] });
    upstream.fail({ code: 403, reason: "Forbidden", message: "not you" });
    const collection = createCollection(watchCacheCollectionOptions({ resource, syncMode: "on-demand" }));
    const ask = () =>
      createLiveQueryCollection({
        query: (q) => q.from({ thing: collection }).where(({ thing }) => eq(thing.metadata.namespace, "a")),
      });
    const refused = ask();
    await assert.rejects(refused.preload(), /not you/);
    await refused.cleanup();
    upstream.recover();
    resource.resume();
    await resource.synced();
    const query = ask();
    await query.preload();
    assert.equal(query.size, 1);
    assert.equal(views(cache), 1);
  });
});
