// Tabs that are frozen, kept for the way back, or discarded, while a worker holds their streams. Whoever wakes has lost nothing and was never blank. The
// server sees one list and one watch, and no lock or tab is left in the worker of one that is gone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../e2e/cache.mjs";
import { chromiumOnly } from "../engines/launch.mjs";
import { withBrowser } from "../page/devtools.mjs";
import { counts, enter, hurry, intact, locks, passingScript, serving, tell } from "./profile.mjs";

/** Only this protocol freezes tabs, and tells whether one was kept. */
const PROTOCOL = chromiumOnly("tabs are frozen, kept and discarded by the DevTools protocol");
const HOME = "/tests/browser/blank.html";
/** Pages that have nothing to do with it. */
const ELSEWHERE = "/dist/index.js";
/** Newer than any that the browser keeps for the way back. */
const FAR = 10;

/** A server, a browser of its own, and what opens tabs there that are live with their pods. */
const withTabs = (t, body) =>
  withBrowser(async (browser) => {
    const server = await serving(t);
    const open = async (options, search = "") => {
      const tab = await browser.open(server.url + HOME + search);
      await home(tab);
      await enter(tab, options);
      return tab;
    };
    await body({ server, browser, open });
  });

/** The tab shows the page that has nothing in it yet. */
async function home(tab) {
  await tab.waitForFunction(() => location.pathname.endsWith("/blank.html") && document.readyState === "complete");
  await tab.evaluate(() => addEventListener("pageshow", ({ persisted }) => Object.assign(globalThis, { persisted })));
}

/** So many tabs, and nobody else, are known to the worker and hold their lock. */
async function alone(tab, tabs) {
  await tab.waitForFunction((tabs) => globalThis.cache.stats().worker?.tabs === tabs, tabs);
  assert.deepEqual(await locks(tab), [...Array(tabs).fill("watchcache tab"), "watchcache worker"]);
}

const freeze = (tab, state) => tab.send("Page.setWebLifecycleState", { state });

/** Leaves the page, so many pages far. */
async function leave({ url }, tab, pages = 1) {
  await tab.send("Page.enable");
  // A callback of a FinalizationRegistry that runs while the browser puts the page away would prevent that.
  await tab.send("HeapProfiler.collectGarbage");
  for (let page = 0; page < pages; page++) {
    const there = `${url}${ELSEWHERE}?${page}`;
    await tab.send("Page.navigate", { url: there });
    await tab.told("Page.frameNavigated", ({ frame }) => frame.url === there);
    // One that is left before it is whole is not kept, and drives no older one out.
    await tab.waitForFunction(() => document.readyState === "complete");
  }
}

/** Goes back to it. Answers how the browser came by it. */
async function back({ url }, tab, pages = 1) {
  await tab.evaluate((pages) => void setTimeout(() => history.go(-pages)), pages);
  return (await tab.told("Page.frameNavigated", ({ frame }) => frame.url === url + HOME)).type;
}

/** Leaves the page, and comes back to the same one. */
async function thereAndBack(server, tab, meanwhile) {
  await leave(server, tab);
  await meanwhile();
  assert.equal(await back(server, tab), "BackForwardCacheRestore");
  await tab.waitForFunction(() => globalThis.persisted === true);
}

test("a tab is frozen, and more changes than the worker keeps for it: it is ended there, and goes on from its version", PROTOCOL, (t) =>
  withTabs(t, async ({ server, open }) => {
    const [frozen, other] = [await open(), await open()];
    await freeze(frozen, "frozen");
    const before = Number(server.control.status().resourceVersion);
    for (let round = 0; round < 40; round++) {
      server.control.step(200);
      await sleep(50);
    }
    await other.waitForFunction((before) => Number(globalThis.pods.resourceVersion) > before + 5_000, before);
    await other.waitForFunction(() => globalThis.cache.stats().worker.resources[0].terminated > 0);
    await freeze(frozen, "active");
    await intact({ server }, [frozen, other]);
    assert.equal(await frozen.evaluate(() => globalThis.cache.stats().resources[0].lists), 1, "it lists nothing anew");
    assert.deepEqual(counts(server), { lists: 1, watches: 1 });
    await alone(frozen, 2);
  }),
);

test("the tab that would be asked for credentials is frozen: another one is asked, and its late answer counts for nothing", PROTOCOL, (t) =>
  withTabs(t, async ({ server, open }) => {
    const other = await open();
    const frozen = await open();
    await freeze(frozen, "frozen");
    server.control.fault("drop");
    await other.waitForFunction(() => globalThis.phases.includes("reconnecting") && globalThis.pods.status.phase === "live");
    await freeze(frozen, "active");
    await intact({ server }, [frozen, other]);
    assert.equal(counts(server).lists, 1);
    await alone(other, 2);
  }),
);

test("the worker ends while a tab is frozen: it meets the others at the next one", PROTOCOL, (t) =>
  withTabs(t, async ({ server, open }) => {
    const OBEDIENT = { worker: "/tests/browser/obedient-worker.js" };
    const [frozen, other] = [await open(OBEDIENT), await open(OBEDIENT)];
    await freeze(frozen, "frozen");
    const began = performance.now();
    await tell(other, "end");
    await other.waitForFunction(() => globalThis.phases.includes("reconnecting") && globalThis.pods.status.phase === "live");
    assert.ok(performance.now() - began < 10_000, "who is frozen holds nobody up");
    await freeze(frozen, "active");
    await frozen.waitForFunction(() => globalThis.phases.includes("reconnecting"));
    await intact({ server }, [frozen, other]);
    assert.deepEqual(counts(server), { lists: 2, watches: 2 });
    await alone(frozen, 2);
  }),
);

test("a tab is kept for the way back: it is none of the worker's meanwhile, and is live at once when it is back", PROTOCOL, (t) =>
  withTabs(t, async ({ server, open }) => {
    const [kept, other] = [await open(), await open()];
    await thereAndBack(server, kept, async () => {
      await alone(other, 1);
      server.control.step(200);
    });
    const began = performance.now();
    await kept.waitForFunction(() => globalThis.pods.status.phase === "live");
    assert.ok(performance.now() - began < 4_000, "it waits for no try");
    await intact({ server }, [kept, other]);
    assert.deepEqual(counts(server), { lists: 1, watches: 1 });
    await alone(kept, 2);
  }),
);

test("the only tab is kept for the way back: the worker's stream sleeps with it, and both go on", PROTOCOL, (t) =>
  withTabs(t, async ({ server, open }) => {
    const kept = await open();
    await thereAndBack(server, kept, () => sleep(1_000));
    const began = performance.now();
    await kept.waitForFunction(() => globalThis.pods.status.phase === "live");
    assert.ok(performance.now() - began < 4_000, "it waits for no try");
    await intact({ server }, [kept]);
    await alone(kept, 1);
  }),
);

test("a tab that could not have the next worker is kept for the way back: nothing of it is open, and it goes on", PROTOCOL, (t) =>
  withTabs(t, async ({ server, open }) => {
    const { worker, gone } = passingScript("gone-of-one");
    const kept = await open({ worker });
    gone();
    await hurry(kept);
    await tell(kept, "end");
    await kept.waitForFunction(() => globalThis.cache.stats().mode === "inline");
    await kept.waitForFunction(() => globalThis.pods.status.phase === "live");
    await thereAndBack(server, kept, () => eventually(() => server.control.status().streams.length === 0, "it has no stream"));
    await intact({ server }, [kept]);
  }),
);

test("the only tab is kept for the way back, and another one opens: both have one worker", PROTOCOL, (t) =>
  withTabs(t, async ({ server, open }) => {
    const kept = await open();
    await leave(server, kept);
    await sleep(1_000);
    const other = await open();
    await intact({ server }, [other]);
    await alone(other, 1);
    server.control.setRate(20);
    // Whether the page was kept is the browser's affair here: what its worker does may cost it that.
    const how = await back(server, kept);
    t.diagnostic(how);
    if (how !== "BackForwardCacheRestore") {
      await home(kept);
      await enter(kept);
    }
    await intact({ server }, [kept, other]);
    await alone(other, 2);
  }),
);

test("a tab that was kept for the way back is let go of by the browser: nothing of it is left", PROTOCOL, (t) =>
  withTabs(t, async ({ server, open }) => {
    const [evicted, other] = [await open(), await open()];
    await leave(server, evicted, FAR);
    await intact({ server }, [other]);
    await alone(other, 1);
    server.control.setRate(20);
    assert.equal(await back(server, evicted, FAR), "Navigation");
    await home(evicted);
    await enter(evicted);
    await intact({ server }, [evicted, other]);
    assert.deepEqual(counts(server), { lists: 1, watches: 1 });
    await alone(other, 2);
  }),
);

test("a tab is discarded for want of memory: nothing of it is left, and it comes back with its reload", PROTOCOL, (t) =>
  withTabs(t, async ({ server, browser, open }) => {
    const other = await open();
    const gone = await open({}, "?discarded");
    const discards = await browser.open("chrome://discards/");
    // One that DevTools looks at is not discarded.
    gone.socket.close();
    const tab = async () => (await browser.tabs()).find(({ url }) => url.endsWith("?discarded"));
    const before = (await tab()).id;
    const discard = (row) => {
      const all = (node) =>
        [...node.querySelectorAll("*")].flatMap((element) => [element, ...(element.shadowRoot ? all(element.shadowRoot) : [])]);
      const its = all(document).filter((element) => element.matches(`tr`) && element.textContent.includes(row));
      const button = its
        .flatMap(all)
        .find(({ textContent, children }) => children.length === 0 && textContent.trim() === "[Urgent Discard]");
      button?.click();
      return button !== undefined;
    };
    await discards.waitForFunction(discard, "blank.html?discarded");
    await alone(other, 1);
    await intact({ server }, [other]);
    server.control.setRate(20);
    const { id } = await tab();
    assert.notEqual(id, before, "its page is another one");
    await browser.activate(id);
    const again = await browser.attach(id);
    await home(again);
    assert.equal(await again.evaluate(() => document.wasDiscarded), true);
    await enter(again);
    await intact({ server }, [again, other]);
    assert.deepEqual(counts(server), { lists: 1, watches: 1 });
    await alone(other, 2);
  }),
);
