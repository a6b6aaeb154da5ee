/**
 * Several namespaces as one resource.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { Recorder, bare, eventually } from "../cache.mjs";
import { Place } from "../target.mjs";
import { withCache } from "./setup.mjs";

/** @typedef {import("../target.mjs").Target} Target */

/**
 * Three namespaces with a pod in each, and a cache for them.
 * @param {Target} target
 * @param {(it: { places: Place[], cache: any, pods: any, traffic: import("../cache.mjs").Traffic, names: string[] }) => Promise<void>} body
 * @param {object} [options] of the cache
 */
async function withNamespaces(target, body, options) {
  const places = [await Place.create(target), await Place.create(target), await Place.create(target)];
  for (const place of places) await place.create("first", { labels: { app: "web" } });
  const names = places.map((place) => place.namespace);
  await withCache(
    target,
    async ({ cache, traffic }) => {
      const pods = cache.resource({ version: "v1", resource: "pods", namespaces: names });
      await body({ places, cache, pods, traffic, names });
    },
    { options },
  );
}

/** Tries until the server takes it. @param {() => Promise<unknown>} request */
async function again(request) {
  for (const deadline = Date.now() + 30_000; ;) {
    try {
      return await request();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** What is held is what the server has in these namespaces. @param {any} pods @param {Place[]} places */
async function assertHolds(pods, places) {
  const listed = await Promise.all(places.map(async (place) => (await place.api.list(place.pods)).items));
  const truth = new Map(listed.flat().map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]));
  const held = () => new Map(pods.view().rows.map((/** @type {any} */ pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]));
  const versions = (/** @type {Map<any, any>} */ all) =>
    JSON.stringify([...all].map(([key, pod]) => [key, pod.metadata.resourceVersion]).sort());
  await eventually(
    () => versions(held()) === versions(truth),
    () => `${versions(truth)}; held: ${versions(held())}`,
  );
  for (const [key, pod] of held()) assert.deepEqual(bare(pod), bare(truth.get(key)));
}

/** @param {() => Target} getTarget called when a scenario runs @param {{ authorization: boolean }} has */
export function namespaceScenarios(getTarget, has) {
  describe("several namespaces as one resource", () => {
    it("holds the objects of all, by one list and one watch each, and tells their changes in one order", () =>
      withNamespaces(getTarget(), async ({ places, pods, traffic, names }) => {
        await pods.synced();
        await assertHolds(pods, places);
        assert.deepEqual([traffic.lists().length, traffic.sockets.length], [3, 3]);
        assert.deepEqual(Object.keys(pods.status.namespaces).sort(), [...names].sort());
        const recorder = new Recorder(pods.watch({ resourceVersion: pods.resourceVersion }));
        for (const place of places) await place.create("second");
        await places[1].patch("first", { metadata: { labels: { app: "db" } } });
        await places[0].delete("first");
        await recorder.count(5);
        recorder.assertGrowing();
        await assertHolds(pods, places);
        assert.equal(pods.view({ labelSelector: "app=web" }).total, 1);
        assert.equal(pods.byIndex("namespace", names[0]).length, 1);

        const second = /** @type {any} */ (recorder.events[1]);
        assert.ok(Number(second.resourceVersion) > Number(second.object.metadata.resourceVersion), "versions of the whole are its own");
        const later = new Recorder(pods.watch({ resourceVersion: second.resourceVersion }));
        await later.count(3);
        assert.deepEqual(
          later.summary(),
          recorder.events
            .slice(2)
            .map((e) => `${e.type} ${e.key}@${e.resourceVersion}`)
            .join(", "),
        );
        const { lastResourceVersion } = await (later.watcher.stop(), later.watcher.ended);
        assert.equal(lastResourceVersion, recorder.events.at(-1)?.resourceVersion);
        await Promise.all([recorder.stop(), later.done]);
      }));

    it("reads and writes in each, and shows what was written", () =>
      withNamespaces(getTarget(), async ({ places, pods, names }) => {
        await pods.synced();
        const key = `${names[2]}/mine`;
        const created = await pods.create(places[2].pod("mine"));
        assert.equal(pods.peek(key), created);
        const updated = await pods.update(key, (/** @type {any} */ pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { a: "b" } } }));
        assert.equal(pods.peek(key), updated);
        const patched = await pods.patch(key, { metadata: { labels: { a: "c" } } }, { type: "merge" });
        assert.equal(pods.peek(key), patched);
        assert.equal((await pods.get(key)).metadata.resourceVersion, patched.metadata.resourceVersion);
        await pods.delete(key, { gracePeriodSeconds: 0 });
        assert.equal(pods.peek(key), undefined);

        const list = await pods.list();
        assert.equal(list.items.length, 3);
        assert.equal((await pods.list({ namespace: names[1] })).items.length, 1);
        assert.equal((await pods.list({ labelSelector: "app=web", resourceVersion: "0" })).items.length, 3);
        await pods.deleteCollection({ namespace: names[1] });
        await eventually(() => pods.byIndex("namespace", names[1]).length === 0, "an empty namespace");
        for (const refused of [
          () => pods.list({ limit: 1 }),
          () => pods.list({ resourceVersion: created.metadata.resourceVersion }),
          () => pods.get(`${names[0]}/first`, { resourceVersion: created.metadata.resourceVersion }),
          () => pods.create({ ...places[0].pod("x"), metadata: { name: "x", namespace: "elsewhere" } }),
          () => pods.create({ ...places[0].pod("x"), metadata: { name: "x" } }),
          () => pods.deleteCollection({ namespace: "elsewhere" }),
        ])
          await assert.rejects(refused, { code: "invalid" });
        const old = new Recorder(pods.watch({ resourceVersion: created.metadata.resourceVersion }));
        await old.done;
        assert.equal(old.events[0]?.object.code ?? old.error?.status?.code, 410);
      }));

    it("goes on where it was when connections are cut and versions forgotten, and ends no watch", () =>
      withNamespaces(getTarget(), async ({ places, pods }) => {
        await pods.synced();
        const recorder = new Recorder(pods.watch({ resourceVersion: pods.resourceVersion }));
        const target = getTarget();
        await target.drop();
        await places[0].aside().create("after-the-cut");
        await recorder.count(1);
        await target.refuse("unavailable");
        await target.drop();
        await places[1].aside().create("unseen");
        await places[2].aside().delete("first");
        await target.expire();
        await target.refuse(undefined);
        await recorder.count(3);
        assert.deepEqual(
          recorder.events
            .slice(1)
            .map((e) => `${e.type} ${e.object.metadata.name}`)
            .sort(),
          ["ADDED unseen", "DELETED first"],
        );
        recorder.assertGrowing();
        await assertHolds(pods, places);
        assert.equal(recorder.ended, false);
        await recorder.stop();
      }));

    it("takes namespaces and gives them up while it runs, and is found by those it has", () =>
      withNamespaces(getTarget(), async ({ places, cache, pods, names }) => {
        await pods.synced();
        const recorder = new Recorder(pods.watch({ resourceVersion: pods.resourceVersion }));
        const kept = pods.peek(`${names[1]}/first`);
        pods.setNamespaces([names[1]]);
        await recorder.count(2);
        assert.deepEqual(
          recorder.events.map((e) => e.type),
          ["DELETED", "DELETED"],
        );
        assert.equal(pods.peek(`${names[1]}/first`), kept, "what stays is not touched");
        assert.deepEqual(Object.keys(pods.status.namespaces), [names[1]]);
        pods.setNamespaces([names[1], names[2], names[2]]);
        await recorder.count(3);
        await assertHolds(pods, places.slice(1));
        const spec = { version: "v1", resource: "pods" };
        assert.equal(cache.resource({ ...spec, namespaces: [names[2], names[1]] }), pods, "in any order");
        assert.notEqual(cache.resource({ ...spec, namespaces: names }), pods);
        pods.setNamespaces([]);
        await Promise.all([eventually(() => pods.size === 0, "no rows"), pods.refresh()]);
        assert.deepEqual(pods.status.namespaces, {});
        assert.equal(pods.status.phase, "live");
        assert.throws(() => pods.setNamespaces(["a/b"]), { code: "invalid" });
        assert.throws(() => pods.setNamespaces("a"), { code: "invalid" });
        assert.throws(() => pods.setNamespaces(undefined), { code: "invalid" }, "which is not all of them");
        assert.throws(() => cache.resource("pods").setNamespaces([names[0]]), { code: "invalid" });
        assert.throws(() => cache.resource({ ...spec, namespace: "a", namespaces: ["b"] }), { code: "invalid" });
        await recorder.stop();
      }));

    it("closes with its cache, also where another has its name", () =>
      withNamespaces(getTarget(), async ({ cache, pods, traffic, names }) => {
        const one = cache.resource({ version: "v1", resource: "pods", namespaces: names.slice(1) });
        await Promise.all([pods.synced(), one.synced()]);
        pods.setNamespaces(names.slice(1));
        assert.equal(cache.resource({ version: "v1", resource: "pods", namespaces: names.slice(1) }), one);
        await eventually(() => pods.size === 2, "two rows");
        await cache.close();
        assert.deepEqual([pods.status.phase, one.status.phase], ["closed", "closed"]);
        await eventually(() => traffic.sockets.every(({ socket }) => socket.readyState === 3), "sockets that are all closed");
      }));

    it("takes new namespaces in a handler, twice in one turn, and not after its end", () =>
      withNamespaces(getTarget(), async ({ places, pods, names }) => {
        pods.setNamespaces([names[0]]);
        await pods.synced();
        const informer = pods.informer();
        /** @type {string[]} */
        const told = [];
        informer.addEventHandler((/** @type {any} */ { type, key }) => {
          told.push(`${type} ${key}`);
          if (type === "add" && key === `${names[0]}/first`) pods.setNamespaces([names[1]]);
        });
        await informer.synced;
        await eventually(() => pods.peek(`${names[1]}/first`) !== undefined && pods.size === 1, "the other namespace alone");
        await eventually(
          () => told.length === 3,
          () => told.join(),
        );
        assert.deepEqual(told.slice(0, 1), [`add ${names[0]}/first`]);

        pods.setNamespaces([names[0], names[2]]);
        pods.setNamespaces(names);
        pods.setNamespaces([names[2]]);
        assert.deepEqual(pods.peek(`${names[2]}/first`), undefined, "not before it is there");
        await eventually(() => pods.size === 1 && pods.peek(`${names[2]}/first`) !== undefined, "what was said last");
        await assertHolds(pods, [places[2]]);
        assert.deepEqual(Object.keys(pods.status.namespaces), [names[2]]);
        // An array of the user's that changes later is no wish.
        const given = [names[1]];
        pods.setNamespaces(given);
        given.push(names[0]);
        await eventually(() => pods.peek(`${names[1]}/first`) !== undefined && pods.size === 1, "one namespace");
        pods.close();
        assert.throws(() => pods.setNamespaces(names), { code: "closed" });
      }));

    it("follows a namespace that is deleted and made anew", () =>
      withNamespaces(getTarget(), async ({ places, pods, names }) => {
        await pods.synced();
        const namespaces = "/api/v1/namespaces";
        const { api } = places[0];
        const before = pods.peek(`${names[1]}/first`).metadata.uid;
        await places[1].delete("first");
        await api.delete(`${namespaces}/${names[1]}`);
        await eventually(() => pods.size === 2, "two rows");
        // An API server waits for a controller, which says that all is gone from it. None runs here.
        const ended = await api.request("GET", `${namespaces}/${names[1]}`);
        if (ended.status === 200) {
          const body = { ...JSON.parse(ended.text), spec: { finalizers: [] } };
          await api.request("PUT", `${namespaces}/${names[1]}/finalize`, { body });
        }
        // Its service account comes a moment later.
        await again(() => api.create(namespaces, { metadata: { name: names[1] } }));
        await again(() => places[1].create("first"));
        await eventually(() => pods.size === 3, "three rows");
        assert.notEqual(pods.peek(`${names[1]}/first`).metadata.uid, before);
        await eventually(
          () => pods.status.phase === "live",
          () => JSON.stringify(pods.status.namespaces),
        );
        await assertHolds(pods, places);
      }));

    it("two hundred of them, each with a list and a socket", () =>
      withNamespaces(getTarget(), async ({ cache, traffic, names }) => {
        const many = [...names, ...Array.from({ length: 197 }, (_, i) => `nobody-made-this-${i}`)];
        const pods = cache.resource({ version: "v1", resource: "pods", namespaces: many });
        await pods.synced();
        assert.deepEqual([pods.size, traffic.lists().length], [3, 200]);
        await eventually(() => pods.status.phase === "live", "live");
        await eventually(() => traffic.sockets.filter(({ socket }) => socket.readyState === 1).length === 200, "200 sockets");
        pods.setNamespaces(names);
        await eventually(() => traffic.sockets.filter(({ socket }) => socket.readyState === 1).length === 3, "three sockets");
      }));

    it("tells handlers of an object's own version, whatever a watch is told", () =>
      withNamespaces(getTarget(), async ({ places, pods }) => {
        await pods.synced();
        const recorder = new Recorder(pods.watch({ resourceVersion: pods.resourceVersion }));
        /** @type {any[]} */
        const told = [];
        const informer = pods.informer();
        informer.addEventHandler((/** @type {any} */ event) => told.push(event));
        await informer.synced;
        await places[0].create("second");
        await recorder.count(1);
        await eventually(() => told.some((event) => event.key.endsWith("/second")), "the handler's event");
        const event = told.find((one) => one.key.endsWith("/second"));
        assert.equal(event.resourceVersion, event.object.metadata.resourceVersion);
        assert.notEqual(recorder.events[0]?.resourceVersion, event.resourceVersion);
        await Promise.all([recorder.stop(), informer.stop()]);
      }));

    it("as rows of a Table, and polled", () =>
      withNamespaces(getTarget(), async ({ places, cache, names }) => {
        const spec = { version: "v1", resource: "pods", namespaces: names };
        const table = cache.resource({ ...spec, as: "Table" });
        const polled = cache.resource({ ...spec, poll: { everyMs: 100 } });
        await Promise.all([table.synced(), polled.synced()]);
        assert.deepEqual([table.size, table.columns[0].name, polled.size], [3, "Name", 3]);
        await places[0].create("second");
        await eventually(() => table.size === 4 && polled.size === 4, "the new pod in both");
      }));

    it(
      "names a namespace that the server refuses, and shows the others",
      { skip: !has.authorization && "this server has no rights" },
      () => {
        const target = getTarget();
        return withNamespaces(
          target,
          async ({ places, pods, names }) => {
            const allow = async (/** @type {string} */ namespace) => {
              const rights = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
              const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] }];
              await places[0].api.create(`${rights}/roles`, { metadata: { name: "look" }, rules });
              await places[0].api.create(`${rights}/rolebindings`, {
                metadata: { name: "look" },
                roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "look" },
                subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "nobody" }],
              });
            };
            await allow(names[0]);
            await allow(names[1]);
            /** @type {any[]} */
            const errors = [];
            pods.addEventListener("error", (/** @type {any} */ { detail }) => errors.push(detail.error));
            await pods.synced();
            await assertHolds(pods, places.slice(0, 2));
            assert.deepEqual([pods.status.phase, pods.status.stale], ["live", false]);
            const refused = pods.status.namespaces[names[2]];
            assert.deepEqual([refused.phase, refused.error.code], ["failed", "forbidden"]);
            assert.ok(
              errors.some((error) => error.code === "forbidden" && error.message.includes(names[2])),
              String(errors),
            );
            await assert.rejects(pods.list(), (/** @type {any} */ error) => error.code === "forbidden" && error.message.includes(names[2]));
            // Rights are looked up again by a try that somebody asks for.
            await allow(names[2]);
            await eventually(() => (pods.resume(), pods.size === 3), "the rows of the third");
            await eventually(() => pods.status.namespaces[names[2]].phase === "live", "the third to be live");
            assert.equal(pods.status.namespaces[names[2]].error, undefined);
          },
          { auth: () => ({ token: target.powerless }) },
        );
      },
    );
  });
}
