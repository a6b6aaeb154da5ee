/**
 * The end that every watch comes to: its timeout.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { assertIntegrity, eventually } from "../cache.mjs";
import { Place } from "../target.mjs";
import { compareVersions } from "../wire.mjs";
import { withCache } from "./setup.mjs";

/**
 * @param {() => import("../target.mjs").Target} getTarget called when a scenario runs
 */
export function timeoutScenarios(getTarget) {
  describe("a stream that ends", () => {
    it("by its timeout is resumed from the last bookmark, without a relist", () =>
      withCache(getTarget(), async ({ place, pods, traffic }) => {
        // Bookmarks come once a minute, and two seconds before the end: bring the end near.
        traffic.rewrite = (url) => url.searchParams.set("timeoutSeconds", "4");
        await pods.synced();
        const listed = String(pods.resourceVersion);
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
  });
}
