// Collections of TanStack DB: writes, with what shows before and after the server has answered.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { watchCacheCollectionOptions } from "watchcache/tanstack-db";
import { cores, names, open, thing, until } from "./lib/collections.mjs";

for (const [name, core] of cores)
  describe(`writes, by the ${name} core`, () => {
    const { createCollection, createLiveQueryCollection } = core;
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

    test("changes of one object in quick succession are made one upon the other, whoever waits for them", async () => {
      const { upstream, resource } = open({ objects: [thing("one", { spec: { size: 1 } })], delay: 5 });
      const collection = createCollection(watchCacheCollectionOptions({ resource }));
      await collection.preload();
      const seen = [];
      collection.subscribeChanges((changes) => seen.push(...changes.map(({ value }) => value.spec.size)));
      const writes = [2, 3, 4].map((size) => collection.update("a/one", (draft) => void (draft.spec.size = size)));
      await Promise.all(writes.map(({ isPersisted }) => isPersisted.promise));
      assert.equal(upstream.objects[0].spec.size, 4);
      assert.deepEqual(seen, [...seen].sort(), "no row goes back");
      const made = collection.insert(thing("two", { spec: { size: 1 } }));
      const removed = collection.delete("a/two");
      await Promise.all([made, removed].map(({ isPersisted }) => isPersisted.promise));
      assert.deepEqual(names(collection), ["one"]);
    });

    test("transactions over the same objects, in any order, do not wait for each other for ever", async () => {
      const { upstream, resource } = open({ objects: [thing("one"), thing("two")], delay: 2 });
      const collection = createCollection(watchCacheCollectionOptions({ resource }));
      await collection.preload();
      const set = (keys, size) => collection.update(keys, (drafts) => drafts.forEach((draft) => void (draft.spec = { size })));
      const writes = [set(["a/one", "a/two"], 1), set(["a/two", "a/one"], 2), set(["a/one", "a/two"], 3)];
      await Promise.all(writes.map(({ isPersisted }) => isPersisted.promise));
      assert.deepEqual(
        upstream.objects.map(({ spec }) => spec.size),
        [3, 3],
      );
    });

    test("a change upon one that was refused is refused, too, where it needs it; what was rolled back is not sent", async () => {
      const { upstream, resource } = open({ objects: [thing("one", { spec: { size: 1 } })], delay: 5 });
      const collection = createCollection(watchCacheCollectionOptions({ resource }));
      await collection.preload();
      upstream.fail({ code: 403, reason: "Forbidden", message: "not you" }, { verbs: ["update"], times: 1 });
      const set = (change) => collection.update("a/one", change);
      const writes = [
        set((draft) => void (draft.spec.size = 2)),
        set((draft) => void (draft.spec.size = 3)),
        set((draft) => void (draft.status = { phase: "Running" })),
        set((draft) => void (draft.status.phase = "Failed")),
      ];
      writes[3].rollback();
      const ends = await Promise.allSettled(writes.map(({ isPersisted }) => isPersisted.promise));
      const codes = ends.slice(0, 3).map(({ status, reason }) => reason?.code ?? status);
      assert.deepEqual(codes, ["forbidden", "conflict", "fulfilled"]);
      assert.match(ends[1].reason.message, /spec.size of a\/one is not what this change was made of/);
      assert.equal(ends[3].status, "rejected");
      const [{ spec, status }] = upstream.objects;
      assert.deepEqual({ spec, status }, { spec: { size: 1 }, status: { phase: "Running" } });
      assert.equal(collection.get("a/one").spec.size, 1);
    });

    test("another object of the same name is neither changed nor deleted", async () => {
      const { upstream, resource } = open({ objects: [thing("one", { spec: { size: 1 } })] });
      const collection = createCollection(watchCacheCollectionOptions({ resource }));
      await collection.preload();
      for (const [wanted, write] of [
        ["update", () => collection.update("a/one", (draft) => void (draft.spec.size = 2))],
        ["delete", () => collection.delete("a/one")],
      ]) {
        upstream.before = ({ verb }) => {
          if (verb !== wanted) return;
          upstream.before = undefined;
          upstream.remove("a/one");
          upstream.put(thing("one", { spec: { size: 1 } }));
        };
        await assert.rejects(write().isPersisted.promise, { code: "conflict" }, wanted);
        assert.equal(upstream.objects[0]?.spec.size, 1);
        await until(() => collection.get("a/one")?.metadata.uid === upstream.objects[0].metadata.uid);
      }
    });

    test("what TanStack DB adds to rows is not written", async () => {
      const { upstream, resource } = open({ objects: [thing("one", { spec: { size: 1 } })] });
      const collection = createCollection(watchCacheCollectionOptions({ resource }));
      const query = createLiveQueryCollection((q) => q.from({ thing: collection }));
      await query.preload();
      const [row] = query.toArray;
      assert.equal(row.$key, "a/one");
      await collection.insert({ ...row, metadata: { namespace: "a", name: "copy" } }).isPersisted.promise;
      assert.deepEqual(Object.keys(upstream.objects[1]).sort(), ["metadata", "spec"]);
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
