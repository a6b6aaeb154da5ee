// `npm start -- --bench`: the benchmarks in a visitor's own browser, without a word from outside of the page.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { startPageServer } from "./lib/page-server.mjs";
import { engineOf } from "./page/tab/engine.js";
import { launchOptions } from "../scripts/lib/browser.mjs";
import { root } from "../scripts/lib/project.mjs";

let browser;
let command;
let url;

before(async () => {
  command = spawn(process.execPath, [join(root, "scripts/start.mjs"), "--bench"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: command.stdout })) {
    if (!line.startsWith("http://")) continue;
    url = line;
    break;
  }
  assert.ok(url, "it printed an address");
  browser = await chromium.launch(launchOptions());
});

after(async () => {
  await browser?.close();
  if (command?.exitCode !== null) return;
  command.kill("SIGINT");
  await once(command, "exit");
  await assert.rejects(fetch(url), "nobody listens there any more");
});

/** A page whose errors fail the test. */
async function open(address) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.stack));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(address);
  return { page, errors };
}

/** Chooses rows, with little work. */
async function choose(page, ...names) {
  for (const box of await page.locator("input[name=row]").all()) await box.setChecked(names.includes(await box.getAttribute("value")));
  await page.locator("input[value=quick]").check();
}

test(
  "a row runs in the visitor's tab: figures of the package and of its peer, and the engine that gave them",
  { timeout: 180_000 },
  async () => {
    const { page, errors } = await open(url);
    await page.waitForFunction((version) => document.querySelector("#engine").textContent.includes(version), browser.version());
    await choose(page, "ingest", "resting");
    await page.locator("#run").click();
    await page.waitForFunction(() => document.querySelector("[role=status]").textContent.startsWith("Done"), undefined, {
      timeout: 150_000,
    });
    const rows = await page
      .locator("#results tbody tr")
      .evaluateAll((all) => all.map(({ className, cells }) => ({ className, cells: [...cells].map(({ textContent }) => textContent) })));
    assert.equal(rows.length, 10, "eight lines of ingest, two of resting");
    for (const { className, cells } of rows) {
      const [what, ours, peer, theirs, ratio, ahead] = cells;
      assert.match(what, /^a 14\.4 kB frame over |^first read of /);
      assert.match(ours, /^-?[\d.,]+ [µm]s$/);
      assert.ok(["JSON.parse", "decode, cut, JSON.parse", "JSON.parse of its text"].includes(peer), peer);
      assert.match(theirs, /^[\d.,]+ [µm]s$/);
      // Short rounds may give any ratio; who is ahead has to be who it says.
      assert.equal(ahead, Number(ratio) < 1 ? "watchcache" : Number(ratio) > 1 ? peer : "neither");
      assert.equal(className, Number(ratio) < 1 ? "won" : Number(ratio) > 1 ? "lost" : "even");
    }
    assert.match(await page.locator("#summary").textContent(), /ahead in \d+ of 10 lines, a peer in \d+/);
    assert.equal(await page.locator("iframe").count(), 0, "no harness is left");
    assert.deepEqual(errors, []);
    await page.close();
  },
);

test("a run can be stopped; one without a row asks for one", { timeout: 120_000 }, async () => {
  const { page, errors } = await open(url);
  await choose(page);
  await page.locator("#run").click();
  assert.equal(await page.locator("[role=status]").textContent(), "Choose a row first.");
  await choose(page, "path");
  await page.locator("input[value=tab]").check();
  await page.locator("#run").click();
  await page.waitForFunction(() => document.querySelector("[role=status]").textContent.startsWith("Row 1 of 1: path"));
  await page.locator("#stop").click();
  await page.waitForFunction(() => document.querySelector("[role=status]").textContent === "Stopped after 0 of 1 rows.");
  assert.ok(await page.locator("#run").isEnabled());
  assert.equal(await page.locator("iframe").count(), 0);
  assert.deepEqual(errors, []);
  await page.close();
});

test("a line that loses stands there as one that wins, and one that failed says why", { timeout: 60_000 }, async (t) => {
  // The same modules, not bundled.
  const server = await startPageServer(join(root, "benches"));
  t.after(() => server.close());
  const { page } = await open(`${server.url}/page/tab.html`);
  const seen = await page.evaluate(async () => {
    const { showLines } = await import("/page/tab/table.js");
    const place = document.querySelector("#results");
    showLines(place, [
      { what: "won", unit: "µs", ours: 1, peer: "Map", theirs: 4, ratio: 0.25, goal: { ratio: "1/3" } },
      { what: "lost", unit: "µs", ours: 6, peer: "Map", theirs: 4, ratio: 1.5, goal: { ratio: "1/3" } },
      { what: "in noise", unit: "µs", ours: -1, peer: "Map", theirs: 4, ratio: -0.25, goal: { ratio: "1/3" } },
      { what: "broken", failed: "the scenario failed" },
    ]);
    const looks = (row, name) => {
      const { backgroundColor, fontWeight, fontSize, display } = getComputedStyle(row.querySelector(name) ?? row);
      return { backgroundColor, fontWeight, fontSize, display };
    };
    return {
      summary: place.querySelector("#summary").textContent,
      rows: [...place.querySelectorAll("tbody tr")].map((row) => ({
        className: row.className,
        text: [...row.cells].map(({ textContent }) => textContent),
        looks: looks(row, ".ahead"),
      })),
    };
  });
  const [won, lost, noise, broken] = seen.rows;
  assert.deepEqual(won.text, ["won", "1 µs", "Map", "4 µs", "0.25", "watchcache", "≤ 1/3: met"]);
  assert.deepEqual(lost.text, ["lost", "6 µs", "Map", "4 µs", "1.5", "Map", "≤ 1/3: missed"]);
  assert.deepEqual([won.className, lost.className, noise.className, broken.className], ["won", "lost", "even", "failed"]);
  assert.deepEqual(noise.text.slice(4), ["", "lost in noise", ""]);
  assert.deepEqual(broken.text, ["broken", "the scenario failed"]);
  const { backgroundColor: ofWon, ...likeWon } = won.looks;
  const { backgroundColor: ofLost, ...likeLost } = lost.looks;
  assert.deepEqual(likeLost, likeWon, "as large and as bold");
  assert.notEqual(ofLost, ofWon);
  assert.notEqual(ofLost, noise.looks.backgroundColor, "a colour of its own");
  assert.equal(
    seen.summary,
    "watchcache is ahead in 1 of 4 lines, a peer in 1; nobody in 1; 1 of 2 goals are met; 1 could not be measured.",
  );
});

test("each engine is known by what it sends", () => {
  const webkit = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)";
  assert.equal(engineOf("Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0"), "Firefox 153.0");
  assert.equal(engineOf(`${webkit} Version/18.4 Safari/605.1.15`), "WebKit, as Safari 18.4");
  assert.equal(engineOf(`${webkit}`), "WebKit 605.1.15");
  assert.equal(engineOf("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"), "Chromium 156.0.0.0");
  assert.equal(engineOf("curl/8"), "curl/8");
});
