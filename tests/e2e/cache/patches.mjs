/**
 * Patches, subresources, dry runs and deletions of many through the cache: what the server has afterwards, and what the cache shows.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { WatchCacheError } from "watchcache";
import { assertIntegrity, bare } from "../cache.mjs";
import { withCache } from "./setup.mjs";

/** @param {string} code @param {number} [status] of HTTP */
const refused = (code, status) => (/** @type {unknown} */ error) => {
  assert.ok(error instanceof WatchCacheError, String(error));
  assert.deepEqual([error.code, status === undefined ? undefined : error.status?.code], [code, status], error.message);
  return true;
};

const labelled = (/** @type {string} */ app) => (/** @type {import("../target.mjs").Place} */ place) =>
  place.create("a", { labels: { app } });

/** @param {string} namespace @param {number} replicas */
const deployment = (namespace, replicas) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "registry.invalid/app:1" }] } },
  },
});

/** @param {() => import("../target.mjs").Target} getTarget called when a scenario runs */
export function patchScenarios(getTarget) {
  describe("patches through the cache", () => {
    it("of every type are held when they resolve", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          const key = `${place.namespace}/a`;
          const merged = await pods.patch(key, { metadata: { labels: { app: null, tier: "front" } } }, { type: "merge" });
          assert.equal(pods.peek(key), merged, "the very object that is held");
          assert.deepEqual(merged.metadata.labels, { tier: "front" });
          const operations = [
            { op: "test", path: "/metadata/labels/tier", value: "front" },
            { op: "add", path: "/metadata/annotations", value: { "a/b": "1" } },
            { op: "replace", path: "/metadata/annotations/a~1b", value: "2" },
          ];
          const changed = await pods.patch(key, operations, { type: "json" });
          assert.deepEqual(changed.metadata.annotations, { "a/b": "2" });
          const strategic = { metadata: { labels: { by: "strategic" } } };
          assert.equal((await pods.patch(key, strategic, { type: "strategic" })).metadata.labels.by, "strategic");
          const unchanged = await pods.patch(key, strategic, { type: "strategic" });
          assert.equal(unchanged, pods.peek(key), "no change makes no version");
          assert.deepEqual(bare(pods.peek(key)), bare(await place.api.must("GET", `${place.pods}/a`)));
        },
        { seed: labelled("web") },
      ));

    it("apply adds what is missing, and says whose the fields are", () =>
      withCache(getTarget(), async ({ place, cache }) => {
        const maps = cache.resource({ version: "v1", resource: "configmaps", namespace: place.namespace });
        const key = `${place.namespace}/settings`;
        const wanted = (/** @type {object} */ data) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data });
        const made = await maps.patch(key, wanted({ a: "1" }), { type: "apply", fieldManager: "first" });
        assert.equal(maps.peek(key), made);
        const both = await maps.patch(key, wanted({ b: "2" }), { type: "apply", fieldManager: "second", force: true });
        assert.deepEqual(both.data, { a: "1", b: "2" });
        const { metadata } = await place.api.must("GET", `/api/v1/namespaces/${place.namespace}/configmaps/settings`);
        const managers = metadata.managedFields.map((/** @type {any} */ { manager }) => manager);
        assert.deepEqual(managers.toSorted(), ["first", "second"]);
      }));

    it("that do not fit are refused, and change nothing", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          const key = `${place.namespace}/a`;
          const held = pods.peek(key);
          const stale = { metadata: { resourceVersion: "1", labels: { lost: "update" } } };
          await assert.rejects(pods.patch(key, stale, { type: "merge" }), refused("conflict", 409));
          const test = [{ op: "test", path: "/metadata/labels/app", value: "another" }];
          await assert.rejects(pods.patch(key, test, { type: "json" }), refused("invalid", 422));
          await assert.rejects(pods.patch(`${place.namespace}/none`, {}, { type: "merge" }), refused("not-found", 404));
          assert.equal(pods.peek(key), held);
        },
        { seed: labelled("web") },
      ));
  });

  describe("subresources through the cache", () => {
    it("status is written apart from the rest", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          const key = `${place.namespace}/a`;
          const running = await pods.patch(key, { status: { phase: "Running" } }, { type: "merge", subresource: "status" });
          assert.equal(running.status.phase, "Running");
          assert.equal(pods.peek(key), running);
          const change = (/** @type {any} */ pod) => ({
            ...pod,
            spec: { ...pod.spec, nodeName: "elsewhere" },
            status: { ...pod.status, phase: "Failed" },
          });
          const failed = await pods.update(key, change, { subresource: "status" });
          assert.deepEqual([failed.status.phase, failed.spec.nodeName], ["Failed", undefined], "the rest is none of the status");
        },
        { seed: labelled("web") },
      ));

    it("a scale is read, updated and patched, and its workload shows it", () =>
      withCache(getTarget(), async ({ place, cache }) => {
        const deployments = cache.resource({ group: "apps", version: "v1", resource: "deployments", namespace: place.namespace });
        const key = `${place.namespace}/web`;
        await deployments.create(deployment(place.namespace, 2));
        const scale = await deployments.get(key, { subresource: "scale" });
        assert.deepEqual([scale.kind, scale.spec.replicas], ["Scale", 2]);
        const to = (/** @type {number} */ replicas) => (/** @type {any} */ current) => ({
          ...current,
          spec: { ...current.spec, replicas },
        });
        const updated = await deployments.update(key, to(5), { subresource: "scale" });
        assert.deepEqual([updated.kind, updated.spec.replicas, deployments.peek(key).spec.replicas], ["Scale", 5, 5]);
        const patched = await deployments.patch(key, { spec: { replicas: 3 } }, { type: "merge", subresource: "scale" });
        assert.deepEqual([patched.kind, patched.spec.replicas, deployments.peek(key).spec.replicas], ["Scale", 3, 3]);
        await assert.rejects(deployments.get(key, { subresource: "nonesuch" }), refused("not-found", 404));
      }));

    it("what is not there is refused in the server's words, whoever answers", () =>
      withCache(getTarget(), async ({ place, cache }) => {
        const collection = `/apis/apps/v1/namespaces/${place.namespace}/deployments`;
        const deployments = cache.resource({ group: "apps", version: "v1", resource: "deployments", namespace: place.namespace });
        await deployments.synced();
        const { code, reason, message, details } = (await place.api.get(`${collection}/none`)).body;
        assert.deepEqual(details, { name: "none", group: "apps", kind: "deployments" });
        for (const options of [undefined, { resourceVersion: "0" }, { resourceVersion: deployments.resourceVersion }]) {
          await assert.rejects(deployments.get(`${place.namespace}/none`, options), (/** @type {any} */ error) => {
            assert.equal(error.code, "not-found");
            assert.deepEqual(error.status, { code, reason, message, details });
            return true;
          });
        }
      }));

    it("an eviction is over when its pod is gone", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          const key = `${place.namespace}/a`;
          const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a", namespace: place.namespace } };
          const answer = await pods.create(eviction, { subresource: "eviction" });
          assert.deepEqual([answer.kind, answer.status], ["Status", "Success"]);
          assert.equal(pods.peek(key), undefined);
          await assert.rejects(pods.create(eviction, { subresource: "eviction" }), refused("not-found", 404));
        },
        { seed: labelled("web") },
      ));
  });

  describe("dry runs and deletions of many", () => {
    it("a dry run answers, and keeps nothing", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          const key = `${place.namespace}/a`;
          const held = pods.peek(key);
          const dryRun = true;
          assert.equal((await pods.create(place.pod("b"), { dryRun })).metadata.name, "b");
          const patch = { metadata: { labels: { dry: "yes" } } };
          assert.equal((await pods.patch(key, patch, { type: "merge", dryRun })).metadata.labels.dry, "yes");
          const change = (/** @type {any} */ pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { dry: "too" } } });
          assert.equal((await pods.update(key, change, { dryRun })).metadata.labels.dry, "too");
          await pods.delete(key, { dryRun, gracePeriodSeconds: 0 });
          await pods.deleteCollection({ dryRun });
          await assert.rejects(pods.create(place.pod("Not_A_Name"), { dryRun }), refused("invalid", 422));
          assert.equal(pods.peek(key), held);
          await assertIntegrity(pods, place.api, place.pods);
        },
        { seed: labelled("web") },
      ));

    it("what a selector chooses is deleted together, and shows it", () =>
      withCache(
        getTarget(),
        async ({ place, pods, cache }) => {
          await pods.synced();
          await pods.deleteCollection({ labelSelector: "app=web", gracePeriodSeconds: 0 });
          assert.deepEqual(
            (await pods.list({ resourceVersion: "0" })).items.map((/** @type {any} */ { metadata }) => metadata.name),
            ["b"],
          );
          const everywhere = cache.resource("pods");
          await assert.rejects(everywhere.deleteCollection({ labelSelector: "app=db" }), (error) => {
            refused("invalid", 405)(error);
            assert.match(error.message, /one namespace at a time: name it/);
            return true;
          });
          await everywhere.deleteCollection({ namespace: place.namespace, labelSelector: "app=db", gracePeriodSeconds: 0 });
          assert.equal(everywhere.peek(`${place.namespace}/b`), undefined);
          await assertIntegrity(pods, place.api, place.pods);
        },
        {
          seed: async (place) => {
            for (const [name, app] of [
              ["a", "web"],
              ["b", "db"],
              ["c", "web"],
            ])
              await place.create(name, { labels: { app } });
          },
        },
      ));
  });
}
