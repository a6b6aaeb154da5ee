// Every button that breaks the stream: the rows stay, the page says what happens, and afterwards nothing is lost or doubled.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { byId, digits, integrityAfter, keep, launch, live, open, says, serve } from "./harness.mjs";

const PODS = 1_000;
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {import("playwright-core").Browser} */
let browser;

before(async () => {
  [server, browser] = await Promise.all([serve({ pods: PODS, rate: 100 }), launch()]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** What each button does to the chip on the way, if it must show. @type {Record<string, { log: RegExp, chip?: string }>} */
const BUTTONS = {
  drop: { log: /^streams cut in the middle of a frame → .+ in \d+\.\d\ss$/ },
  freeze: { log: /^streams frozen.* → .+ in \d+\.\d\ss$/, chip: "reconnecting" },
  expire: { log: /^history forgotten.* → .*listing again.* → live again.* in \d+\.\d\ss$/, chip: "catching up" },
  503: { log: /503.* → .+ → live again.* in \d+\.\d\ss$/, chip: "reconnecting" },
  "stale replica": { log: /^streams cut, moved to a replica.* → .+ in \d+\.\d\ss$/ },
  "slow pages": { log: /^pages made slow.* → .*listing again.* → live again.* in \d+\.\d\ss$/, chip: "catching up" },
  "bad frame": { log: /^a broken frame was sent → .+ in \d+\.\d\ss$/ },
};

/** The browser itself reports a list or a socket that the server refuses, whatever the page does about it. Everything else is ours. */
const REFUSED =
  /^error: (Failed to load resource: the server responded with a status of (410|503) .* at \/api\/v1\/pods$|WebSocket connection to '.*' failed: .*503)/;
const ours = (/** @type {string[]} */ said) => said.filter((line) => !REFUSED.test(line));

for (const [button, { log, chip }] of Object.entries(BUTTONS)) {
  test(`${button}: recovers, and nothing is lost, duplicated or out of order`, async () => {
    const { page, said, close } = await open(browser, server.url);
    try {
      await live(page);
      await page.waitForFunction(
        (least) => Number(document.querySelector('[role="grid"]')?.getAttribute("aria-rowcount")) > least,
        PODS * 0.9,
      );
      // How many rows there were in each frame from here on, and every word of the chip, however short.
      await page.evaluate(() => {
        const rowCounts = new Set();
        const words = new Set();
        Object.assign(globalThis, { rowCounts, words });
        (function look() {
          rowCounts.add(Number(document.querySelector('[role="grid"]')?.getAttribute("aria-rowcount")) - 1);
          requestAnimationFrame(look);
        })();
        new MutationObserver(() => words.add(document.querySelector('[data-testid="chip"]')?.textContent)).observe(document.body, {
          subtree: true,
          childList: true,
          characterData: true,
        });
      });
      const before = digits(await byId(page, "version").innerText());
      await page.getByRole("button", { name: button, exact: true }).click();
      if (button === "503") {
        await says(page, "retry-in", /^, next try in \d+ s$/);
        await page.locator('.table[data-stale="true"]').waitFor();
        assert.match(await byId(page, "stale-bar").innerText(), /not live since \d\d:\d\d:\d\d .*rows as of version/);
        await keep(page, "reconnecting");
        await page.getByRole("button", { name: "retry now" }).click();
      }

      // The newest entry of the log is about this button, and it is closed. One that lists again may be opened once more: the worker's list ends the
      // tab's own stream.
      await page.waitForFunction((source) => {
        const newest = document.querySelector('[data-testid="log-entry"]');
        return newest?.getAttribute("data-open") === "false" && new RegExp(source).test(newest.querySelector("span")?.textContent ?? "");
      }, log.source);
      await live(page);

      // A version of the time after the fault: events must have come through a stream that works.
      await page.waitForFunction(
        (version) => Number((document.querySelector('[data-testid="version"]')?.textContent ?? "").replace(/\D/g, "")) > version,
        Math.max(before, Number(server.control.status().resourceVersion)),
      );
      const verdict = await integrityAfter(page, Number(server.control.status().resourceVersion));
      assert.deepEqual(
        { lost: verdict.lost, duplicated: verdict.duplicated, outOfOrder: verdict.outOfOrder },
        { lost: 0, duplicated: 0, outOfOrder: 0 },
      );
      assert.equal(verdict.objects.equal, true);
      assert.equal(verdict.objects.here, verdict.objects.there);
      assert.ok(verdict.objects.here > PODS * 0.9);

      /** @type {string[]} */
      const words = await page.evaluate(() => [.../** @type {any} */ (globalThis).words]);
      if (chip) assert.ok(words.includes(chip), `the chip said ${words.join(", ")}`);
      const fewest = await page.evaluate(() => Math.min(.../** @type {any} */ (globalThis).rowCounts));
      assert.ok(fewest > PODS * 0.9, `rows stayed: never fewer than ${fewest}`);
      await keep(page, `after-${button.replaceAll(" ", "-")}`);
      assert.deepEqual(button === "503" ? ours(said) : said, []);
    } finally {
      server.control.fault("clear");
      await close();
    }
  });
}

test("slow subscriber: its watch ends with overflow, nobody else's does, and it resumes without a loss", async () => {
  server.control.setRate(400);
  const { page, said, close } = await open(browser, server.url);
  try {
    await live(page);
    const button = page.getByRole("button", { name: "slow subscriber", exact: true });
    await button.click();
    const told = await logged(page, /resumed from there/);
    const [, at, watchers, lost, due] =
      /→ ended with overflow at ([^,]+), nobody else was: (\d+) watchers? went on → resumed from there: (\d+) of (.+) events lost in/.exec(
        told,
      ) ?? [];
    assert.ok(digits(at) > 0 && Number(watchers) >= 2, told);
    assert.equal(lost, "0", told);
    assert.ok(digits(due) > 15, `more than could wait for it were due: ${told}`);
    assert.equal(await byId(page, "chip").innerText(), "live");
    const verdict = await integrityAfter(page, Number(server.control.status().resourceVersion));
    assert.deepEqual([verdict.lost, verdict.duplicated, verdict.outOfOrder, verdict.objects.equal], [0, 0, 0, true]);

    // Another fault meanwhile has an entry of its own, and takes nothing from this one.
    await button.click();
    await page.getByRole("button", { name: "expire", exact: true }).click();
    assert.match(await logged(page, /its watch ended with|resumed from there/), /^a subscriber takes/);
    await page.waitForFunction(() => document.querySelectorAll('[data-testid="log-entry"][data-open="true"]').length === 0);
    assert.deepEqual(said, []);
  } finally {
    server.control.setRate(100);
    server.control.fault("clear");
    await close();
  }
});

/** The first entry of the log that says so, once it does. @param {import("playwright-core").Page} page @param {RegExp} what */
async function logged(page, what) {
  const found = await page.waitForFunction(
    (source) =>
      [...document.querySelectorAll('[data-testid="log-entry"] > span')]
        .map((entry) => entry.textContent ?? "")
        .find((entry) => new RegExp(source).test(entry)),
    what.source,
  );
  return String(await found.jsonValue());
}

test("one fault upon the other: the log tells each, and the figures stay at zero", async () => {
  const { page, said, close } = await open(browser, server.url);
  try {
    await live(page);
    for (const name of ["drop", "expire", "bad frame", "drop", "slow pages", "expire", "freeze", "drop"]) {
      await page.getByRole("button", { name, exact: true }).click();
      await page.waitForFunction(() => document.querySelectorAll(".buttons button:disabled").length === 0);
    }
    await page.waitForFunction(() => document.querySelectorAll('[data-testid="log-entry"]').length >= 9);
    await live(page);
    const verdict = await integrityAfter(page, Number(server.control.status().resourceVersion));
    assert.deepEqual([verdict.lost, verdict.duplicated, verdict.outOfOrder, verdict.objects.equal], [0, 0, 0, true]);
    assert.deepEqual(ours(said), []);
  } finally {
    server.control.fault("clear");
    await close();
  }
});
