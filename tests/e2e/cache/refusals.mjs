/**
 * A server that says no: for good or for a while.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { WatchCacheError } from "watchcache";
import { assertIntegrity, eventually } from "../cache.mjs";
import { concurrently } from "../wire.mjs";
import { numbered, withCache } from "./setup.mjs";

/**
 * @param {() => import("../target.mjs").Target} getTarget called when a scenario runs
 * @param {{ authorization: boolean }} has
 */
export function refusalScenarios(getTarget, { authorization }) {
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
          await eventually(() => pods.status.phase === "needs-auth", "needs-auth");
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

    it("to a token that is out of date: the next one is asked for, and nobody hears of it", async () => {
      let asked = 0;
      await withCache(
        getTarget(),
        async ({ place, pods }) => {
          await pods.synced();
          assert.equal(pods.size, 1);
          await assertIntegrity(pods, place.api, place.pods);
        },
        { options: { auth: () => ({ token: asked++ === 0 ? "out-of-date" : getTarget().token }) }, seed: (place) => place.create("a") },
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
