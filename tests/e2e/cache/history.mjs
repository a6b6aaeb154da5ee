/**
 * History that is gone: a relist shows only differences.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { Recorder, assertIntegrity, eventually } from "../cache.mjs";
import { concurrently } from "../wire.mjs";
import { follow, numbered, withCache } from "./setup.mjs";

/**
 * @param {() => import("../target.mjs").Target} getTarget called when a scenario runs
 */
export function historyScenarios(getTarget) {
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
}
