// Collections of TanStack DB: live queries, joins, and what of a query selectors answer.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { watchCacheCollectionOptions } from "watchcache/tanstack-db";
import { cores, names, open, thing, until, views } from "./lib/collections.mjs";

for (const [name, core] of cores)
  describe(`queries, by the ${name} core`, () => {
    const { and, BTreeIndex, createCollection, createLiveQueryCollection, eq, gt, inArray, not, or } = core;
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
      ["a namespace that is none", ({ thing }) => eq(thing.metadata.namespace, ""), [], 0],
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

    test("on demand, selected fields are asked of the objects under the names that these have there", async () => {
      const objects = ["web", "db"].map((app) =>
        thing(app, { labels: { "app.kubernetes.io/name": app }, spec: { size: app.length }, status: { phase: app, host: { ip: app } } }),
      );
      const { resource } = open({ objects });
      const select = {
        phase: "status.phase",
        host: "status.host",
        app: "metadata.labels['app.kubernetes.io/name']",
        space: "metadata.namespace",
        long: "long",
      };
      const derive = { long: { paths: ["spec.size"], value: ([size]) => (size > 2 ? "yes" : "no") } };
      const cases = [
        [({ row }) => eq(row.phase, "web"), 1],
        [({ row }) => eq(row.host.ip, "web"), 1],
        [({ row }) => eq(row.app, "web"), 1],
        [({ row }) => and(eq(row.space, "a"), eq(row.phase, "web")), 1],
        [({ row }) => eq(row.long, "yes"), 2],
        [({ row }) => eq(row.key, "a/web"), 2],
      ];
      for (const [where, held] of cases) {
        const collection = createCollection(watchCacheCollectionOptions({ resource, view: { select, derive }, syncMode: "on-demand" }));
        const query = createLiveQueryCollection({ startSync: true, query: (q) => q.from({ row: collection }).where(where) });
        await query.preload();
        assert.deepEqual(names(query), ["web"], String(where));
        assert.equal(collection.size, held, String(where));
        await query.cleanup();
      }
    });

    test("on demand, a join asks the other side for what it needs alone, and gives it back", async () => {
      const indexed = { autoIndex: "eager", defaultIndexType: BTreeIndex, syncMode: "on-demand" };
      const pods = open({ objects: Array.from({ length: 30 }, (_, i) => thing(`pod-${i}`, { spec: { node: `n${i % 10}` } })) });
      const nodes = open({ objects: Array.from({ length: 10 }, (_, i) => ({ metadata: { name: `n${i}` } })) });
      const [pod, node] = [pods, nodes].map(({ resource }) => createCollection(watchCacheCollectionOptions({ resource, ...indexed })));
      const joined = createLiveQueryCollection((q) =>
        q
          .from({ pod })
          .innerJoin({ node }, ({ pod, node }) => eq(pod.spec.node, node.metadata.name))
          .where(({ node }) => eq(node.metadata.name, "n3"))
          .select(({ pod }) => ({ name: pod.metadata.name })),
      );
      await joined.preload();
      assert.deepEqual([joined.size, pod.size, node.size], [3, 3, 1]);
      pods.upstream.put(thing("late", { spec: { node: "n3" } }));
      await until(() => joined.size === 4);
      await joined.cleanup();
      await until(() => pod.size === 0 && node.size === 0);
    });

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
