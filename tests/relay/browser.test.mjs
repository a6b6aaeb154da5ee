// The package in pages, through a relay on their own origin: the browser's own WebSocket and fetch.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launchBrowser } from "../engines/launch.mjs";
import { JANE, JOE, relayed } from "./harness.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await launchBrowser()));
after(() => browser?.close());

test("pages of two people share one list and one watch, over either way, and hold what the server holds", async (t) => {
  const { server, relay, direct, metrics, pod } = await relayed(t, { server: { pods: 30, root } });
  const open = async (token, transport) => {
    const page = await browser.newPage();
    t.after(() => page.close());
    await page.goto(`${relay.url}/dist/`, { waitUntil: "commit" }).catch(() => {});
    await page.evaluate(
      async ([token, transport]) => {
        const { createWatchCache } = await import("/dist/index.js");
        const cache = createWatchCache({ auth: () => ({ token }), transport, pageSize: 7 });
        const pods = cache.resource("pods");
        Object.assign(globalThis, { cache, pods });
        pods.view().subscribe(() => {});
        await pods.synced();
      },
      [token, transport],
    );
    await page.waitForFunction(() => globalThis.pods.status.phase === "live");
    return page;
  };
  const pages = await Promise.all([open(JANE, "auto"), open(JOE, "auto"), open(JANE, "fetch")]);
  const transports = await Promise.all(pages.map((page) => page.evaluate(() => globalThis.cache.stats().resources[0].transport)));
  assert.deepEqual(transports, ["websocket", "websocket", "fetch"]);
  await pod("late", direct);
  for (const page of pages) await page.waitForFunction(() => globalThis.pods.peek("default/late")?.kind === "Pod");
  const counted = await metrics();
  assert.deepEqual(
    ["list", "watch"].map((verb) => counted[`watchcache_relay_upstream_requests_total{verb="${verb}"}`]),
    [1, 1],
  );
  const { size, digest } = await pages[0].evaluate(async () => ({
    size: globalThis.pods.size,
    digest: JSON.stringify(
      (await globalThis.pods.list({ resourceVersion: "0" })).items.map(({ metadata }) => [
        `${metadata.namespace}/${metadata.name}`,
        metadata.resourceVersion,
      ]),
    ),
  }));
  assert.deepEqual([size, digest], [31, JSON.stringify(server.control.digest("pods").items)]);
});

test("a page with a wrong token is told so, whatever others see", async (t) => {
  const { relay, jane } = await relayed(t, { server: { pods: 5, root } });
  await jane.list("/api/v1/pods");
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(`${relay.url}/dist/`, { waitUntil: "commit" }).catch(() => {});
  const told = await page.evaluate(async () => {
    const { createWatchCache } = await import("/dist/index.js");
    const pods = createWatchCache({ auth: () => ({ token: "wrong" }) }).resource("pods");
    const error = await pods.synced().catch((error) => error);
    return [error.code, pods.status.phase, pods.size];
  });
  assert.deepEqual(told, ["unauthorized", "needs-auth", 0]);
});
