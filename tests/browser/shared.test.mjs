// Many tabs and one worker, in a real browser. What the server sees of them, who meets whom, and what is left when one dies.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startServer } from "../../www/server/index.mjs";
import { chromiumOnly, except, launchBrowser } from "../engines/launch.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TOKEN = "a-token-of-the-page";
/** Tabs of one profile. */
const TABS = except({ webkit: "its driver opens one page at a time" });
/** What looks at workers. */
const WORKERS = chromiumOnly("the drivers of other engines do not tell of workers");

let browser;
before(async () => (browser = await launchBrowser()));
after(() => browser?.close());

/** A server with a token, and what opens tabs of one profile on it. */
async function profile(t, settings = {}) {
  const server = await startServer({ port: 0, pods: 40, rate: 20, tokens: [TOKEN], root, ...settings });
  t.after(() => server.close());
  const context = await browser.newContext();
  t.after(() => context.close());
  /** A tab, live with its pods. */
  const open = async (options = {}) => {
    const page = await context.newPage();
    const said = [];
    page.on("console", (message) => message.type() === "warning" && said.push(message.text()));
    await page.goto(`${server.url}/dist/`, { waitUntil: "commit" }).catch(() => {});
    await page.evaluate(
      async ([given, token]) => {
        const { createWatchCache } = await import("/dist/index.js");
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
      },
      [options, TOKEN],
    );
    await page.waitForFunction(() => globalThis.pods.status.phase === "live");
    return Object.assign(page, { said });
  };
  /** Until a tab holds what the server holds, while nothing is written. */
  const holds = async (page) => {
    const due = () => JSON.stringify(server.control.digest("pods", "").items);
    const held = () =>
      page.evaluate(() => {
        const items = globalThis.pods
          .view()
          .rows.map(({ metadata: { namespace, name, resourceVersion } }) => [`${namespace}/${name}`, resourceVersion]);
        return JSON.stringify(items);
      });
    const deadline = Date.now() + 15_000;
    while ((await held()) !== due() && Date.now() < deadline) await page.waitForTimeout(50);
    assert.equal(await held(), due());
  };
  return { server, context, open, holds };
}

const mode = () => globalThis.cache.stats().mode;
const counts = ({ control }) => ({ lists: control.status().counts.lists, watches: control.status().counts.watches });

test("twenty tabs cost the server one list and one watch, and hold what it holds", TABS, async (t) => {
  const { server, open, holds } = await profile(t);
  const tabs = await Promise.all(Array.from({ length: 20 }, () => open()));
  assert.equal(await tabs[7].evaluate(mode), "shared");
  assert.deepEqual(counts(server), { lists: 1, watches: 1 });
  await tabs[0].waitForTimeout(500);
  server.control.setRate(0);
  for (const tab of tabs) await holds(tab);
  // A write of one tab is read by it at once, and soon by the others.
  const key = await tabs[3].evaluate(async () => {
    const [pod] = globalThis.pods.view().rows;
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    await globalThis.pods.patch(key, { metadata: { labels: { tab: "three" } } }, { type: "merge" });
    if (globalThis.pods.peek(key).metadata.labels.tab !== "three") throw new Error("its own write is not read");
    return key;
  });
  await tabs[4].waitForFunction((key) => globalThis.pods.peek(key).metadata.labels?.tab === "three", key);
  // What the server refuses has its words in each tab.
  const refused = await tabs[5].evaluate(() => globalThis.pods.get("default/nobody").catch(({ code, status }) => [code, status.reason]));
  assert.deepEqual(refused, ["not-found", "NotFound"]);
  assert.deepEqual(
    tabs.flatMap(({ said }) => said),
    [],
  );
});

test("the tab that was asked for credentials closes: another one is asked, and nothing is lost", TABS, async (t) => {
  const { server, open, holds } = await profile(t);
  const tabs = [await open(), await open(), await open()];
  const asked = await Promise.all(tabs.map((tab) => tab.evaluate(() => globalThis.asked)));
  assert.ok(
    asked.some((times) => times > 0),
    asked.join(),
  );
  // The newest is asked first.
  await tabs.pop().close({ runBeforeUnload: false });
  server.control.fault("drop");
  await tabs[0].waitForFunction(() => globalThis.phases.includes("reconnecting"));
  await tabs[0].waitForFunction(() => globalThis.pods.status.phase === "live");
  server.control.setRate(0);
  for (const tab of tabs) {
    await holds(tab);
    assert.equal(await tab.evaluate(() => globalThis.blanks), 0);
  }
  assert.equal(counts(server).lists, 1);
});

test("users, and options that change what is held, do not meet", TABS, async (t) => {
  const { server, open } = await profile(t);
  await open();
  await open({ identity: "joe" });
  await open({ strip: [] });
  assert.equal(counts(server).lists, 3);
  await open({ identity: "joe", pageSize: 500, indexes: { node: "spec.nodeName" } });
  assert.equal(counts(server).lists, 4, "the page size is the worker's");
  await open({ indexes: { node: "spec.nodeName" }, flush: "microtask", linger: 1 });
  assert.equal(counts(server).lists, 4, "these are the page's own affair");
});

test("the last tab closes and another opens: the worker is there, or another one is", TABS, async (t) => {
  const { server, context, open, holds } = await profile(t);
  const keeper = await context.newPage(); // the browser itself stays
  await keeper.goto(server.url);
  await (await open()).close();
  const next = await open();
  server.control.setRate(0);
  await holds(next);
  assert.ok(counts(server).lists <= 2);
});

test("in a worker of its own the page's thread holds no stream, and a closed cache ends the worker", WORKERS, async (t) => {
  const { server, open, holds } = await profile(t);
  const [one, other] = [await open({ mode: "worker" }), await open({ mode: "worker" })];
  assert.deepEqual([await one.evaluate(mode), counts(server).lists], ["worker", 2]);
  assert.deepEqual([one.workers().length, other.workers().length], [1, 1]);
  server.control.setRate(0);
  await holds(one);
  await one.evaluate(() => globalThis.cache.close());
  const ended = Date.now() + 10_000;
  while (one.workers().length > 0 && Date.now() < ended) await one.waitForTimeout(20);
  assert.deepEqual([one.workers().length, other.workers().length], [0, 1]);
});

test("the worker dies: rows stay, the next one goes on from their version, and each tab hears of it", WORKERS, async (t) => {
  const { server, open, holds } = await profile(t);
  const tab = await open({ mode: "worker" });
  const [worker] = tab.workers();
  await worker.evaluate(() => globalThis.close());
  await tab.waitForFunction(() => globalThis.phases.includes("reconnecting"), undefined, { timeout: 60_000 });
  assert.ok((await tab.evaluate(() => globalThis.pods.size)) > 0);
  await tab.waitForFunction(() => globalThis.pods.status.phase === "live", undefined, { timeout: 60_000 });
  server.control.setRate(0);
  await holds(tab);
  assert.equal(await tab.evaluate(() => globalThis.blanks), 0);
});

test("where there can be no worker the page holds its streams itself, and says so once", async (t) => {
  const { server, open, holds } = await profile(t);
  const tab = await open({ worker: "/dist/no-such-worker.js" });
  assert.equal(await tab.evaluate(mode), "inline");
  await tab.evaluate(() => globalThis.cache.resource("nodes").synced());
  server.control.setRate(0);
  await holds(tab);
  const said = tab.said.filter((text) => text.includes("no worker"));
  assert.equal(said.length, 1, tab.said.join("\n"));
});
