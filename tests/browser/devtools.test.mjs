// The panel in Chromium, under a policy that allows no style and no script in the page.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { served } from "./served.mjs";

const at = served("tests/browser/devtools-page.js", "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'");
const ARTIFACTS = fileURLToPath(new URL("../../artifacts/", import.meta.url));

/** What Playwright adds to the page to take a picture of it in Firefox, as the policy names what it refuses. */
const OF_PICTURES = createHash("sha256").update("body {}").digest("base64");

let page;
const said = [];

/** Opens the page. A hook would run before the one that starts the browser has ended. */
async function open() {
  page = await at.browser.newPage({ viewport: { width: 1200, height: 400 } });
  page.setDefaultTimeout(10_000);
  page.on("pageerror", (error) => said.push(String(error)));
  page.on("console", (message) => message.type() === "error" && said.push(message.text()));
  await page.goto(at.url);
  await page.waitForFunction(() => globalThis.ready);
}

const row = () => page.locator("watchcache-devtools tbody tr");
const cells = async () => (await row().locator("th, td").allInnerTexts()).map((text) => text.trim());
const shows = (pattern) =>
  page.waitForFunction((source) => new RegExp(source, "s").test(globalThis.panel.shadowRoot.textContent), pattern.source);
const log = () => page.locator("watchcache-devtools li span").allInnerTexts();

test("it shows a resource, as text, with its phase and figures, also where its cache was set before it was defined", async () => {
  await open();
  await shows(/live/);
  const [name, phase, over, objects, held, events, lists, window, watchers, views] = await cells();
  assert.equal(name, await page.evaluate(() => globalThis.hostile));
  assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
  assert.deepEqual([phase, over, objects, events, lists, watchers, views], ["live", "–", "3", "0", "1", "0", "1"]);
  assert.match(held, /^\d+(\.\d)? k?B$/);
  assert.match(window, /^0 of \d+/);
  assert.match(
    await page.locator("watchcache-devtools header").innerText(),
    /^watchcache \d+\.\d+\.\d+ · 1 open · 1 live · WebAssembly \d+\.\d MB$/,
  );
});

test("its figures follow, and its log tells what happened", async () => {
  await page.evaluate(() => {
    globalThis.one.source.put({ metadata: { name: "new" } });
    globalThis.one.source.fail({ code: 503, message: "later" }, { times: 1 });
    globalThis.one.source.drop();
  });
  await shows(/: reconnecting.*: live|: live.*: reconnecting/);
  await page.waitForFunction(() => globalThis.panel.shadowRoot.querySelectorAll("tbody td")[2].textContent === "4");
  assert.ok(
    (await log()).some((line) => /error: later/.test(line)),
    (await log()).join(),
  );
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: `${ARTIFACTS}devtools.png` });
});

test("its buttons drop, relist and pause", async () => {
  const asked = (verb) => page.evaluate((verb) => globalThis.one.source.asked(verb).length, verb);
  const watches = await asked("watch");
  await row().getByRole("button", { name: /^drop/ }).click();
  await page.waitForFunction((before) => globalThis.one.source.asked("watch").length > before, watches);
  const lists = await asked("list");
  await row()
    .getByRole("button", { name: /^relist/ })
    .click();
  await page.waitForFunction((before) => globalThis.one.source.asked("list").length > before, lists);
  await row()
    .getByRole("button", { name: /^pause/ })
    .click();
  await shows(/paused/);
  assert.equal(await page.evaluate(() => globalThis.one.source.streams), 0);
  // They would end the pause, or wait for its end.
  for (const name of [/^drop/, /^relist/]) assert.equal(await row().getByRole("button", { name }).isDisabled(), true);
  await row()
    .getByRole("button", { name: /^pause/ })
    .click();
  await page.waitForFunction(() => globalThis.one.source.streams === 1);
});

test("another cache is shown from its beginning, none shows none, and what is no cache is refused", async () => {
  await page.evaluate(() => (globalThis.panel.cache = globalThis.two.cache));
  const [name, , , objects] = await cells();
  assert.deepEqual([name, objects], ["two", "5"]);
  assert.deepEqual(await log(), []);
  const refused = await page.evaluate(() => {
    try {
      globalThis.panel.cache = { stats() {} };
    } catch (error) {
      return `${error.code}: ${error.message}`;
    }
  });
  assert.match(refused, /^invalid: cache is what createWatchCache gives/);
  await page.evaluate(() => (globalThis.panel.cache = undefined));
  assert.equal(await row().count(), 0);
  await shows(/no cache/);
  await page.evaluate(() => (globalThis.panel.cache = globalThis.one.cache));
  assert.equal(await row().count(), 1);
});

test("off the page it reads nothing and hears nothing; on it again, it goes on", async () => {
  await page.evaluate(() => globalThis.panel.remove());
  const before = await page.evaluate(() => globalThis.reads());
  await page.evaluate(() => globalThis.one.resource.refresh());
  await page.waitForTimeout(1_100);
  assert.equal(await page.evaluate(() => globalThis.reads()), before);
  const lines = await page.evaluate(() => globalThis.panel.shadowRoot.querySelectorAll("li").length);
  await page.evaluate(() => document.body.append(globalThis.panel));
  assert.equal(await page.evaluate(() => globalThis.panel.shadowRoot.querySelectorAll("li").length), lines);
  await page.waitForFunction((before) => globalThis.reads() > before + 1, before);
});

test("a cache that is closed has no resources left", async () => {
  await page.evaluate(() => globalThis.one.cache.close());
  await page.waitForFunction(() => globalThis.panel.shadowRoot.querySelectorAll("tbody tr").length === 0);
  assert.deepEqual(
    said.filter((line) => !line.includes(OF_PICTURES)),
    [],
  );
});

test("the guide's way to show it, which loads it when it is called", async () => {
  const guide = readFileSync(new URL("../../docs/devtools.md", import.meta.url), "utf8");
  const [, recipe] = /^```js file=panel.js\n(.*?)^```$/ms.exec(guide);
  const script = recipe.replace("export ", "").replace('"watchcache/devtools"', '"/dist/devtools/index.js"');
  await page.evaluate(`(() => {\n${script}\nreturn showPanel(globalThis.two.cache);\n})()`);
  const shown = page.locator("watchcache-devtools").last().locator("tbody th");
  assert.equal(await shown.innerText(), "two");
});
