// Tabs of one browser profile that share the streams of a worker.
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startServer } from "../../www/server/index.mjs";
import { chromiumOnly, except } from "../engines/launch.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TOKEN = "a-token-of-the-page";
/** Tabs of one profile. */
export const TABS = except({ webkit: "its driver opens one page at a time" });
/** What looks at workers. */
export const WORKERS = chromiumOnly("the drivers of other engines do not tell of workers");

/** Makes the cache of a page, and keeps what it tells. It runs in the page. */
async function start([given, token, entry]) {
  const { createWatchCache } = await import(entry);
  globalThis.asked = 0;
  const auth = () => {
    globalThis.asked++;
    return { token };
  };
  const cache = createWatchCache({ mode: "shared", identity: "jane", auth, ...given });
  const pods = cache.resource("pods");
  Object.assign(globalThis, { cache, pods, versions: [], blanks: 0, phases: [] });
  const view = pods.view();
  view.subscribe(() => {
    if (view.rows.length === 0 && globalThis.versions.length > 0) globalThis.blanks++;
    globalThis.versions.push(pods.resourceVersion);
  });
  pods.addEventListener("status", () => globalThis.phases.push(pods.status.phase));
  await pods.synced();
}

const isLive = () => globalThis.pods.status.phase === "live";

/** Has an empty page of the server hold its pods, and waits until it is live. */
export async function enter(page, options = {}, entry = "/dist/index.js") {
  await page.evaluate(start, [options, TOKEN, entry]);
  await page.waitForFunction(isLive);
}

/** A server with a token. */
export async function serving(t, settings = {}) {
  const server = await startServer({ port: 0, pods: 40, rate: 20, tokens: [TOKEN], root, ...settings });
  t.after(() => server.close());
  return server;
}

/** Until a tab holds what the server holds, while nothing is written. */
async function holds(page, server) {
  const due = () => JSON.stringify(server.control.digest("pods", "").items);
  const held = () =>
    page.evaluate(() => {
      const items = globalThis.pods
        .view()
        .rows.map(({ metadata: { namespace, name, resourceVersion } }) => [`${namespace}/${name}`, resourceVersion]);
      return JSON.stringify(items);
    });
  const deadline = Date.now() + 15_000;
  while ((await held()) !== due() && Date.now() < deadline) await sleep(50);
  assert.equal(await held(), due());
}

/** A server with a token, and what opens tabs of one profile on it. */
export async function profile(t, browser, settings = {}) {
  const server = await serving(t, settings);
  const context = await browser.newContext();
  t.after(() => context.close());
  /** A tab, live with its pods. */
  const open = async (options, entry) => {
    const page = await context.newPage();
    const said = [];
    page.on("console", (message) => message.type() === "warning" && said.push(message.text()));
    await page.goto(`${server.url}/dist/`, { waitUntil: "commit" }).catch(() => {});
    await enter(page, options, entry);
    return Object.assign(page, { said });
  };
  return { server, context, open, holds: (page) => holds(page, server) };
}

/** These tabs hold what the server holds, and were never blank. The server has so many watches open. */
export async function intact({ server }, tabs, watches = 1) {
  server.control.setRate(0);
  for (const tab of tabs) {
    await tab.waitForFunction(isLive);
    await holds(tab, server);
    assert.equal(await tab.evaluate(() => globalThis.blanks), 0);
    const versions = await tab.evaluate(() => globalThis.versions.filter((version) => version !== undefined).map(Number));
    assert.deepEqual(
      versions,
      [...versions].sort((a, b) => a - b),
      "no version comes back",
    );
  }
  assert.equal(server.control.status().streams.length, watches);
}

/** Tells the worker of all tabs something: see obedient-worker.js. */
export const tell = (tab, words) => tab.evaluate((words) => new BroadcastChannel("tests").postMessage(words), words);

/** The script of an obedient worker. No server has it any more once it is `gone`, as after a rollout, until it is `back`. */
export function passingScript(name) {
  const folder = `artifacts/${name}`;
  const back = () => {
    mkdirSync(root + folder, { recursive: true });
    writeFileSync(`${root}${folder}/worker.js`, 'import "/tests/browser/obedient-worker.js";');
  };
  back();
  return { worker: `/${folder}/worker.js`, gone: () => rmSync(root + folder, { recursive: true }), back };
}

/** The tab waits for its next worker a fiftieth of the time. */
export const hurry = (tab) =>
  tab.evaluate(() => {
    const [set, steady] = [globalThis.setTimeout, 10_000];
    const isOfLink = () => new Error().stack.includes("/link/link.js");
    globalThis.setTimeout = (call, ms, ...rest) => set(call, ms !== steady && isOfLink() ? ms / 50 : ms, ...rest);
  });

/** Locks that anybody of the profile holds, by their kind. */
export const locks = (page) =>
  page.evaluate(async () => (await navigator.locks.query()).held.map(({ name }) => name.replace(/:.*/, "")).sort());

/** What the server counts. */
export const counts = ({ control }) => ({ lists: control.status().counts.lists, watches: control.status().counts.watches });
