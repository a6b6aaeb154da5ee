/**
 * Writes through the cache itself: what the server has afterwards, and what the cache shows when they are done.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { WatchCacheError } from "watchcache";
import { assertIntegrity, bare, eventually } from "../cache.mjs";
import { concurrently } from "../wire.mjs";
import { withCache } from "./setup.mjs";

/** @param {any} object @param {string} name */
const annotation = (object, name) => Number(object.metadata.annotations?.[name] ?? 0);

/** Counts an annotation up, in the copy that it is given. @param {string} name */
const countUp = (name) => (/** @type {any} */ pod) => {
  pod.metadata.annotations = { ...pod.metadata.annotations, [name]: String(annotation(pod, name) + 1) };
  return pod;
};

/** @param {string} code @param {RegExp} [message] */
const refused = (code, message) => (/** @type {unknown} */ error) => {
  assert.ok(error instanceof WatchCacheError, String(error));
  assert.equal(error.code, code, error.message);
  if (message) assert.match(error.message, message);
  return true;
};

/** @param {() => import("../target.mjs").Target} getTarget called when a scenario runs */
export function ownWriteScenarios(getTarget) {
  describe("writes through the cache", () => {
    it("are held when they resolve: created, changed, deleted", () =>
      withCache(getTarget(), async ({ place, pods }) => {
        const key = `${place.namespace}/a`;
        const created = await pods.create(place.pod("a", { labels: { app: "web" } }));
        assert.equal(pods.peek(key), created, "the very object that is held");
        assert.deepEqual(bare(created), bare(await place.api.must("GET", `${place.pods}/a`)));

        const updated = await pods.update(key, (/** @type {any} */ pod) => {
          pod.metadata.labels.app = "api";
          return pod;
        });
        assert.equal(pods.peek(key), updated);
        assert.equal(updated.metadata.labels.app, "api");
        assert.equal(created.metadata.labels.app, "web", "what was shown before stays as it was");
        assert.equal(updated.metadata.uid, created.metadata.uid);

        await pods.delete(key);
        assert.equal(pods.peek(key), undefined);
        assert.equal((await place.api.get(`${place.pods}/a`)).status, 404);
        await assertIntegrity(pods, place.api, place.pods);
      }));

    it("lose nothing when several caches change one object at once", () =>
      withCache(
        getTarget(),
        async ({ place, pods, open, spec }) => {
          const other = open();
          try {
            const theirs = other.resource(spec);
            await Promise.all([pods.synced(), theirs.synced()]);
            const key = `${place.namespace}/a`;
            await concurrently(24, (i) => (i % 2 ? pods : theirs).update(key, countUp("count")));
            const truth = await place.api.must("GET", `${place.pods}/a`);
            assert.equal(annotation(truth, "count"), 24);
            await assertIntegrity(pods, place.api, place.pods);
          } finally {
            await other.close();
          }
        },
        { seed: (place) => place.create("a") },
      ));

    it("keep what the cache does not hold: managedFields, and every stripped field", () =>
      withCache(
        getTarget(),
        async ({ place, open, spec }) => {
          const managers = (/** @type {any} */ object) => object.metadata.managedFields.map((/** @type {any} */ entry) => entry.manager);
          for (const strip of [undefined, ["metadata.managedFields", "spec"]]) {
            const cache = open({ strip });
            try {
              const pods = cache.resource(spec);
              await pods.synced();
              const before = await place.api.must("GET", `${place.pods}/a`);
              const name = strip ? "stripped" : "plain";
              const updated = await pods.update(`${place.namespace}/a`, countUp(name));
              assert.equal("managedFields" in updated.metadata, false);
              assert.equal("spec" in updated, !strip, "the answer is as it is held");
              const after = await place.api.must("GET", `${place.pods}/a`);
              assert.deepEqual(after.spec, before.spec);
              assert.equal(annotation(after, name), 1);
              assert.ok(managers(before).includes("somebody") && managers(after).includes("somebody"), "who owns which field is known");
            } finally {
              await cache.close();
            }
          }
        },
        { seed: (place) => place.api.request("POST", place.pods, { headers: { "user-agent": "somebody/1" }, body: place.pod("a") }) },
      ));

    it("leave an object alone, or fail with what the function throws", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          const key = `${place.namespace}/a`;
          const held = pods.peek(key);
          assert.equal(await pods.update(key, () => undefined), held);
          const mine = new RangeError("mine");
          await assert.rejects(
            pods.update(key, () => {
              throw mine;
            }),
            (error) => error === mine,
          );
          assert.equal(await pods.update(key, (/** @type {any} */ pod) => pod), held, "no change makes no version");
        },
        { seed: (place) => place.create("a") },
      ));

    it("are refused with the server's own words", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          const key = `${place.namespace}/a`;
          const { uid } = pods.peek(key).metadata;
          await assert.rejects(pods.create(place.pod("a")), refused("conflict", /^pods "a" already exists$/));
          await assert.rejects(pods.create(place.pod("Not_A_Name")), (error) => {
            refused("invalid", /is invalid: metadata\.name: Invalid value: "Not_A_Name"/)(error);
            const { status } = /** @type {WatchCacheError} */ (error);
            assert.equal(status?.code, 422);
            assert.equal(status?.details?.causes?.[0]?.field, "metadata.name");
            return true;
          });
          await assert.rejects(
            pods.update(`${place.namespace}/b`, (/** @type {any} */ pod) => pod),
            refused("not-found", /"b" not found$/),
          );
          await assert.rejects(pods.update("elsewhere/a", countUp("x")), refused("invalid", /does not match the namespace/));
          await assert.rejects(pods.delete(`${place.namespace}/b`), refused("not-found", /"b" not found$/));
          await assert.rejects(pods.delete(key, { preconditions: { uid: "another" } }), refused("conflict", /UID in the precondition/));
          await assert.rejects(
            pods.delete(key, { preconditions: { resourceVersion: "1" } }),
            refused("conflict", /ResourceVersion in the precondition/),
          );
          assert.ok(pods.peek(key), "still there");
          await pods.delete(key, { preconditions: { uid, resourceVersion: pods.peek(key).metadata.resourceVersion } });
          assert.equal(pods.peek(key), undefined);
        },
        { seed: (place) => place.create("a") },
      ));

    it("reach every namespace from a resource that spans them, also where deletions give no object back", () =>
      withCache(getTarget(), async ({ place, cache }) => {
        const maps = cache.resource("configmaps");
        const created = await maps.create({ metadata: { namespace: place.namespace, generateName: "settings-" }, data: { a: "1" } });
        const key = `${place.namespace}/${created.metadata.name}`;
        assert.match(key, /\/settings-.+$/);
        const updated = await maps.update(key, (/** @type {any} */ map) => ({ ...map, data: { ...map.data, b: "2" } }));
        assert.deepEqual(updated.data, { a: "1", b: "2" });
        await maps.delete(key);
        assert.equal(maps.peek(key), undefined);
        const path = `/api/v1/namespaces/${place.namespace}/configmaps/${created.metadata.name}`;
        assert.equal((await place.api.get(path)).status, 404);
      }));

    it("have happened although the stream is silent: what is held follows later", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          await eventually(() => pods.status.phase === "live", "live");
          const key = `${place.namespace}/a`;
          const held = pods.peek(key);
          await place.target.freeze();
          const updated = await pods.update(key, countUp("count"));
          assert.equal(annotation(updated, "count"), 1);
          assert.equal(pods.peek(key), held, "no write shows before its event");
          await eventually(() => annotation(pods.peek(key), "count") === 1, "the event, by a new stream");
          await assertIntegrity(pods, place.api, place.pods);
        },
        { options: { idleTimeout: 6000 }, seed: (place) => place.create("a") },
      ));
  });
}
