// Pages with fifty open resources that were frozen, offline, asleep, or kept in the back/forward cache. Every resource is live again with
// one watch and no list. Its rows are there all the while. The resources do not all ask at one moment.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../../scripts/lib/project.mjs";
import { startServer } from "../../www/server/index.mjs";
import { chromiumOnly } from "../engines/launch.mjs";
import { Proxy } from "../servers/harness/proxy.mjs";
import { withPage } from "./devtools.mjs";

/** @typedef {import("./devtools.mjs").Page} Page */

/** Only this protocol freezes a page, and tells whether it was kept. */
const PROTOCOL = chromiumOnly("pages are frozen and kept by the DevTools protocol");
const RESOURCES = 50;
const TYPES = /** @type {Record<string, string>} */ ({ ".js": "text/javascript", ".wasm": "application/wasm" });

/** @type {Awaited<ReturnType<typeof startServer>>} */
let server;
/** @type {Proxy} */
let origin;
/** What reached the server: when, and whether it was a list or a watch. @type {{ at: number, what: "list" | "watch" }[]} */
let requests = [];

before(async () => {
  server = await startServer({ port: 0, pods: 0, rate: 0 });
  origin = await Proxy.start({ upstream: server.url, serve: servePage });
  origin.server.on("upgrade", () => requests.push({ at: performance.now(), what: "watch" }));
  for (let i = 0; i < RESOURCES; i++) {
    await create("/api/v1/namespaces", { metadata: { name: `ns-${i}` } });
  }
  await write();
});
after(async () => {
  await origin?.close();
  await server?.close();
});

/** @type {import("../servers/harness/proxy.mjs").ProxyOptions["serve"]} */
function servePage(request, response) {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://page");
  if (pathname === "/" || pathname === "/elsewhere") {
    response
      .writeHead(200, { "content-type": "text/html" })
      .end(`<!doctype html><link rel="icon" href="data:,"><title>${pathname}</title>`);
    return true;
  }
  if (pathname.startsWith("/dist/")) {
    const path = normalize(join(root, pathname));
    const type = TYPES[extname(pathname)];
    if (!type || !path.startsWith(join(root, "dist"))) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": type }).end(readFileSync(path));
    return true;
  }
  // A browser that comes back may refuse a socket by itself. Then the package asks by fetch why, with the watch's own query: that is no list.
  const isList = /\/pods$/.test(pathname) && request.method === "GET" && !searchParams.has("watch");
  if (isList) requests.push({ at: performance.now(), what: "list" });
  return false;
}

/** Creates an object, past the proxy. @param {string} path @param {object} object */
async function create(path, object) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(object) });
  assert.equal(answer.status, 201, await answer.text());
}

/** How many pods each namespace has. */
let rows = 0;

/** Creates one more pod in each namespace. */
async function write() {
  const pod = { metadata: { name: `pod-${rows++}` }, spec: { containers: [{ name: "c", image: "i" }] } };
  for (let i = 0; i < RESOURCES; i++) await create(`/api/v1/namespaces/ns-${i}/pods`, pod);
}

const all = (/** @type {number} */ rows) => /** @type {any} */ (globalThis).all(rows);
const fewest = () => /** @type {any} */ (globalThis).fewest();

/** Runs `body` in a page with fifty resources and a view of each, all live. @param {(page: Page) => Promise<void>} body @param {object} [options] */
const withAll = (body, options = {}) =>
  withPage(origin.url, async (page) => {
    await page.waitForFunction(() => location.protocol === "http:" && document.readyState === "complete");
    await page.evaluate(
      async ({ count, options }) => {
        const { createWatchCache } = await import(/** @type {any} */ ("/dist/index.js"));
        const cache = createWatchCache({ flush: "microtask", ...options });
        const opened = Array.from({ length: count }, (_, i) => {
          const pods = cache.resource({ version: "v1", resource: "pods", namespace: `ns-${i}` });
          const it = { pods, view: pods.view(), fewest: Infinity };
          it.view.subscribe(() => (it.fewest = Math.min(it.fewest, it.view.rows.length)));
          return it;
        });
        Object.assign(globalThis, {
          /** Whether each is live and shows this many rows or more. */
          all: (/** @type {number} */ rows) => opened.every(({ pods, view }) => pods.status.phase === "live" && view.rows.length >= rows),
          phases: () => [...new Set(opened.map(({ pods }) => pods.status.phase))].join(),
          /** The fewest rows that any view has shown since this was called last. */
          fewest: () => {
            const fewest = Math.min(...opened.map((it) => Math.min(it.fewest, it.view.rows.length)));
            for (const it of opened) it.fewest = Infinity;
            return fewest;
          },
        });
        await Promise.all(opened.map(({ pods }) => pods.synced()));
      },
      { count: RESOURCES, options },
    );
    await page.waitForFunction(all, rows);
    await page.evaluate(fewest);
    // A watch that ends within its first second counts as refused, and leads to a list.
    await sleep(1_200);
    requests = [];
    await body(page);
  });

/** The page shows everything, with one watch each, no list, no row missing meanwhile, and not all at once. */
async function assertBack(/** @type {Page} */ page) {
  await page.waitForFunction(all, rows);
  const least = await page.evaluate(fewest);
  assert.ok(least >= rows - 1, `a view had ${least} rows`);
  const watches = requests.filter(({ what }) => what === "watch").map(({ at }) => at);
  assert.deepEqual([requests.length, watches.length], [RESOURCES, RESOURCES], "one watch each, and no list");
  const spread = Math.max(...watches) - Math.min(...watches);
  assert.ok(spread > 300, `they came back within ${spread} ms`);
}

/** What waits, waits for minutes: whoever is back at once was called. */
const PATIENT = { retry: { initialMs: 120_000, capMs: 240_000 } };

test("frozen and thawed", PROTOCOL, () =>
  withAll(async (page) => {
    await page.send("Page.setWebLifecycleState", { state: "frozen" });
    server.control.fault("drop");
    await write();
    await sleep(500);
    assert.equal(requests.length, 0, "a frozen page asks for nothing");
    await page.send("Page.setWebLifecycleState", { state: "active" });
    await assertBack(page);
  }),
);

test("offline and online", PROTOCOL, () =>
  withAll(async (page) => {
    const network = (/** @type {boolean} */ offline) =>
      page.send("Network.emulateNetworkConditions", { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
    await page.send("Network.enable");
    await network(true);
    // Not all browsers cut sockets in this emulation, or refuse new ones: the server does both.
    origin.refuse({ status: 503, headers: {}, body: "offline" });
    server.control.fault("drop");
    await write();
    await page.waitForFunction(() => /** @type {any} */ (globalThis).phases() === "reconnecting" && !navigator.onLine);
    await sleep(500);
    requests = [];
    const began = performance.now();
    origin.refuse(undefined);
    await network(false);
    await assertBack(page);
    assert.ok(performance.now() - began < 60_000, "the event had them try before their time");
  }, PATIENT),
);

test("asleep, while the steady clock stood still and no event told", PROTOCOL, () =>
  withAll(async (page) => {
    // The connections are dead, and no event tells so.
    server.control.fault("freeze");
    await write();
    await page.evaluate(() => {
      const now = Date.now;
      Date.now = () => now() + 10 * 60_000;
    });
    await assertBack(page);
    server.control.fault("clear");
  }, PATIENT),
);

/**
 * Leaves the page and comes back to it. Answers why the browser did not keep it. The browser may have reasons of its own: too little
 * memory, or a page that was too slow to freeze. A reason that lies in the page fails.
 * @param {Page} page @param {() => Promise<void>} meanwhile @returns {Promise<string | undefined>}
 */
async function thereAndBack(page, meanwhile) {
  // A script that runs in a page while the browser puts it away would prevent that. So only the browser is asked whether the next page is
  // there.
  await page.send("Page.enable");
  // A callback of a FinalizationRegistry is such a script. The package has some, so what is garbage by now is collected before.
  await page.send("HeapProfiler.collectGarbage");
  await page.send("Page.navigate", { url: `${origin.url}/elsewhere` });
  const arrived = (/** @type {string} */ path) => page.told("Page.frameNavigated", ({ frame }) => frame.url === `${origin.url}${path}`);
  await arrived("/elsewhere");
  await meanwhile();
  await page.evaluate(() => void setTimeout(() => history.back()));
  const { type } = await arrived("/");
  if (type === "BackForwardCacheRestore") return undefined;
  const { notRestoredExplanations } = await page.told("Page.backForwardCacheNotUsed", () => true);
  const why = JSON.stringify(notRestoredExplanations);
  const ofTheBrowser = notRestoredExplanations.every((/** @type {{ type: string }} */ { type }) => type === "Circumstantial");
  assert.ok(ofTheBrowser, `the page was not kept: ${why}`);
  return why;
}

/** A page that keeps its states has a database and locks, too: whoever holds either while it leaves is not kept. */
const KEPT = { ...PATIENT, identity: "jane", persist: {} };

test("kept for the way back", PROTOCOL, async (t) => {
  for (let attempts = 3; ; attempts--) {
    let lost;
    await withAll(async (page) => {
      await page.evaluate(() => {
        Object.assign(globalThis, { mark: "the same page" });
        addEventListener("pageshow", (event) => Object.assign(globalThis, { persisted: event.persisted }));
      });
      lost = await thereAndBack(page, async () => {
        await write();
        assert.equal(origin.open, 0, "whoever leaves takes no connection along");
        requests = [];
      });
      if (lost) return;
      await page.waitForFunction(() => /** @type {any} */ (globalThis).persisted === true);
      assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).mark), "the same page");
      await assertBack(page);
    }, KEPT);
    if (!lost) return;
    assert.ok(attempts > 1, `the browser kept the page in no attempt: ${lost}`);
    t.diagnostic(`not kept, once more: ${lost}`);
  }
});
