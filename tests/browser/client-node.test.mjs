// `watchcache/compat/client-node` in a page, which has no Node to fall back on. Over WebSockets it hears what `@kubernetes/client-node`
// hears in Node from the same server.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launchBrowser, ofTheBrowser } from "../engines/launch.mjs";
import { informerOf, subjects, until, world } from "../compat/rig.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TYPES = { js: "text/javascript", wasm: "application/wasm" };

let files;
let browser;

before(async () => {
  files = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const known = /^\/dist\/[\w/-]+\.(js|wasm)$/.test(pathname);
    const body = pathname === "/" ? "<!doctype html><title>look-alike</title>" : known ? await readFile(ROOT + pathname) : undefined;
    response.writeHead(body === undefined ? 404 : 200, { "content-type": TYPES[pathname.split(".")[1]] ?? "text/html" });
    response.end(body);
  });
  await new Promise((resolve) => files.listen(0, "127.0.0.1", resolve));
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  files?.close();
});

/** An informer in a page of its own, as `informerOf` has it. */
async function inPage(t, at) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const thrown = [];
  page.on("pageerror", (error) => ofTheBrowser(error) || thrown.push(error));
  t.after(() => assert.deepEqual(thrown, []));
  at.atEnd(() => context.close());
  await page.goto(`http://127.0.0.1:${files.address().port}/`);
  await page.evaluate(async (server) => {
    const { makeInformer } = await import("/dist/compat/client-node.js");
    const brief = ({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`;
    const heard = [];
    const errors = [];
    const { createWatchCache } = await import("/dist/index.js");
    const cache = createWatchCache({ server, retry: { initialMs: 20, capMs: 200 } });
    const interruptions = [];
    const onWatchError = ({ phase, error, delayMs, stale }) => interruptions.push([phase, error.code, error.message, delayMs, stale]);
    await cache.resource("pods").informer({ onWatchError }).synced;
    const informer = makeInformer(cache, "/api/v1/pods");
    for (const verb of ["add", "update", "delete"]) informer.on(verb, (object) => heard.push(`${verb} ${brief(object)}`));
    informer.on("error", ({ name, code, statusCode }) => errors.push([name, code, statusCode]));
    const held = () => informer.list().map(brief).sort();
    globalThis.subject = { informer, heard, errors, held, interruptions };
    await informer.start();
  }, at.url);
  const read = (what) => page.evaluate((what) => globalThis.subject[what], what);
  return {
    errors: () => read("errors"),
    interruptions: () => read("interruptions"),
    held: () => page.evaluate(() => globalThis.subject.held()),
    stop: () => page.evaluate(() => globalThis.subject.informer.stop()),
    async told(count) {
      await until(
        async () => (await read("heard")).length >= count,
        () => `${count} calls in the page`,
      );
      return page.evaluate(() => globalThis.subject.heard.splice(0));
    },
  };
}

test("in a page it hears what the original hears in Node, through dropped sockets and an expired history", async (t) => {
  const at = await world(t);
  const [x, y] = [await at.create("a/x"), await at.create("b/y")];
  const original = informerOf(t, subjects.original, at);
  original.restartsOnError();
  await original.informer.start();
  const page = await inPage(t, at);
  const hear = async (expected, { anyOrder = false } = {}) => {
    const order = (calls) => (anyOrder ? [...calls].sort() : calls);
    for (const subject of [original, page]) assert.deepEqual(order(await subject.told(expected.length)), order(expected));
  };
  await hear([`add ${x}`, `add ${y}`]);

  const x2 = await at.label("a/x", { tier: "1" });
  const [marked, gone] = await at.remove("b/y");
  await hear([`update ${x2}`, `update ${marked}`, `delete ${gone}`]);

  await until(() => at.streams() === 2);
  at.control.fault("drop", { midFrame: true });
  const z = await at.create("c/z");
  await hear([`add ${z}`]);
  assert.deepEqual(await page.errors(), [], "what is resumed at once is no error");
  const broken = ["reconnecting", "network", "the watch's WebSocket was closed with code 1006", 0, true];
  assert.deepEqual(await page.interruptions(), [broken], "an informer of the cache itself can hear of it");

  await until(() => at.streams() === 2);
  // So that neither can catch up before the versions are gone.
  at.control.fault("status", { on: "watch", code: 503, retryAfterSeconds: 0 });
  const ended = original.errors.length;
  at.control.fault("drop");
  await until(async () => original.errors.length > ended && (await page.errors()).length > 0);
  assert.deepEqual((await page.errors())[0], ["WatchCacheError", "unavailable", 503]);
  const x3 = await at.label("a/x", { tier: "2" });
  await at.remove("c/z");
  const w = await at.create("c/w");
  at.control.fault("expire");
  at.control.fault("clear");
  await hear([`update ${x3}`, `delete ${z}`, `add ${w}`], { anyOrder: true });
  assert.deepEqual(await page.held(), original.held());

  await until(() => at.streams() === 2);
  await page.stop();
  await at.create("a/after");
  assert.equal((await original.told(1)).length, 1);
  assert.deepEqual(await page.told(0), [], "nothing is called after a stop");
});
