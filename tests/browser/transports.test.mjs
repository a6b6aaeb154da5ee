// How watches come where a page's connections to its server are few, where nothing lets WebSockets through, and where `auth` gives headers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startServer } from "../../www/server/index.mjs";
import { launchBrowser } from "../engines/launch.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const RESOURCES = ["pods", "nodes", "services", "namespaces", "events", "configmaps", "apps/v1/deployments", "apps/v1/replicasets"];

let browser;
before(async () => (browser = await launchBrowser()));
after(() => browser?.close());

/** A page of a server of its own, with these resources of a cache open. */
async function open(t, options = {}, settings = {}) {
  // Pods change and bookmarks come soon. Firefox answers a fetch with the first bytes of its body, and a quiet watch has none.
  const server = await startServer({ port: 0, pods: 5, rate: 10, bookmarkMs: 300, root, ...settings });
  t.after(() => server.close());
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const warned = [];
  page.on("console", (message) => message.type() === "warning" && warned.push(message.text()));
  await page.goto(server.url);
  const show = async () => {
    await page.evaluate(
      async ([names, given]) => {
        const { createWatchCache } = await import("/dist/index.js");
        globalThis.sockets = 0;
        globalThis.WebSocket = class extends WebSocket {
          constructor(...given) {
            super(...given);
            globalThis.sockets++;
          }
        };
        const auth = given.headers && (() => ({ headers: given.headers, token: "not-this-one" }));
        const cache = createWatchCache({ transport: given.transport, auth });
        globalThis.resources = names.map((name) => cache.resource(name));
        globalThis.lived = new Set();
        for (const resource of globalThis.resources) {
          const look = () => resource.status.phase === "live" && globalThis.lived.add(resource);
          resource.addEventListener("status", look);
          resource.addEventListener("sync", look);
        }
        globalThis.uses = globalThis.resources.map((resource) => resource.view().subscribe(() => {}));
        await Promise.all(globalThis.resources.map((resource) => resource.synced()));
      },
      [RESOURCES, options],
    );
  };
  const standing = () =>
    page.evaluate(() =>
      globalThis.resources.map((resource) => {
        const { phase, error, stale, retryAt } = resource.status;
        return { phase, code: error?.code, message: error?.message, stale, retryAt, transport: resource.stats()?.transport };
      }),
    );
  const sockets = () => page.evaluate(() => globalThis.sockets);
  return { server, page, show, standing, warned, sockets };
}

const allLive = () => globalThis.resources.every(({ status }) => status.phase === "live");

test("over HTTP/1.1 four watches by fetch are open, the others say why they wait, and the page's own requests get through", async (t) => {
  const { page, show, standing, sockets } = await open(t, { transport: "fetch" });
  await show();
  await page.waitForFunction(() => globalThis.lived.size === 4);
  await page.waitForTimeout(500);
  const all = await standing();
  const waiting = all.filter(({ phase }) => phase !== "live");
  assert.equal(waiting.length, RESOURCES.length - 4);
  for (const { phase, code, message, stale, retryAt } of waiting) {
    assert.deepEqual([phase, code, stale, retryAt > 0], ["reconnecting", "unavailable", true, true]);
    assert.match(message, /six connections .* waits for its turn/);
  }
  const answered = page.evaluate(() =>
    Promise.race([fetch("/version").then(({ ok }) => ok), new Promise((late) => setTimeout(late, 5_000))]),
  );
  assert.equal(await answered, true);
  await page.waitForFunction((many) => globalThis.lived.size === many, RESOURCES.length, { timeout: 30_000 });
  assert.equal(await sockets(), 0);
});

test("over WebSockets nobody waits", async (t) => {
  const { page, show, standing, warned, sockets } = await open(t);
  await show();
  await page.waitForFunction(allLive);
  assert.deepEqual([...new Set((await standing()).map(({ transport }) => transport))], ["websocket"]);
  assert.equal(await sockets(), RESOURCES.length);
  assert.deepEqual(warned, []);
});

test("where no WebSocket opens watches go over fetch, which is said once, and a few sockets are tried", async (t) => {
  const { server, page, show, standing, warned, sockets } = await open(t);
  server.control.fault("refuseUpgrade", { code: 503 });
  await show();
  await page.waitForFunction(() => globalThis.lived.size >= 4);
  assert.ok((await standing()).some(({ transport }) => transport === "fetch"));
  const said = warned.filter((words) => words.startsWith("watchcache:"));
  assert.equal(said.length, 1);
  assert.match(said[0], /opens no WebSocket, so watches go over fetch$/);
  // Each may have been under way when the first one was refused.
  await page.waitForTimeout(1_000);
  const tried = await sockets();
  assert.ok(tried > 0 && tried <= 2 * RESOURCES.length, `${tried} sockets`);
  await page.waitForFunction((many) => globalThis.lived.size === many, RESOURCES.length, { timeout: 30_000 });
  assert.equal(await sockets(), tried, "it is remembered");
});

test("headers of auth say who asks, so no socket asks as somebody else", async (t) => {
  const { page, show, sockets } = await open(t, { headers: { authorization: "Bearer secret" } }, { token: "secret" });
  await show();
  await page.waitForFunction(() => globalThis.lived.size >= 4);
  assert.equal(await sockets(), 0);
});
