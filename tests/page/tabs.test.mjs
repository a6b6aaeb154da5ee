// Many tabs of the demo: they share one stream, say where their rows came from, outlive the worker, and begin with what was held.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { byId, column, digits, integrityAfter, keep, launch, live, open, says, serve } from "./harness.mjs";
import { except, tabsAtOnce } from "../engines/launch.mjs";
import { Proxy } from "../servers/harness/proxy.mjs";

const PODS = 300;
const TABS = except({ webkit: "its driver opens one page at a time" });

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

/** A server, and the first of the tabs on it. @param {import("node:test").TestContext} t */
async function begin(t) {
  const server = await serve({ pods: PODS, rate: 50 });
  t.after(() => server.close());
  const { page, said, close } = await open(browser, server.url);
  t.after(close);
  await live(page);
  const another = async () => {
    const tab = await page.context().newPage();
    await tab.goto(server.url);
    return tab;
  };
  const counts = () => /** @type {{ lists: number, watches: number }} */ (server.control.status().counts);
  return { server, page, said, another, counts };
}

/** What a tab holds is what the server holds, of now. @param {import("playwright-core").Page} page @param {number} [since] a version */
async function agrees(page, since) {
  const { objects, lost, duplicated, outOfOrder } = await integrityAfter(page, since ?? digits(await byId(page, "version").innerText()));
  assert.ok(objects.equal, JSON.stringify(objects));
  assert.deepEqual({ lost, duplicated, outOfOrder }, { lost: 0, duplicated: 0, outOfOrder: 0 });
}

/** How many states are kept. Whoever opens a database that is not there makes it. */
const keptStates = async () => {
  if (!(await indexedDB.databases()).some(({ name }) => name === "watchcache")) return 0;
  const opening = indexedDB.open("watchcache");
  const database = await new Promise((resolve) => (opening.onsuccess = () => resolve(opening.result)));
  const asked = database.transaction("states").objectStore("states").count();
  const count = await new Promise((resolve) => (asked.onsuccess = () => resolve(asked.result)));
  database.close();
  return count;
};

test("twenty tabs show one list and one watch in the server's own counters", TABS, async (t) => {
  const { page, another, counts } = await begin(t);
  await says(page, "first-rows", /^first rows from the network at \d+ ms$/);
  const count = tabsAtOnce(t, 20);
  const tabs = await Promise.all(Array.from({ length: count - 1 }, another));
  for (const tab of tabs) await live(tab);
  await says(page, "tabs", `${count} tabs`);
  const { lists, watches } = counts();
  assert.deepEqual({ lists, watches }, { lists: 1, watches: 1 });
  for (const tab of [page, ...tabs.slice(-2)]) {
    await tab.bringToFront();
    await agrees(tab);
  }
  const [last] = tabs.slice(-1);
  await says(/** @type {import("playwright-core").Page} */ (last), "first-rows", /^first rows from another tab at \d+ ms$/);
  await says(page, "streams", "1 stream");
  await keep(page, "tabs");
  for (const tab of tabs) await tab.close();
  await says(page, "tabs", "1 tab");
});

test("the worker is killed: the rows of every tab stay, and one list and one watch follow for all", TABS, async (t) => {
  const { page, another, counts } = await begin(t);
  const second = await another();
  await live(second);
  const tabs = [page, second];
  for (const tab of tabs) {
    await tab.evaluate(() => {
      const seen = { least: Infinity, words: new Set() };
      Object.assign(globalThis, { seen });
      (function look() {
        seen.least = Math.min(seen.least, Number(document.querySelector('[role="grid"]')?.getAttribute("aria-rowcount")) - 1);
        seen.words.add(document.querySelector('[data-testid="chip"]')?.textContent);
        setTimeout(look, 5);
      })();
    });
  }
  await page.bringToFront();
  await page.getByRole("button", { name: "kill worker", exact: true }).click();
  await page.waitForFunction(() => /** @type {any} */ (globalThis).seen.words.has("reconnecting"));
  for (const tab of tabs) {
    await tab.bringToFront();
    await live(tab);
    await agrees(tab);
    const least = await tab.evaluate(() => /** @type {any} */ (globalThis).seen.least);
    assert.ok(least > PODS / 2, `rows stay, and were ${least}`);
  }
  const { lists, watches } = counts();
  assert.deepEqual({ lists, watches }, { lists: 2, watches: 2 });
  assert.match(await byId(page, "log-entry").first().innerText(), /the worker of all tabs was ended → .* → live again/);
});

test("a reload shows its rows before the network answers, and goes on without a list", TABS, async (t) => {
  const server = await serve({ pods: PODS, rate: 0 });
  t.after(() => server.close());
  /** Lists of everything: one of a single object is how the package asks for the server's version. @type {string[]} */
  let lists = [];
  const front = await Proxy.start({
    upstream: server.url,
    serve({ url = "" }) {
      const { pathname, searchParams } = new URL(url, server.url);
      if (pathname === "/api/v1/pods" && !searchParams.has("watch") && searchParams.get("limit") !== "1") lists.push(url);
      return false;
    },
  });
  t.after(() => front.close());
  const { page, close } = await open(browser, front.url);
  t.after(close);
  await live(page);
  assert.equal(lists.length, 1);
  const rows = await column(page, "name");
  assert.ok(rows.length > 5);
  // What is held is written within seconds.
  while ((await page.evaluate(keptStates)) === 0) await page.waitForTimeout(100);
  // Long after the worker has gone: the rows are from the disk, or from nowhere.
  await page.goto("about:blank");
  await page.waitForTimeout(6_000);
  server.control.fault("status", { code: 503, ms: 3_600_000 });
  lists = [];
  await page.goto(front.url);
  await says(page, "first-rows", /^first rows from the disk at \d+ ms$/);
  await page.locator('.table[data-stale="true"]').waitFor();
  assert.deepEqual(await column(page, "name"), rows);
  await keep(page, "warm");
  server.control.fault("clear");
  await page.getByRole("button", { name: "retry now" }).click();
  await live(page);
  assert.deepEqual(lists, []);
  await agrees(page, 0);
});

test("with ?mode=inline each tab has a list and a watch of its own, and nothing is kept", async (t) => {
  const { server, page, counts } = await begin(t);
  await page.goto(`${server.url}/?mode=inline`);
  await live(page);
  await says(page, "mode", " of this page");
  assert.equal(counts().lists, 2);
  assert.equal(await page.getByRole("button", { name: "kill worker" }).count(), 0);
});
