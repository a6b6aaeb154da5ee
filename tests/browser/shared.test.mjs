// Many tabs and one worker, in a real browser. What the server sees of them, who meets whom, and what is left when one dies.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launchBrowser, tabsAtOnce } from "../engines/launch.mjs";
import { counts, profile, TABS, WORKERS } from "./profile.mjs";

let browser;
before(async () => (browser = await launchBrowser()));
after(() => browser?.close());

const mode = () => globalThis.cache.stats().mode;

test("twenty tabs cost the server one list and one watch, and hold what it holds", TABS, async (t) => {
  const { server, open, holds } = await profile(t, browser);
  const count = tabsAtOnce(t, 20);
  const tabs = await Promise.all(Array.from({ length: count }, () => open()));
  assert.equal(await tabs[6].evaluate(mode), "shared");
  assert.deepEqual(counts(server), { lists: 1, watches: 1 });
  await tabs[0].waitForFunction((count) => {
    const { tabs, resources } = globalThis.cache.stats().worker ?? {};
    // What the worker has told last may be of before its list.
    return tabs === count && resources.some(({ lists }) => lists > 0);
  }, count);
  const { memoryBytes, resources, metrics } = await tabs[0].evaluate(() => globalThis.cache.stats().worker);
  assert.ok(memoryBytes > 0);
  assert.match(metrics, /^apiserver_watch_cache_initializations_total{.*resource="pods".*} 1$/m, "those of the server's list");
  assert.deepEqual(
    resources.map(({ name, lists }) => ({ name, lists })),
    [{ name: "pods", lists: 1 }],
  );
  server.control.setRate(0);
  for (const tab of tabs) await holds(tab);
  // A write of one tab is read by it at once, and soon by the others.
  const key = await tabs[3].evaluate(async () => {
    const [pod] = (await globalThis.pods.list({ resourceVersion: "0", limit: 1 })).items;
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
  const { server, open, holds } = await profile(t, browser);
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

test("the worker imports a source of one's own by the address of its module, and the page where there is none", TABS, async (t) => {
  const { open } = await profile(t, browser);
  const read = (tab) =>
    tab.evaluate(async () => {
      const things = globalThis.cache.resource({ source: "/tests/browser/source-module.js?of=jane", id: "things" });
      await things.synced();
      const { metadata, ...said } = things.peek("one");
      return said;
    });
  const [one, other] = [await read(await open()), await read(await open())];
  assert.deepEqual([one.place, one.of, one.id], ["a worker", "jane", "things"]);
  assert.deepEqual(other, one, "it is one module for both tabs");
  assert.equal((await read(await open({ mode: "inline" }))).place, "a page");
  const bad = await (
    await open()
  ).evaluate(async () => {
    const things = globalThis.cache.resource({ source: "/tests/browser/nowhere.js", id: "things" });
    const { code } = await things.synced().catch((error) => error);
    return [code, things.status.phase, globalThis.pods.status.phase];
  });
  assert.deepEqual(bad, ["invalid", "failed", "live"]);
});

test("users, and options that change what is held, do not meet", TABS, async (t) => {
  const { server, open } = await profile(t, browser);
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
  const { server, context, open, holds } = await profile(t, browser);
  const keeper = await context.newPage(); // the browser itself stays
  await keeper.goto(server.url);
  await (await open()).close();
  const next = await open();
  server.control.setRate(0);
  await holds(next);
  assert.ok(counts(server).lists <= 2);
});

test("in a worker of its own the page's thread holds no stream, and a closed cache ends the worker", WORKERS, async (t) => {
  const { server, open, holds } = await profile(t, browser);
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
  const { server, open, holds } = await profile(t, browser);
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
  const { server, open, holds } = await profile(t, browser);
  const tab = await open({ worker: "/dist/no-such-worker.js" });
  assert.equal(await tab.evaluate(mode), "inline");
  await tab.evaluate(() => globalThis.cache.resource("nodes").synced());
  server.control.setRate(0);
  await holds(tab);
  const said = tab.said.filter((text) => text.includes("no worker"));
  assert.equal(said.length, 1, tab.said.join("\n"));
});
