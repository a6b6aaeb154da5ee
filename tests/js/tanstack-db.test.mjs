// Collections of TanStack DB: rows, as a resource has them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { WatchCacheError } from "watchcache";
import { watchCacheCollectionOptions } from "watchcache/tanstack-db";
import { cores, names, open, thing, until, views } from "./lib/collections.mjs";

for (const [name, core] of cores)
  describe(`rows, by the ${name} core`, () => {
    const { createCollection, createLiveQueryCollection, gt } = core;
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
      collection.subscribeChanges((changes) => told.push(...changes.map(({ type, key }) => `${type} ${key}`)), {
        includeInitialState: true,
      });
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

    test("a cache that is closed is told: before, meanwhile, and afterwards, when the rows stay", async () => {
      const { cache, resource } = open({ objects: [thing("one")] });
      const late = createCollection(watchCacheCollectionOptions({ resource }));
      const demanding = createCollection(watchCacheCollectionOptions({ resource, syncMode: "on-demand" }));
      const collection = createCollection(watchCacheCollectionOptions({ resource }));
      await collection.preload();
      await cache.close();
      assert.throws(() => watchCacheCollectionOptions({ resource }), { code: "closed" });
      await assert.rejects(late.preload(), { code: "closed" });
      await assert.rejects(createLiveQueryCollection((q) => q.from({ thing: demanding })).preload(), /the cache of things is closed/);
      await until(() => collection.utils.error?.code === "closed");
      assert.deepEqual(names(collection), ["one"]);
      const write = collection.update("a/one", (draft) => void (draft.spec = {}));
      await assert.rejects(write.isPersisted.promise, { code: "closed" });
      assert.equal(collection.get("a/one").spec, undefined);
    });

    test("gcTime lets go of all, also while the first list is under way, and a later subscriber begins anew", async () => {
      const { upstream, cache, resource } = open({ objects: [thing("one")], delay: 30 });
      const collection = createCollection(watchCacheCollectionOptions({ resource, gcTime: 10 }));
      for (const waits of [false, true]) {
        const subscription = collection.subscribeChanges(() => {}, { includeInitialState: true });
        if (waits) await until(() => collection.size === 1);
        subscription.unsubscribe();
        await until(() => collection.status === "cleaned-up" && views(cache) === 0 && upstream.streams === 0);
        assert.equal(collection.size, 0);
      }
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
      refused({ resource, view: "x" }, /^view is an object, not text/);
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
