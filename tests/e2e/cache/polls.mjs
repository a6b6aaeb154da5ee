/**
 * Resources that are listed again and again instead of watched.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { setTimeout as sleep } from "node:timers/promises";
import { assertIntegrity, eventually } from "../cache.mjs";
import { withCache } from "./setup.mjs";

const seed = async (/** @type {import("../target.mjs").Place} */ place) => {
  for (const name of ["a", "b", "c"]) await place.create(name);
};

/** @param {() => import("../target.mjs").Target} getTarget called when a scenario runs */
export function pollScenarios(getTarget) {
  describe("a resource that is polled", () => {
    it("tells what differs as events at the server's versions, and opens no watch", () =>
      withCache(
        getTarget(),
        async ({ place, traffic, pods }) => {
          await pods.synced();
          const { phase, stale, staleSince } = pods.status;
          assert.deepEqual([phase, stale], ["live", true]);
          assert.ok(Math.abs(Date.now() - staleSince) < 60_000);
          /** @type {string[]} */
          const told = [];
          const watch = pods.watch({ resourceVersion: pods.resourceVersion });
          const listening = (async () => {
            for await (const { type, object } of watch) told.push(`${type} ${object.metadata.name}`);
          })();
          await place.create("d");
          await place.patch("a", { metadata: { labels: { app: "web" } } });
          await place.delete("b");
          await eventually(() => told.length >= 3, "three events");
          assert.deepEqual(told.sort(), ["ADDED d", "DELETED b", "MODIFIED a"]);
          assert.equal(
            pods.peek(`${place.namespace}/d`).metadata.resourceVersion,
            (await place.api.must("GET", `${place.pods}/d`)).metadata.resourceVersion,
          );
          await assertIntegrity(pods, place.api, place.pods);
          assert.deepEqual([traffic.sockets.length, traffic.fetches.filter(({ url }) => url.searchParams.has("watch")).length], [0, 0]);
          await eventually(() => pods.status.staleSince > staleSince, "a later poll");
          watch.stop();
          await listening;
        },
        { seed, spec: { poll: { everyMs: 100 } } },
      ));

    it("shows a write at once, however long the period is", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          const key = `${place.namespace}/d`;
          const created = await pods.create(place.pod("d"));
          assert.equal(created, pods.peek(key));
          const updated = await pods.update(key, (/** @type {any} */ pod) => ({
            ...pod,
            metadata: { ...pod.metadata, labels: { app: "web" } },
          }));
          assert.equal(updated, pods.peek(key));
          await pods.delete(key, { gracePeriodSeconds: 0 });
          assert.equal(pods.peek(key), undefined);
          await place.create("late");
          assert.deepEqual(
            (await pods.list()).items.map((/** @type {any} */ pod) => pod.metadata.name),
            ["a", "b", "c", "late"],
            "a list without a version is as new as the server",
          );
        },
        { seed, spec: { poll: { everyMs: 600_000 } } },
      ));

    it("keeps its rows while the server is away, and goes on without a list that anybody hears of", () =>
      withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          // A watch that ends within its first second counts as refused, and leads to a list.
          await sleep(1_200);
          let relists = 0;
          pods.addEventListener("relist", () => relists++);
          await place.target.refuse("unavailable");
          await eventually(() => pods.status.phase === "reconnecting", "reconnecting");
          assert.deepEqual([pods.size, pods.status.stale], [3, true]);
          await place.aside().create("d");
          await place.target.refuse(undefined);
          await eventually(() => pods.size === 4 && pods.status.phase === "live", "the pod that was created meanwhile");
          assert.equal(relists, 0);
          await assertIntegrity(pods, place.api, place.pods);
        },
        { seed, spec: { poll: { everyMs: 100 } } },
      ));
  });
}
