// Tabs and workers that come to an end, each in its own way. Whoever lives has lost nothing, was never blank, and there is one watch for each worker
// that lives.
import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../../scripts/lib/project.mjs";
import { chromiumOnly, launchBrowser, tabsAtOnce } from "../engines/launch.mjs";
import { counts, hurry, intact, locks, passingScript, profile, TABS, tell } from "./profile.mjs";

/** What the DevTools protocol does to a page. */
const PROTOCOL = chromiumOnly("a page is crashed and cut off by the DevTools protocol");
const OBEDIENT = { worker: "/tests/browser/obedient-worker.js" };

let browser;
before(async () => (browser = await launchBrowser()));
after(() => browser?.close());

const tabsOf = () => globalThis.cache.stats().worker?.tabs;
test("a tab crashes: the worker and the others go on, and nothing of it is left", PROTOCOL, async (t) => {
  const its = await profile(t, browser);
  const [first, second, third] = [await its.open(), await its.open(), await its.open()];
  await first.waitForFunction(() => globalThis.cache.stats().worker?.tabs === 3);
  const session = await its.context.newCDPSession(third);
  const crashed = new Promise((resolve) => third.once("crash", resolve));
  session.send("Page.crash").catch(() => {});
  await crashed;
  await first.waitForFunction(() => globalThis.cache.stats().worker?.tabs === 2, undefined, { timeout: 20_000 });
  await intact(its, [first, second]);
  assert.equal(counts(its.server).lists, 1);
  assert.deepEqual(await locks(first), ["watchcache tab", "watchcache tab", "watchcache worker"]);
});

test("the worker of all tabs ends: rows stay, and the next one lists once for all", TABS, async (t) => {
  const its = await profile(t, browser);
  const tabs = [await its.open(OBEDIENT), await its.open(OBEDIENT), await its.open(OBEDIENT)];
  await tell(tabs[1], "end");
  for (const tab of tabs) await tab.waitForFunction(() => globalThis.phases.includes("reconnecting"));
  await intact(its, tabs);
  assert.deepEqual(counts(its.server), { lists: 2, watches: 2 });
  await tabs[0].waitForFunction(() => globalThis.cache.stats().worker?.tabs === 3);
  // Who opens later meets them, too.
  its.server.control.setRate(20);
  tabs.push(await its.open(OBEDIENT));
  await intact(its, tabs);
  assert.deepEqual(counts(its.server), { lists: 2, watches: 2 });
  assert.deepEqual(await locks(tabs[0]), [...tabs.map(() => "watchcache tab"), "watchcache worker"]);
});

for (const [how, what] of [
  ["tear", "the worker's WebAssembly fails"],
  ["exhaust", "the worker's memory is used up to the last byte"],
]) {
  test(`${what}: that worker ends with all it has, and the next one goes on`, TABS, async (t) => {
    const its = await profile(t, browser);
    const tabs = [await its.open(OBEDIENT), await its.open(OBEDIENT)];
    await tell(tabs[1], how);
    for (const tab of tabs) await tab.waitForFunction(() => globalThis.phases.includes("reconnecting"), undefined, { timeout: 10_000 });
    await intact(its, tabs);
    assert.deepEqual(counts(its.server), { lists: 2, watches: 2 });
    await tabs[0].waitForFunction(() => globalThis.cache.stats().worker?.tabs === 2);
    assert.deepEqual(await locks(tabs[0]), ["watchcache tab", "watchcache tab", "watchcache worker"]);
  });
}

test("the worker has no memory for what comes: rows stay, each tab is told, and one that asks again asks for all", TABS, async (t) => {
  const its = await profile(t, browser);
  const tabs = [await its.open(OBEDIENT), await its.open(OBEDIENT)];
  await tell(tabs[0], "starve");
  its.server.control.setRate(0);
  its.server.control.fault("bigObject");
  for (const tab of tabs) {
    await tab.waitForFunction(() => globalThis.pods.status.phase === "failed");
    const { code, stale, size } = await tab.evaluate(() => {
      const { status, size } = globalThis.pods;
      return { code: status.error.code, stale: status.stale, size };
    });
    assert.deepEqual({ code, stale }, { code: "out-of-memory", stale: true });
    assert.ok(size > 0);
  }
  await sleep(5_000);
  for (const tab of tabs) {
    const phases = await tab.evaluate(() => globalThis.phases);
    assert.equal(phases.at(-1), "failed", "it is not live by itself");
  }
  its.server.control.fault("clear");
  await tabs[1].evaluate(() => globalThis.pods.resume());
  await intact(its, tabs);
  assert.deepEqual(counts(its.server), { lists: 2, watches: 2 });
  assert.deepEqual(await locks(tabs[0]), ["watchcache tab", "watchcache tab", "watchcache worker"]);
});

test("the worker of all tabs hangs: it is given up, and another one goes on", TABS, async (t) => {
  const its = await profile(t, browser);
  const tabs = [await its.open(OBEDIENT), await its.open(OBEDIENT)];
  await tell(tabs[0], "hang");
  // Who opens now has heard nothing of that worker, and waits until the others give it up.
  const between = its.open(OBEDIENT);
  for (const tab of tabs)
    await tab.waitForFunction(() => globalThis.phases.includes("reconnecting") && globalThis.pods.status.phase === "live", undefined, {
      timeout: 60_000,
    });
  tabs.push(await between);
  // The one that hangs has its watch still.
  await intact(its, tabs, 2);
  assert.equal(counts(its.server).lists, 2);
  await tabs[0].waitForFunction(() => globalThis.cache.stats().worker?.tabs === 3);
  its.server.control.setRate(20);
  tabs.push(await its.open(OBEDIENT));
  await intact(its, tabs, 2);
  assert.equal(counts(its.server).lists, 2, "who opens later meets them, too");
});

test("the worker's WebAssembly cannot be loaded: the page holds its streams itself, and says so once", TABS, async (t) => {
  const its = await profile(t, browser);
  const tab = await its.open({ worker: "/tests/browser/fetchless-worker.js" });
  assert.equal(await tab.evaluate(() => globalThis.cache.stats().mode), "inline");
  assert.equal(tab.said.filter((text) => text.includes("no worker")).length, 1, tab.said.join("\n"));
  await intact(its, [tab]);
});

test("thirty tabs at once: one list, one watch", TABS, async (t) => {
  const its = await profile(t, browser);
  const count = tabsAtOnce(t, 30);
  const tabs = await Promise.all(Array.from({ length: count }, () => its.open()));
  await tabs[0].waitForFunction((count) => globalThis.cache.stats().worker?.tabs === count, count);
  await intact(its, tabs);
  assert.deepEqual(counts(its.server), { lists: 1, watches: 1 });
});

test("the last tab closes and another one opens within a second", TABS, async (t) => {
  const its = await profile(t, browser);
  const keeper = await its.context.newPage(); // the browser itself stays
  await keeper.goto(its.server.url);
  for (let round = 0; round < 5; round++) {
    const tab = await its.open();
    if (round === 4) await intact(its, [tab]);
    else await tab.close();
  }
});

test("one tab is offline: the worker is not, so nothing happens", PROTOCOL, async (t) => {
  const its = await profile(t, browser);
  const [one, other] = [await its.open(), await its.open()];
  const session = await its.context.newCDPSession(one);
  await session.send("Network.enable");
  const network = (offline) =>
    session.send("Network.emulateNetworkConditions", { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  await network(true);
  await one.waitForFunction(() => !navigator.onLine);
  const before = await one.evaluate(() => globalThis.versions.length);
  await one.waitForFunction((before) => globalThis.versions.length > before + 5, before);
  await network(false);
  await intact(its, [one, other]);
  assert.deepEqual(counts(its.server), { lists: 1, watches: 1 });
});

test("a new version is rolled out while tabs of the old one live: one list and one watch each", TABS, async (t) => {
  const next = join(root, "artifacts/next-version");
  rmSync(next, { recursive: true, force: true });
  cpSync(join(root, "dist"), next, { recursive: true });
  const { build } = await import("../../dist/wasm/watchcache.js");
  const other = [...build].reverse().join("");
  assert.notEqual(other, build);
  for (const name of ["watchcache.js", "watchcache_bg.wasm"]) {
    const file = join(next, "wasm", name);
    const bytes = readFileSync(file, "latin1");
    assert.ok(bytes.includes(build));
    writeFileSync(file, bytes.replaceAll(build, other), "latin1");
  }
  const its = await profile(t, browser);
  const tabs = [await its.open(), await its.open()];
  const newer = await Promise.all([1, 2].map(() => its.open({}, "/artifacts/next-version/index.js")));
  await intact(its, [...tabs, ...newer], 2);
  assert.equal(counts(its.server).lists, 2);
  for (const tab of [...tabs, ...newer]) assert.equal(await tab.evaluate(tabsOf), 2);
  for (const tab of tabs) await tab.close();
  await intact(its, newer);
});

test(
  "the worker ends when its script is gone: each page holds its streams itself, says so once, and meets others at a worker later",
  TABS,
  async (t) => {
    const its = await profile(t, browser);
    const { worker, gone, back } = passingScript("gone-of-all");
    const tabs = [await its.open({ worker }), await its.open({ worker })];
    const isOfTab = async () => (await navigator.locks.query()).held.find(({ name }) => name.startsWith("watchcache tab")).name;
    const lock = await tabs[0].evaluate(isOfTab);
    gone();
    for (const tab of tabs) await hurry(tab);
    await tell(tabs[0], "end");
    for (const tab of tabs) {
      await tab.waitForFunction(() => globalThis.cache.stats().mode === "inline", undefined, { timeout: 60_000 });
      assert.equal(tab.said.filter((text) => text.includes("no worker")).length, 1, tab.said.join("\n"));
      assert.equal(await tab.evaluate(tabsOf), undefined);
    }
    await intact(its, tabs, 2);
    assert.deepEqual(await locks(tabs[0]), []);

    // Nobody has a worker yet.
    const wake = () => document.dispatchEvent(new Event("resume"));
    its.server.control.setRate(20);
    await tabs[0].evaluate(wake);
    await intact(its, tabs, 2);
    assert.equal(await tabs[0].evaluate(() => globalThis.cache.stats().mode), "inline");

    // Somebody looks for one, and has none either. That costs nobody anything.
    const looks = (lock) =>
      void navigator.locks.request(`${lock} of another`, () => new Promise((release) => Object.assign(globalThis, { release })));
    await tabs[1].evaluate(looks, lock);
    await tabs[0].evaluate(() => (globalThis.phases.length = 0));
    await tabs[0].evaluate(wake);
    its.server.control.setRate(20);
    await sleep(1_000);
    await intact(its, tabs, 2);
    assert.deepEqual(await tabs[0].evaluate(() => [globalThis.phases, globalThis.cache.stats().mode]), [[], "inline"]);
    assert.equal(tabs[0].said.filter((text) => text.includes("no worker")).length, 1, "it is told once");
    await tabs[1].evaluate(() => globalThis.release());

    back();
    tabs.push(await its.open({ worker }));
    for (const tab of tabs) await tab.evaluate(wake);
    await tabs[0].waitForFunction(() => globalThis.cache.stats().worker?.tabs === 3);
    its.server.control.setRate(20);
    await intact(its, tabs);
    assert.deepEqual(await locks(tabs[0]), [...tabs.map(() => "watchcache tab"), "watchcache worker"]);
  },
);
