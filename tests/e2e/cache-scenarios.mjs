/**
 * The package against a server, through its public API, while the server and the network misbehave. The same scenarios
 * run against the embedded server and against kube-apiserver.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createWatchCache, WatchCacheError } from "watchcache";
import { Recorder, Traffic, assertIntegrity, bare, eventually } from "./cache.mjs";
import { Place } from "./target.mjs";
import { bearerProtocols, compareVersions, concurrently } from "./wire.mjs";

/** @typedef {import("./target.mjs").Target} Target */

/** @param {number} i */
const numbered = (i) => `pod-${String(i).padStart(3, "0")}`;

/** Retries come soon, so that a scenario spends its time on the server and not on waiting. */
const RETRY = { initialMs: 50, factor: 2, capMs: 500, jitter: 0.5 };

/**
 * Runs `body` with a cache on a namespace of its own, and closes the cache whatever happens.
 * @param {Target} target
 * @param {(it: { place: Place, traffic: Traffic, pods: any, cache: any, open: (options?: object) => any, spec: object }) => Promise<void>} body
 * @param {{ options?: object, spec?: object, seed?: (place: Place) => Promise<unknown> }} [setup] `seed` writes before the cache looks
 */
async function withCache(target, body, { options, spec: extra, seed } = {}) {
  const place = await Place.create(target);
  await seed?.(place);
  const traffic = new Traffic(target.url);
  const open = (/** @type {object | undefined} */ more = undefined) =>
    createWatchCache({
      server: target.url,
      auth: () => ({ token: target.token }),
      fetch: traffic.fetch,
      WebSocket: /** @type {any} */ (traffic.WebSocket),
      retry: RETRY,
      ...options,
      ...more,
    });
  const cache = open();
  const spec = { version: "v1", resource: "pods", namespace: place.namespace, ...extra };
  try {
    await body({ place, traffic, cache, pods: cache.resource(spec), open, spec });
  } finally {
    await cache.close();
    await target.refuse(undefined);
  }
}

/**
 * Follows the keys and versions of a resource through every change of a view: the rows a user would see.
 * @param {any} resource
 */
function follow(resource) {
  const view = resource.view();
  /** @type {Map<string, string>[]} */
  const states = [];
  const note = () => states.push(new Map(view.getSnapshot().map((/** @type {any} */ o) => [o.metadata.name, o.metadata.resourceVersion])));
  const stop = view.subscribe(note);
  note();
  return {
    states,
    stop() {
      stop();
      view.close();
    },
  };
}

/**
 * Declares the package-level scenarios.
 * @param {() => Target} getTarget called when a scenario runs
 * @param {{ authorization: boolean }} has what the server has beside the API: rights of users
 */
export function cacheScenarios(getTarget, { authorization }) {
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

          assert.deepEqual(
            traffic.fetches.map(({ url }) => [
              url.pathname,
              url.searchParams.get("limit"),
              url.searchParams.get("pretty"),
              url.searchParams.has("continue"),
            ]),
            [false, true, true, true].map((more) => [place.pods, "10", "false", more]),
          );
          const listing = phases.filter((s) => s.phase === "listing" && s.listed);
          assert.ok(
            listing.some((s) => s.listed.loaded === 10 && s.listed.remaining === 25),
            JSON.stringify(phases),
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
            (await pods.list({ labelSelector: "tier in (front)" })).items.map((/** @type {any} */ o) => o.metadata.name),
            [numbered(2)],
          );
          await assertIntegrity(pods, place.api, place.pods, { labelSelector: "app=web" });
          // Any scalar path is a field here, though the apiserver knows only a few.
          const image = await cache
            .resource({ version: "v1", resource: "pods", namespace: place.namespace, labelSelector: "app=web" })
            .list({ fieldSelector: "metadata.labels.tier=front" });
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
            pods.watch({ sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true }),
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
          assert.ok(everywhere.indexValues("namespace").includes(other.namespace));
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

  describe("writes of a second client", () => {
    it("appear exactly once and in order", () =>
      withCache(getTarget(), async ({ place, pods }) => {
        await pods.synced();
        const seen = new Recorder(
          pods.watch({ resourceVersion: "0", sendInitialEvents: false, resourceVersionMatch: "NotOlderThan", bufferSize: 10_000 }),
        );
        /** @type {Map<string, string[]>} */
        const written = new Map();
        await concurrently(60, async (i) => {
          const name = numbered(i);
          const steps = [
            await place.create(name, { labels: { step: "0" } }),
            await place.label(name, { step: "1" }),
            await place.setPhase(name, "Running"),
            await place.label(name, { step: "2" }),
          ];
          written.set(
            `${place.namespace}/${name}`,
            steps.map((o) => String(o.metadata.resourceVersion)),
          );
          if (i % 3 === 0) await place.delete(name);
        });
        await eventually(
          () => seen.events.filter((e) => e.type === "DELETED").length === 20,
          () => `20 deletions; seen: ${seen.summary()}`,
        );
        await eventually(
          () => seen.events.filter((e) => e.type !== "DELETED" && !e.object.metadata.deletionTimestamp).length === 240,
          () => `240 writes; seen: ${seen.summary()}`,
        );
        seen.assertGrowing();
        for (const [key, versions] of written) {
          const events = seen.events.filter((e) => e.key === key && !(e.type === "MODIFIED" && e.object.metadata.deletionTimestamp));
          const deleted = events.length > 4;
          assert.deepEqual(
            events.map((e) => e.type),
            ["ADDED", "MODIFIED", "MODIFIED", "MODIFIED", ...(deleted ? ["DELETED"] : [])],
          );
          assert.deepEqual(
            events.slice(0, 4).map((e) => e.resourceVersion),
            versions,
          );
        }
        await seen.stop();
        await assertIntegrity(pods, place.api, place.pods);
      }));

    it("appear exactly once and in order while the connection drops again and again", () =>
      withCache(getTarget(), async ({ place, pods, traffic }) => {
        await pods.synced();
        const seen = new Recorder(
          pods.watch({ resourceVersion: "0", sendInitialEvents: false, resourceVersionMatch: "NotOlderThan", bufferSize: 10_000 }),
        );
        const rows = follow(pods);
        const versions = /** @type {string[]} */ ([]);
        const writer = place.aside();
        for (let round = 0; round < 6; round++) {
          const sockets = traffic.sockets.length;
          await concurrently(15, async (i) => {
            const name = numbered(round * 15 + i);
            const created = await writer.create(name);
            const labelled = await writer.label(name, { round: String(round) });
            versions.push(created.metadata.resourceVersion, labelled.metadata.resourceVersion);
            if (i === 7) await place.target.drop();
          });
          await eventually(() => traffic.sockets.length > sockets, "a new socket");
        }
        await seen.count(versions.length);
        await assertIntegrity(pods, place.api, place.pods);
        assert.deepEqual(
          seen.events.map((e) => e.resourceVersion),
          versions.toSorted(compareVersions),
        );
        assert.equal(seen.ended, false, "a drop ends no watcher");
        assert.equal(traffic.lists().length, 1, "a drop needs no relist");
        for (let i = 1; i < rows.states.length; i++) {
          for (const name of rows.states[i - 1].keys()) assert.ok(rows.states[i].has(name), `row ${name} vanished`);
        }
        rows.stop();
        await seen.stop();
      }));
  });

  describe("a stream that ends", () => {
    it("by its timeout is resumed from the last bookmark, without a relist", () =>
      withCache(getTarget(), async ({ place, pods, traffic }) => {
        // Bookmarks come once a minute, and two seconds before the end: bring the end near.
        traffic.rewrite = (url) => url.searchParams.set("timeoutSeconds", "4");
        await pods.synced();
        const listed = String(pods.status.resourceVersion);
        const created = await place.create("a");
        // Versions of other namespaces: only a bookmark can tell of them.
        const elsewhere = await Place.create(place.target);
        const other = await elsewhere.create("b");
        await eventually(() => traffic.sockets.length === 2, "the second watch");
        const from = String(traffic.sockets[1].url.searchParams.get("resourceVersion"));
        assert.ok(compareVersions(from, String(created.metadata.resourceVersion)) >= 0 && compareVersions(from, listed) > 0);
        assert.ok(
          compareVersions(from, String(other.metadata.resourceVersion)) >= 0,
          `resumed at ${from}, before ${other.metadata.resourceVersion}`,
        );
        assert.equal(traffic.lists().length, 1);
        await place.create("c");
        await assertIntegrity(pods, place.api, place.pods);
      }));

    it("in silence is found out by the idle timeout", () =>
      withCache(
        getTarget(),
        async ({ place, pods, traffic }) => {
          await pods.synced();
          await eventually(() => pods.status.phase === "live", "live");
          await place.target.freeze();
          await place.create("unheard");
          await eventually(() => pods.peek(`${place.namespace}/unheard`), "what was written in the silence");
          assert.ok(traffic.sockets.length > 1);
          assert.equal(traffic.lists().length, 1);
          await assertIntegrity(pods, place.api, place.pods);
        },
        { options: { idleTimeout: 1500 } },
      ));
  });

  describe("history that is gone", () => {
    it("leads to a relist that shows only the differences, and no row blinks", () =>
      withCache(
        getTarget(),
        async ({ place, pods, traffic }) => {
          await pods.synced();
          await eventually(() => pods.status.phase === "live", "live");
          const rows = follow(pods);
          const kept = pods.peek(`${place.namespace}/${numbered(5)}`);
          const seen = new Recorder(pods.watch({ resourceVersion: "0", sendInitialEvents: false, resourceVersionMatch: "NotOlderThan" }));
          let relists = 0;
          pods.addEventListener("relist", () => relists++);

          await place.target.refuse("unavailable");
          await place.target.drop();
          await eventually(() => pods.status.phase === "reconnecting", "reconnecting");
          assert.equal(pods.status.stale, true);
          assert.equal(pods.size, 30);
          const before = rows.states.length;
          const side = place.aside();
          await side.delete(numbered(0));
          const changed = await side.label(numbered(1), { app: "web" });
          const added = await side.create("pod-late");
          await place.target.expire();
          await place.target.refuse(undefined);

          await assertIntegrity(pods, place.api, place.pods);
          await eventually(() => pods.status.phase === "live" && !pods.status.stale, "live again");
          assert.equal(relists, 1);
          assert.equal(traffic.lists().length >= 2, true);
          await eventually(() => seen.ended, "the end of the watcher");
          assert.equal((await seen.watcher.ended).reason, "relist");
          assert.equal(pods.peek(`${place.namespace}/${numbered(5)}`), kept, "what did not change keeps its identity");

          const last = /** @type {Map<string, string>} */ (
            await eventually(() => rows.states.at(-1)?.has("pod-late") && rows.states.at(-1), "the new row")
          );
          assert.equal(last.get(numbered(1)), changed.metadata.resourceVersion);
          assert.equal(last.get("pod-late"), added.metadata.resourceVersion);
          assert.equal(last.has(numbered(0)), false);
          for (const state of rows.states.slice(before - 1)) {
            for (let i = 1; i < 30; i++) assert.ok(state.has(numbered(i)), `row ${numbered(i)} blinked`);
          }
          rows.stop();

          // And it goes on from there.
          await place.create("pod-later");
          await assertIntegrity(pods, place.api, place.pods);
        },
        { seed: (place) => concurrently(30, (i) => place.create(numbered(i))) },
      ));

    it("after a crash of the server everything is there again, and more can come", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          const rows = follow(pods);
          const crashed = place.target.crash();
          await eventually(() => pods.status.phase === "reconnecting" || pods.status.phase === "relisting", "reconnecting");
          assert.equal(pods.size, 20);
          await crashed;
          await concurrently(20, (i) => place.label(numbered(i), { after: "crash" }));
          await place.delete(numbered(3));
          await assertIntegrity(pods, place.api, place.pods);
          for (const state of rows.states) for (let i = 4; i < 20; i++) assert.ok(state.has(numbered(i)), `row ${numbered(i)} blinked`);
          rows.stop();
        },
        { seed: (place) => concurrently(20, (i) => place.create(numbered(i))) },
      ));
  });

  describe("a server that says no", () => {
    it("to a wrong token: needs-auth, and a right one heals it", async () => {
      let token = "not-a-token";
      let asked = 0;
      await withCache(
        getTarget(),
        async ({ place, pods }) => {
          await assert.rejects(
            pods.synced(),
            (error) => error instanceof WatchCacheError && error.code === "unauthorized" && !error.message.includes(token),
          );
          assert.equal(pods.status.phase, "needs-auth");
          assert.equal(pods.status.error?.code, "unauthorized");
          token = place.target.token;
          await pods.refresh();
          await eventually(() => pods.status.phase === "live", "live");
          assert.ok(asked >= 2, "auth is asked at each connect");
          await assertIntegrity(pods, place.api, place.pods);
        },
        { options: { auth: () => (asked++, { token }) }, seed: (place) => place.create("a") },
      );
    });

    if (authorization)
      it("to a user without the right: forbidden", async () => {
        const target = getTarget();
        await withCache(
          target,
          async ({ pods }) => {
            await assert.rejects(pods.synced(), (error) => {
              assert.ok(error instanceof WatchCacheError);
              assert.equal(error.code, "forbidden");
              assert.match(String(error.status?.message), /cannot list resource "pods"/);
              return true;
            });
            assert.equal(pods.status.phase, "failed");
          },
          { options: { auth: () => ({ token: target.powerless }) } },
        );
      });

    it("to a wrong path: not-found", () =>
      withCache(
        getTarget(),
        async ({ pods }) => {
          await assert.rejects(pods.synced(), (error) => error instanceof WatchCacheError && error.code === "not-found");
          assert.equal(pods.status.phase, "failed");
        },
        { spec: { resource: "nonesuch" } },
      ));

    it("for a while, with 503 or 429: it waits and recovers", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          for (const how of /** @type {const} */ (["unavailable", "too-many-requests"])) {
            await place.target.refuse(how);
            await place.target.drop();
            if (how === "unavailable") pods.synced().catch(() => {});
            else await eventually(() => pods.status.phase === "reconnecting", "reconnecting");
            await eventually(() => pods.status.retryAt, "a time of the next try");
            await place.target.refuse(undefined);
            await pods.synced();
            await eventually(() => pods.status.phase === "live", "live");
          }
          await assertIntegrity(pods, place.api, place.pods);
        },
        { seed: (place) => place.create("a") },
      ));

    it("with an HTML page instead of a list: an error with a code, nothing lost", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          await place.target.refuse("html");
          await place.target.drop();
          await eventually(() => pods.status.error, "an error");
          assert.equal(pods.size, 3);
          assert.equal(pods.status.stale, true);
          await place.target.refuse(undefined);
          await pods.refresh();
          await eventually(() => pods.status.phase === "live", "live");
          await assertIntegrity(pods, place.api, place.pods);
        },
        { seed: (place) => concurrently(3, (i) => place.create(numbered(i))) },
      ));
  });
}
