/**
 * Trouble: drops, refusals, crashes, and history that is gone.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Place } from "../target.mjs";
import { compareVersions, concurrently } from "../wire.mjs";
import { assertStatus, names, numbered } from "./assertions.mjs";

/** @param {() => import("../target.mjs").Target} getTarget */
export function troubleScenarios(getTarget) {
  describe("trouble on the wire", () => {
    it("after a drop, a watch from the last version seen misses nothing and repeats nothing", async () => {
      const place = await Place.create(getTarget());
      const { resourceVersion } = (await place.api.list(place.pods)).metadata;
      const first = await place.api.watch(place.pods, { resourceVersion }).opened();
      const writer = place.aside();
      const written = (async () => {
        const versions = [];
        for (let i = 0; i < 60; i++) versions.push(`ADDED ${numbered(i)}@${(await writer.create(numbered(i))).metadata.resourceVersion}`);
        return versions;
      })();
      await first.count(10);
      await place.target.drop();
      assert.notEqual((await first.closed()).code, 1000);
      const second = await place.api
        .watch(place.pods, { resourceVersion: String(first.events.at(-1)?.object.metadata.resourceVersion) })
        .opened();
      const expected = await written;
      await second.count(60 - first.events.length);
      assert.equal(`${first.summary()}, ${second.summary()}`, expected.join(", "));
      second.stop();
    });

    it("a server in no state to serve says when to come back", async () => {
      const place = await Place.create(getTarget());
      for (const [how, status] of /** @type {const} */ ([
        ["unavailable", 503],
        ["too-many-requests", 429],
      ])) {
        await place.target.refuse(how);
        for (const answer of [await place.api.get(place.pods), await place.api.watch(place.pods, {}).refusal()]) {
          assert.deepEqual([answer.status, answer.headers.get("retry-after")], [status, "1"]);
        }
      }
      await place.target.refuse("html");
      assert.match((await place.api.get(place.pods)).text, /^<!doctype html>/i);
      assert.notEqual((await place.api.watch(place.pods, {}).refusal()).status, 101);
      await place.target.refuse(undefined);
      assert.equal((await place.api.get(place.pods)).status, 200);
    });

    it("after a crash the objects are there, with their versions", async () => {
      const place = await Place.create(getTarget());
      await concurrently(20, (i) => place.create(numbered(i), { labels: { app: "web" } }));
      const before = await place.api.list(place.pods);
      const watch = await place.api.watch(place.pods, { resourceVersion: before.metadata.resourceVersion }).opened();
      await place.target.crash();
      assert.equal((await watch.closed()).code, 1006);
      const after = await place.api.list(place.pods);
      assert.deepEqual(after.items, before.items);
      assert.ok(compareVersions(after.metadata.resourceVersion, before.metadata.resourceVersion) >= 0);
      const pod = await place.create("later");
      assert.ok(compareVersions(pod.metadata.resourceVersion, after.metadata.resourceVersion) > 0, "versions never go back");
    });

    it("history that is gone is 410 everywhere", async () => {
      const place = await Place.create(getTarget());
      await concurrently(8, (i) => place.create(numbered(i)));
      const page = await place.api.list(place.pods, { limit: 3 });
      const old = page.metadata.resourceVersion;
      await place.label(numbered(0), { app: "web" });
      await place.target.expire();
      await place.label(numbered(0), { app: "api" });

      const watch = await place.api.watch(place.pods, { resourceVersion: old }).opened();
      const error = await watch.event((e) => e.type === "ERROR", "the error");
      await watch.closed();
      assert.deepEqual(
        { ...error.object, message: undefined },
        { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: undefined, reason: "Expired", code: 410 },
      );
      // Said by the watch cache, or, where there is none, by the storage below it.
      if (error.object.message !== "The resourceVersion for the provided watch is too old.") {
        const [, asked, oldest] = /^too old resource version: (\d+) \((\d+)\)$/.exec(String(error.object.message)) ?? [];
        assert.equal(asked, old, error.object.message);
        assert.ok(compareVersions(oldest, old) > 0);
      }
      assert.equal(watch.events.length, 1, "nothing before and nothing after the error");

      assertStatus(
        await place.api.get(place.pods, { resourceVersion: old, resourceVersionMatch: "Exact" }),
        410,
        "Expired",
        "The resourceVersion for the provided list is too old.",
      );
      const next = await place.api.get(place.pods, { limit: 3, continue: page.metadata.continue });
      assertStatus(next, 410, "Expired", /^The provided continue parameter is too old to display a consistent list result\./);
      // The answer brings a token that goes on from the same place, at the version of now.
      const rest = await place.api.list(place.pods, { continue: next.body.metadata.continue });
      assert.deepEqual(names(rest), [3, 4, 5, 6, 7].map(numbered));

      const list = await place.api.list(place.pods);
      const again = await place.api.watch(place.pods, { resourceVersion: list.metadata.resourceVersion }).opened();
      await place.create("later");
      await again.count(1);
      assert.equal(again.events[0].type, "ADDED");
      again.stop();
    });
  });
}
