// A day in the life of README.md's React example. Filters are typed letter by letter, routes change, StrictMode is on, and the server goes
// away and comes back. Every frame is checked, and at the end nothing is left but what is mounted. DAY_MINUTES makes the day longer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TroubledProxy } from "../e2e/proxy.mjs";
import { parseLabelSelector } from "../../www/server/label-selector.mjs";
import { chromiumOnly } from "../engines/launch.mjs";
import { buildDay } from "./day/build.mjs";
import { keep, launch, open, serve } from "./harness.mjs";

const DAY_MS = Number(process.env.DAY_MINUTES ?? 0.75) * 60_000;
const PODS = 1_200;
const RATE = 60;
/** What a view or a stream that nobody uses is kept for, and some more. */
const LINGER_MS = 6_500;
const LIMIT = 50;
const FILTERS = [
  "app=api",
  "app in (",
  "app in (cart, billing),tier!=edge",
  "nobody=here",
  "app=checkout",
  "!canary",
  "tier notin (data))",
  "track=stable,,",
  "app=auth",
];
/** What the browser itself says of a connection that fails. */
const OF_THE_NETWORK = /net::ERR_|WebSocket connection to .* failed|the server responded with a status of (410|503)|at \/favicon\.ico$/;

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** Stands before it on the page's origin: what is away when the server is. @type {TroubledProxy} */
let origin;
/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  const root = await buildDay();
  server = await serve({ pods: PODS, rate: RATE, seed: 14, root });
  origin = await TroubledProxy.start(server.url);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await origin?.close();
  await server?.close();
});

/** Nobody listens at the address for so long. @param {number} ms */
async function away(ms) {
  const { port } = new URL(origin.url);
  await origin.close();
  await sleep(ms);
  await new Promise((resolve) => origin.server.listen(Number(port), "127.0.0.1", () => resolve(undefined)));
}

/** @param {import("playwright-core").Page} page @param {"visible" | "hidden"} state */
const visibility = (page, state) =>
  page.evaluate((now) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, value: now });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

/** What can happen to the page and its server. @type {Record<string, (page: import("playwright-core").Page) => Promise<unknown>>} */
const WEATHER = {
  burst: async () => server.control.step(400),
  away: () => away(1_500),
  drop: async () => server.control.fault("drop", { midFrame: true }),
  expire: async () => server.control.fault("expire"),
  refused: async () => {
    server.control.fault("status", { code: 503, retryAfterSeconds: 1, ms: 1_500 });
    server.control.fault("drop");
  },
  hidden: async (page) => {
    await visibility(page, "hidden");
    server.control.step(100);
    await sleep(700);
    await visibility(page, "visible");
  },
  slow: async () => {
    server.control.fault("slowPages", { pageMs: 300, ms: 2_000 });
    server.control.fault("expire");
  },
};

/** @param {import("playwright-core").Page} page @param {() => boolean} isOver */
async function type(page, isOver) {
  const boxes = page.locator("input");
  let typed = 0;
  for (; !isOver() || typed < FILTERS.length; typed++) {
    // That of the example's own root, which stays; and now and then one of a route, which may go at any letter.
    const box = boxes.nth(typed % 3 === 2 ? (await boxes.count()) - 1 : 0);
    const text = FILTERS[typed % FILTERS.length];
    await box
      .fill("", { timeout: 1_000 })
      .then(() => box.pressSequentially(text, { delay: 25, timeout: 3_000 }))
      .catch(() => {});
    await sleep(150);
    if (typed % 2 === 1) await box.fill("", { timeout: 500 }).catch(() => {});
  }
  return typed;
}

/** @param {import("playwright-core").Page} page @param {() => boolean} isOver @param {number} least */
async function wander(page, isOver, least) {
  let changes = 0;
  for (; !isOver() || changes < least; changes++) {
    await page.evaluate(
      (step) => {
        const { routes, go } = globalThis.day;
        go(routes[step % routes.length]);
      },
      changes * 5 + Math.floor(changes / 6),
    );
    await sleep([15, 60, 400, 120, 900][changes % 5]);
  }
  return changes;
}

/** @param {import("playwright-core").Page} page @param {() => boolean} isOver */
async function weather(page, isOver) {
  const kinds = Object.keys(WEATHER);
  let happened = 0;
  for (; !isOver() || happened < kinds.length; happened++) {
    await WEATHER[kinds[happened % kinds.length]](page);
    await sleep(1_500);
    // Each time it is tried less soon, as with a server in trouble. But this is a day, and in a day most hours are quiet.
    await page.evaluate(() => globalThis.dispatchEvent(new Event("online")));
    await page.waitForFunction(() => globalThis.day.pods.status.phase === "live");
    await sleep(500);
  }
  return happened;
}

/** Nothing but the example's own table, unfiltered, and nobody lingers. @param {import("playwright-core").Page} page */
async function rest(page) {
  await page.evaluate(() => globalThis.day.go("nothing"));
  await page.locator("#root input").fill("");
  await page.waitForFunction(() => globalThis.day.pods.status.phase === "live");
  await sleep(LINGER_MS);
}

/** What the page holds after a collection. @param {import("playwright-core").Page} page @param {import("playwright-core").CDPSession} devtools */
async function held(page, devtools) {
  // What a collection frees may free more with the next one.
  for (let i = 0; i < 3; i++) {
    await devtools.send("HeapProfiler.collectGarbage");
    await sleep(100);
  }
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  const { jsEventListeners, nodes } = await devtools.send("Memory.getDOMCounters");
  const rest = await page.evaluate(async () => {
    // A flush or a slice of work may wait at one moment, and not at all of them.
    let timers = Infinity;
    for (let i = 0; i < 20; i++) {
      timers = Math.min(timers, globalThis.timers.size);
      await new Promise((resolve) => globalThis.requestAnimationFrame(resolve));
    }
    const { memoryBytes, resources } = globalThis.day.cache.stats();
    return { memoryBytes, resources, timers };
  });
  return { heap: usedSize, listeners: jsEventListeners, nodes, ...rest };
}

/** What a page holds that was opened a moment ago, at the same server. */
async function justOpened() {
  const { page, close } = await open(browser, "about:blank");
  await page.addInitScript(countTimers);
  await page.goto(origin.url);
  await page.waitForFunction(() => globalThis.day?.routes);
  await page.evaluate(() => globalThis.day.go("deployments"));
  await page.waitForFunction(() => ["pods", "deployments"].every((name) => globalThis.day[name].status.phase === "live"));
  const holds = await held(page, await page.context().newCDPSession(page));
  await close();
  return holds;
}

test(
  "a day of use: no frame is wrong, and nothing is left of it",
  chromiumOnly("what is left is counted by the DevTools protocol"),
  async (t) => {
    const visit = await open(browser, "about:blank");
    const { page, said } = visit;
    const devtools = await page.context().newCDPSession(page);
    await page.addInitScript(countTimers);
    await page.goto(origin.url);
    await page.waitForFunction(() => globalThis.day?.pods.status.phase === "live");

    // Every place is visited, and every list read anew, so that what is made once is there: then the day begins.
    const routes = await page.evaluate(() => globalThis.day.routes.length);
    await wander(page, () => true, 2 * routes);
    await page.locator("#root input").pressSequentially("app=api");
    for (const kind of ["burst", "expire", "slow"]) {
      await WEATHER[kind](page);
      await sleep(2_000);
    }
    await rest(page);
    const warm = await held(page, devtools);

    const end = Date.now() + DAY_MS;
    const isOver = () => Date.now() > end;
    const [typed, changes, happened] = await Promise.all([
      type(page, isOver),
      wander(page, isOver, 100),
      weather(page, isOver),
      sleep(DAY_MS / 2).then(() => keep(page, "day")),
    ]);
    await rest(page);
    const cold = await held(page, devtools);
    const fresh = await justOpened();

    const seen = await page.evaluate(() => globalThis.day.seen);
    t.diagnostic(JSON.stringify({ typed, changes, happened, ...seen }));
    for (const [name, { resources, ...all }] of Object.entries({ warm, cold, fresh })) {
      const held = resources.map((/** @type {any} */ { name, bytes, historyBytes, lists }) => ({ name, bytes, historyBytes, lists }));
      t.diagnostic(JSON.stringify({ [name]: all, held }));
    }
    assert.deepEqual(seen.wrong, []);
    assert.deepEqual(
      said.filter((line) => /^(error|warning|uncaught)/.test(line) && !OF_THE_NETWORK.test(line)),
      [],
    );
    // The checks had something to check.
    assert.ok(changes >= 100 && typed >= FILTERS.length && happened >= Object.keys(WEATHER).length);
    assert.ok(seen.longestBlank < 60, `a filter took ${seen.longestBlank} frames`);
    for (const kind of ["frames", "sums", "filtered", "rows", "stale"]) assert.ok(seen[kind] > 20, `${seen[kind]} ${kind} were looked at`);
    assert.ok(seen.phases.reconnecting > 0 && seen.phases.relisting > 0, JSON.stringify(seen.phases));

    await t.test("what is shown is what the server has", async () => {
      server.control.setRate(0);
      await sleep(500);
      for (const filter of ["", "app=api", "tier notin (data)"]) {
        await page.locator("#root input").fill(filter);
        await sleep(500);
        const selector = parseLabelSelector(filter);
        /** @type {any} */
        const { items } = await (await fetch(`${server.url}/api/v1/pods`)).json();
        const wanted = items.filter((/** @type {any} */ pod) => selector.matches(pod.metadata.labels));
        const shown = await page.evaluate(() => {
          const { rows, total } = globalThis.day.shown.get("own").view;
          return { total, rows: rows.map(({ metadata, status }) => [metadata.name, metadata.resourceVersion, status.phase]) };
        });
        const { compare } = new Intl.Collator("en", { numeric: true });
        assert.equal(shown.total, wanted.length);
        assert.deepEqual(
          shown.rows,
          wanted
            .map((/** @type {any} */ { metadata, status }) => [metadata.name, metadata.resourceVersion, status.phase])
            .sort((/** @type {string[]} */ a, /** @type {string[]} */ b) => compare(a[0], b[0]))
            .slice(0, LIMIT),
        );
      }
      await page.locator("#root input").fill("");
    });

    await t.test("nothing is left but what is mounted", () => {
      const [own] = cold.resources.filter(({ name }) => name === "pods");
      assert.deepEqual([own.views, own.watchers, own.informers, own.handlers], [1, 0, 0, 0]);
      for (const { name, views, phase } of cold.resources) {
        if (name !== "pods") assert.deepEqual([name, views, phase], [name, 0, "idle"]);
      }
      assert.ok(cold.timers <= warm.timers + 1, `${warm.timers} timers became ${cold.timers}`);
      assert.ok(cold.listeners <= warm.listeners + 2, `${warm.listeners} listeners became ${cold.listeners}`);
      // React keeps what it removed last.
      assert.ok(cold.nodes <= warm.nodes + 500, `${warm.nodes} nodes became ${cold.nodes}`);
      assert.ok(cold.heap <= warm.heap + 3e6, `a heap of ${warm.heap} bytes became ${cold.heap}`);
      // The window of past events still fills; all else is about what a page holds that has just been opened.
      const kept = (/** @type {typeof warm} */ { resources }) =>
        resources.reduce((sum, { bytes, historyBytes }) => sum + bytes - historyBytes, 0);
      const window = (/** @type {typeof warm} */ { resources }) => resources.reduce((sum, { historyBytes }) => sum + historyBytes, 0);
      assert.ok(kept(cold) <= 1.5 * kept(fresh), `${kept(cold)} bytes are held, ${kept(fresh)} are needed`);
      const grown = cold.memoryBytes - warm.memoryBytes;
      assert.ok(grown <= 2 * (window(cold) - window(warm)) + 8e6, `the memory grew by ${grown} bytes`);
    });
    await visit.close();
  },
);

/** Runs in the page before all else: the timers that wait. */
function countTimers() {
  /** @type {Set<unknown>} */
  const timers = new Set();
  const { setTimeout: later, clearTimeout: cancel, setInterval: often, clearInterval: stop } = globalThis;
  Object.assign(globalThis, {
    timers,
    setTimeout: (/** @type {Function} */ call, /** @type {number} */ ms, /** @type {unknown[]} */ ...rest) => {
      const timer = later(() => {
        timers.delete(timer);
        call(...rest);
      }, ms);
      timers.add(timer);
      return timer;
    },
    setInterval: (/** @type {() => void} */ call, /** @type {number} */ ms) => {
      const timer = often(call, ms);
      timers.add(timer);
      return timer;
    },
    clearTimeout: (/** @type {number} */ timer) => (timers.delete(timer), cancel(timer)),
    clearInterval: (/** @type {number} */ timer) => (timers.delete(timer), stop(timer)),
  });
}
