/**
 * Writes of a second client, and streams that end: each change once, in order, without a relist.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { Recorder, assertIntegrity, eventually } from "../cache.mjs";
import { compareVersions, concurrently } from "../wire.mjs";
import { follow, numbered, withCache } from "./setup.mjs";

/**
 * @param {() => import("../target.mjs").Target} getTarget called when a scenario runs
 */
export function writeScenarios(getTarget) {
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
          // A socket that is still being opened is no stream yet, and cannot be dropped.
          await eventually(() => traffic.sockets.at(-1)?.socket.readyState === 1, "an open watch");
          const sockets = traffic.sockets.length;
          await concurrently(15, async (i) => {
            const name = numbered(round * 15 + i);
            const created = await writer.create(name);
            const labelled = await writer.label(name, { round: String(round) });
            versions.push(created.metadata.resourceVersion, labelled.metadata.resourceVersion);
            if (i !== 7) return;
            // A watch that is lost within its first second, before anything new, counts as refused, and a list would follow.
            await eventually(() => pods.size > round * 15, `something of round ${round}`);
            await place.target.drop();
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
}
