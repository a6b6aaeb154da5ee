/**
 * What stands between a page and its server: proxies that drop, delay, truncate, cut and hold back, pages to sign in, clocks that are wrong.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { setTimeout as sleep } from "node:timers/promises";
import { Recorder, assertIntegrity, eventually } from "../cache.mjs";
import { TroubledProxy } from "../proxy.mjs";
import { concurrently } from "../wire.mjs";
import { follow, numbered, withCache } from "./setup.mjs";

/** @typedef {import("../target.mjs").Target} Target */

/** A Status as a body. @param {number} code @param {string} reason */
const status = (code, reason) => ({
  status: code,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `the proxy says ${reason}`,
    reason,
    code,
  }),
});

const isWatch = (/** @type {import("node:http").IncomingMessage} */ request) => /[?&]watch=/.test(request.url ?? "");

/** Live for longer than a second: a watch that is lost sooner is a short one, and has another answer. @param {any} pods */
async function settled(pods) {
  await pods.synced();
  await eventually(() => pods.status.phase === "live", "live");
  await sleep(1_200);
}

/**
 * @param {() => Target} getTarget called when a scenario runs
 */
export function networkScenarios(getTarget) {
  /**
   * A cache behind a proxy of its own.
   * @param {(it: { proxy: TroubledProxy, place: import("../target.mjs").Place, pods: any, traffic: import("../cache.mjs").Traffic }) => Promise<void>} body
   * @param {object} [options]
   */
  const withProxy = async (body, options = {}) => {
    const target = getTarget();
    const proxy = await TroubledProxy.start(target.url);
    try {
      await withCache(target, ({ place, pods, traffic }) => body({ proxy, place, pods, traffic }), {
        options: { server: proxy.url, ...options },
        seed: (place) => concurrently(20, (i) => place.create(numbered(i))),
      });
    } finally {
      await proxy.close();
    }
  };

  describe("a proxy between", () => {
    for (const transport of /** @type {const} */ (["websocket", "fetch"])) {
      it(`that drops connections all the time, over ${transport}: nothing is lost, doubled or out of order`, () =>
        withProxy(
          async ({ proxy, place, pods, traffic }) => {
            await pods.synced();
            const rows = follow(pods);
            const seen = new Recorder(pods.watch({ resourceVersion: "0", sendInitialEvents: false, resourceVersionMatch: "NotOlderThan" }));
            /** @type {any[]} */
            const told = [];
            await pods.informer({ onWatchError: (/** @type {any} */ interruption) => void told.push(interruption) }).synced;
            for (let round = 0; round < 15; round++) {
              await concurrently(20, (i) => place.label(numbered(i), { round: String(round) }));
              // Not within the first second of a watch, before anything new. Such a watch counts as refused, and a list would follow.
              await eventually(
                () => pods.peek(`${place.namespace}/${numbered(0)}`)?.metadata.labels?.round === String(round),
                `round ${round}`,
              );
              proxy.drop();
            }
            await assertIntegrity(pods, place.api, place.pods);
            assert.equal(traffic.lists().length, 1, "a lost connection needs no list");
            await eventually(
              () => told.length >= 15 && pods.status.phase === "live",
              () => `15 interruptions, not ${told.length}`,
            );
            assert.equal(told.length, 15, "each is told, once");
            for (const { phase, error, delayMs, stale } of told)
              assert.deepEqual([phase, error.code, delayMs, stale], ["reconnecting", "network", 0, true]);
            await eventually(
              () => seen.events.length >= 300,
              () => `300 events, not ${seen.events.length}`,
            );
            assert.equal(seen.events.length, 300);
            seen.assertGrowing();
            assert.ok(Math.min(...rows.states.map((state) => state.size)) >= 20 || rows.states[0].size < 20, "no row went away");
            await seen.stop();
            rows.stop();
          },
          { transport },
        ));

      it(`that truncates what it passes on, over ${transport}: no half of a frame is taken`, () =>
        withProxy(
          async ({ proxy, place, pods }) => {
            await pods.synced();
            for (let round = 0; round < 8; round++) {
              proxy.behaviour = { truncateAt: 900 + 777 * round };
              proxy.drop();
              await concurrently(20, (i) => place.label(numbered(i), { round: String(round) }));
              await sleep(100);
            }
            proxy.behaviour = {};
            await assertIntegrity(pods, place.api, place.pods);
            await eventually(() => pods.status.phase === "live" && !pods.status.error, "live");
          },
          { transport },
        ));

      it(`that delays every piece and cuts what lasts, over ${transport}: live again and again, and whole`, () =>
        withProxy(
          async ({ proxy, place, pods, traffic }) => {
            await pods.synced();
            proxy.behaviour = { delayMs: 100, cutAfterMs: 1_500 };
            proxy.drop();
            for (let round = 0; round < 8; round++) {
              await concurrently(20, (i) => place.label(numbered(i), { round: String(round) }));
              await sleep(400);
            }
            await assertIntegrity(pods, place.api, place.pods);
            await eventually(() => pods.status.phase === "live", "live");
            assert.ok(traffic.lists().length <= 2, `${traffic.lists().length} lists`);
          },
          { transport },
        ));
    }

    it("that holds back streams until they end: changes come with the end of short watches, and no list is needed", () =>
      withProxy(
        async ({ proxy, place, pods, traffic }) => {
          await pods.synced();
          proxy.behaviour = { buffer: true };
          proxy.drop();
          for (let round = 0; round < 3; round++) {
            await place.label(numbered(round), { round: "held" });
            await eventually(
              () => pods.peek(`${place.namespace}/${numbered(round)}`)?.metadata.labels?.round === "held",
              `change ${round}`,
            );
          }
          await assertIntegrity(pods, place.api, place.pods);
          assert.ok(traffic.lists().length <= 2, `${traffic.lists().length} lists`);
          const timeouts = traffic.fetches
            .filter(({ url }) => url.searchParams.has("watch"))
            .map(({ url }) => Number(url.searchParams.get("timeoutSeconds")));
          assert.ok(timeouts[0] >= 300 && timeouts.at(-1) === 2, timeouts.join());
        },
        { transport: "fetch", idleTimeout: 3_000 },
      ));

    it("that leads to a page to sign in: needs-auth, and nothing held is lost", () =>
      withProxy(async ({ proxy, place, pods }) => {
        await settled(pods);
        proxy.behaviour = {
          answer: ({ url }) =>
            url === "/login"
              ? { status: 200, headers: { "content-type": "text/html" }, body: "<!doctype html><title>Sign in</title>" }
              : { status: 302, headers: { location: "/login" } },
        };
        proxy.drop();
        await eventually(
          () => pods.status.phase === "needs-auth",
          () => `needs-auth, not ${pods.status.phase}`,
        );
        assert.equal(pods.status.error?.code, "unauthorized");
        assert.match(String(pods.status.error?.message), /redirected to a page/);
        assert.deepEqual([pods.size, pods.status.stale], [20, true]);
        proxy.behaviour = {};
        await place.create("after-sign-in");
        await assertIntegrity(pods, place.api, place.pods);
        await eventually(() => pods.status.phase === "live", "live");
      }));

    it("whose clock is an hour ahead: what it asks to wait is counted by that clock", () =>
      withProxy(async ({ proxy, place, pods, traffic }) => {
        await settled(pods);
        const ahead = (/** @type {number} */ ms) => new Date(Date.now() + 3_600_000 + ms).toUTCString();
        proxy.behaviour = {
          answer: () => ({
            status: 503,
            headers: { "content-type": "text/plain", date: ahead(0), "retry-after": ahead(3_000) },
            body: "later",
          }),
        };
        proxy.drop();
        await eventually(() => pods.status.error?.code === "unavailable" && pods.status.retryAt, "the time of the next try");
        const wait = pods.status.retryAt - Date.now();
        assert.ok(wait > 500 && wait <= 4_000, `waits ${wait} ms`);
        assert.equal(pods.status.phase, "reconnecting");
        proxy.behaviour = {};
        await assertIntegrity(pods, place.api, place.pods);
        await eventually(() => pods.status.phase === "live", "live");
        assert.equal(traffic.lists().length, 1);
      }));

    for (const transport of /** @type {const} */ (["websocket", "fetch"])) {
      it(`that says 410 to a watch instead of the stream, over ${transport}: a list follows`, () =>
        withProxy(
          async ({ proxy, place, pods, traffic }) => {
            await settled(pods);
            let refused = 0;
            const most = transport === "websocket" ? 2 : 1; // the upgrade, and the question why
            proxy.behaviour = { answer: (request) => (isWatch(request) && refused++ < most ? status(410, "Expired") : undefined) };
            proxy.drop();
            await place.create("meanwhile");
            await assertIntegrity(pods, place.api, place.pods);
            await eventually(() => pods.status.phase === "live", "live");
            assert.deepEqual([refused >= most, traffic.lists().filter(({ url }) => url.searchParams.has("limit")).length], [true, 2]);
          },
          { transport },
        ));

      it(`that forbids the watch and not the list, over ${transport}: failed, with what it said, and it heals`, () =>
        withProxy(
          async ({ proxy, place, pods }) => {
            proxy.behaviour = { answer: (request) => (isWatch(request) ? status(403, "Forbidden") : undefined) };
            await pods.synced();
            await eventually(
              () => pods.status.phase === "failed",
              () => `failed, not ${pods.status.phase}`,
            );
            assert.equal(pods.status.error?.code, "forbidden");
            assert.match(String(pods.status.error?.message), /the proxy says Forbidden/);
            assert.equal(pods.size, 20);
            proxy.behaviour = {};
            await place.create("allowed");
            await assertIntegrity(pods, place.api, place.pods);
            await eventually(() => pods.status.phase === "live", "live");
          },
          { transport },
        ));
    }

    it("that wants other credentials in the midst of it: they are asked for at once, and twice refused it is needs-auth", () => {
      let asked = 0;
      return withProxy(
        async ({ proxy, place, pods, traffic }) => {
          await settled(pods);
          proxy.behaviour = { answer: () => status(401, "Unauthorized") };
          const before = asked;
          proxy.drop();
          await eventually(() => pods.status.phase === "needs-auth", "needs-auth");
          assert.ok(asked >= before + 2, "once for the connection that was lost, and once because they were refused");
          assert.ok(pods.status.retryAt > Date.now() - 1_000);
          // A form to sign in, which shows meanwhile, would lose what stands in it.
          const phases = new Set();
          pods.addEventListener("status", () => phases.add(pods.status.phase));
          const told = asked;
          await eventually(() => asked >= told + 2, "it is tried twice more");
          assert.deepEqual([...phases], ["needs-auth"]);
          proxy.behaviour = {};
          await place.create("signed-in");
          await assertIntegrity(pods, place.api, place.pods);
          await eventually(() => pods.status.phase === "live", "live");
          assert.deepEqual([...phases], ["needs-auth", "live"]);
          assert.equal(traffic.lists().filter(({ url }) => url.searchParams.has("limit")).length, 1, "the same version serves");
        },
        { auth: () => (asked++, { token: getTarget().token }) },
      );
    });
  });
}
