/**
 * A cache that starts: pages, selectors, scopes, transports.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { WatchCacheError } from "watchcache";
import { Recorder, assertIntegrity, bare, eventually } from "../cache.mjs";
import { Place } from "../target.mjs";
import { bearerProtocols, concurrently } from "../wire.mjs";
import { numbered, withCache } from "./setup.mjs";

/**
 * @param {() => import("../target.mjs").Target} getTarget called when a scenario runs
 */
export function startScenarios(getTarget) {
  describe("a cache that starts", () => {
    it("lists in pages, then is live", () =>
      withCache(
        getTarget(),
        async ({ place, pods, traffic }) => {
          /** @type {any[]} */
          const phases = [];
          pods.addEventListener("status", () => phases.push(pods.status));
          await pods.synced();
          assert.equal(pods.size, 35);
          await eventually(() => pods.status.phase === "live", "live");
          assert.equal(pods.status.stale, false);
          await assertIntegrity(pods, place.api, place.pods);
          const listing = phases.filter((s) => s.phase === "listing" && s.listed);
          assert.ok(
            listing.some((s) => s.listed.loaded === 10 && s.listed.remaining === 25),
            JSON.stringify(phases),
          );
          if (place.target.keys) return; // what was asked is in the words of the Kubernetes API
          assert.deepEqual(
            traffic.fetches.map(({ url }) => [
              url.pathname,
              url.searchParams.get("limit"),
              url.searchParams.get("pretty"),
              url.searchParams.has("continue"),
            ]),
            [false, true, true, true].map((more) => [place.pods, "10", "false", more]),
          );
          const [{ url, protocols }] = traffic.sockets;
          assert.equal(url.pathname, place.pods);
          assert.equal(url.searchParams.get("allowWatchBookmarks"), "true");
          assert.match(url.searchParams.get("resourceVersion") ?? "", /^[1-9]\d*$/);
          assert.deepEqual(protocols, bearerProtocols(place.target.token));
          for (const { url, headers } of traffic.fetches) {
            assert.equal(headers.get("authorization"), `Bearer ${place.target.token}`);
            assert.ok(!url.href.includes(place.target.token));
          }
          assert.ok(!url.href.includes(place.target.token));
        },
        { options: { pageSize: 10 }, seed: (place) => concurrently(35, (i) => place.create(numbered(i))) },
      ));

    it("pages of any size give the same state", () =>
      withCache(
        getTarget(),
        async ({ place, open, spec }) => {
          for (const pageSize of [1, 7, 12, 500]) {
            const cache = open({ pageSize });
            const pods = cache.resource(spec);
            await pods.synced();
            await assertIntegrity(pods, place.api, place.pods);
            await cache.close();
          }
        },
        { seed: (place) => concurrently(12, (i) => place.create(numbered(i))) },
      ));

    it("asks the server to select, and selects itself", () =>
      withCache(
        getTarget(),
        async ({ place, cache, pods, traffic }) => {
          await pods.synced();
          assert.equal(traffic.lists()[0].url.searchParams.get("labelSelector"), "app=web");
          assert.equal(pods.size, 10);
          const onNode = pods.watch({
            fieldSelector: "spec.nodeName=node-1",
            resourceVersion: "0",
            sendInitialEvents: true,
            resourceVersionMatch: "NotOlderThan",
            allowWatchBookmarks: true,
          });
          const seen = new Recorder(onNode);
          await eventually(() => seen.events.some((e) => e.initialEventsEnd), "the end of the initial events");
          const initial = seen.events.length;
          assert.deepEqual(
            seen.events.slice(0, -1).map((e) => `${e.type} ${e.object.metadata.name}`),
            [2, 6, 10, 14, 18].map((i) => `ADDED ${numbered(i)}`),
          );
          await place.label(numbered(2), { tier: "front" });
          await place.label(numbered(6), { app: "db" });
          await place.label(numbered(1), { app: "web" });
          await place.label(numbered(6), { app: "web" });
          await seen.count(initial + 4);
          assert.deepEqual(
            seen.events.slice(initial).map((e) => `${e.type} ${e.object.metadata.name}`),
            [`MODIFIED ${numbered(2)}`, `DELETED ${numbered(6)}`, `ADDED ${numbered(1)}`, `ADDED ${numbered(6)}`],
          );
          seen.assertGrowing(initial - 1);
          await seen.stop();
          assert.deepEqual(
            (await pods.list({ resourceVersion: "0", labelSelector: "tier in (front)" })).items.map(
              (/** @type {any} */ o) => o.metadata.name,
            ),
            [numbered(2)],
          );
          await assertIntegrity(pods, place.api, place.pods, { labelSelector: "app=web" });
          // Any scalar path is a field here, though the apiserver knows only a few.
          const image = await cache
            .resource({ version: "v1", resource: "pods", namespace: place.namespace, labelSelector: "app=web" })
            .list({ resourceVersion: "0", fieldSelector: "metadata.labels.tier=front" });
          assert.equal(image.items.length, 1);
          await assert.rejects(
            pods.list({ labelSelector: "a==b==c" }),
            (error) => error instanceof WatchCacheError && error.code === "invalid",
          );
        },
        {
          spec: { labelSelector: "app=web" },
          seed: (place) =>
            concurrently(20, (i) =>
              place.create(numbered(i), { labels: { app: i % 2 ? "db" : "web" }, node: i % 4 === 2 || i === 1 ? "node-1" : "node-2" }),
            ),
        },
      ));

    it("a watch with initial events: the state, the annotated bookmark, what follows", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          const seen = new Recorder(
            pods.watch({ resourceVersion: "0", sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true }),
          );
          await eventually(() => seen.events.some((e) => e.type === "BOOKMARK"), "the bookmark");
          assert.deepEqual(
            seen.events.map((e) => `${e.type} ${e.key}`.trim()).slice(0, 8),
            Array.from({ length: 8 }, (_, i) => `ADDED ${place.namespace}/${numbered(i)}`),
          );
          assert.equal(seen.events[8].initialEventsEnd, true);
          assert.deepEqual(seen.events[8].object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
          const now = await place.label(numbered(3), { app: "web" });
          await seen.count(10);
          assert.equal(seen.events[9].type, "MODIFIED");
          assert.equal(seen.events[9].resourceVersion, now.metadata.resourceVersion);
          assert.deepEqual(bare(seen.events[9].object), bare(now));
          await seen.stop();
          assert.equal((await seen.watcher.ended).reason, "stopped");
        },
        { seed: (place) => concurrently(8, (i) => place.create(numbered(i))) },
      ));

    it("takes all namespaces, and knows them by an index", () =>
      withCache(
        getTarget(),
        async ({ place, cache, traffic }) => {
          const other = await Place.create(place.target);
          await concurrently(7, (i) => other.create(numbered(i)));
          const everywhere = cache.resource({ version: "v1", resource: "pods" });
          await everywhere.synced();
          assert.equal(traffic.lists()[0].url.pathname, "/api/v1/pods");
          const names = (/** @type {string} */ namespace) =>
            everywhere.byIndex("namespace", namespace).map((/** @type {any} */ o) => o.metadata.name);
          assert.deepEqual(names(place.namespace).sort(), [0, 1, 2, 3].map(numbered));
          assert.equal(names(other.namespace).length, 7);
          await other.delete(numbered(3));
          await place.create("pod-new");
          await assertIntegrity(everywhere, place.api, "/api/v1/pods");
          assert.equal(names(other.namespace).length, 6);
          assert.equal(names(place.namespace).length, 5);
        },
        { seed: (place) => concurrently(4, (i) => place.create(numbered(i))) },
      ));

    it("takes resources of a group and of the cluster", () =>
      withCache(getTarget(), async ({ place, cache }) => {
        const path = `/apis/apps/v1/namespaces/${place.namespace}/deployments`;
        const labels = { app: "web" };
        const deployment = {
          metadata: { name: "web", labels },
          spec: {
            replicas: 1,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "registry.invalid/app:1" }] } },
          },
        };
        await place.api.create(path, { apiVersion: "apps/v1", kind: "Deployment", ...deployment });
        const deployments = cache.resource({ group: "apps", version: "v1", resource: "deployments", namespace: place.namespace });
        const namespaces = cache.resource({ version: "v1", resource: "namespaces" });
        await Promise.all([deployments.synced(), namespaces.synced()]);
        await place.api.patch(`${path}/web`, { spec: { replicas: 3 } });
        await eventually(() => deployments.peek(`${place.namespace}/web`)?.spec.replicas === 3, "the scaled deployment");
        await assertIntegrity(deployments, place.api, path);
        assert.equal(namespaces.peek(place.namespace)?.metadata.name, place.namespace);
        await assertIntegrity(namespaces, place.api, "/api/v1/namespaces");
      }));

    it("answers a read without a version from now, whatever else was written meanwhile", () =>
      withCache(
        getTarget(),
        async ({ place, pods, traffic }) => {
          await pods.synced();
          // The version counts the writes of every resource; of these, the watch of pods hears nothing.
          await place.api.create(`/api/v1/namespaces/${place.namespace}/configmaps`, { metadata: { name: "elsewhere" } });
          const before = traffic.fetches.length;
          const list = await pods.list();
          assert.deepEqual(
            list.items.map((/** @type {any} */ o) => o.metadata.name),
            [0, 1, 2].map(numbered),
          );
          assert.equal(list.items[1], pods.peek(`${place.namespace}/${numbered(1)}`), "one decoded object for all readers");
          assert.ok(traffic.fetches.length > before, "only the server knows");
          const written = await place.create("pod-new");
          const one = await pods.get(`${place.namespace}/pod-new`);
          assert.equal(one.metadata.resourceVersion, written.metadata.resourceVersion);
          await assert.rejects(
            pods.get(`${place.namespace}/none`),
            (error) => error instanceof WatchCacheError && error.code === "not-found",
          );
        },
        { seed: (place) => concurrently(3, (i) => place.create(numbered(i))) },
      ));

    it("streams its watch over fetch as well", () =>
      withCache(
        getTarget(),
        async ({ place, pods, traffic }) => {
          await pods.synced();
          await concurrently(20, (i) => place.create(numbered(i)));
          await place.delete(numbered(7));
          await assertIntegrity(pods, place.api, place.pods);
          assert.equal(traffic.sockets.length, 0);
          assert.equal(traffic.lists().length, 1);
        },
        { options: { transport: "fetch" } },
      ));
  });
}
