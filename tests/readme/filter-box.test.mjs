// The filter box of docs/views.md, as it stands there, in Chromium under React's StrictMode.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { startServer } from "../../www/server/index.mjs";
import { buildApp } from "../react/build.mjs";
import { root } from "./run.mjs";

const APP = join(root, "artifacts/filter-box");
const COUNT = 9_000;

const FILES = {
  "index.html": `<!doctype html><title>filter box</title><div id="root"></div><script type="module" src="./main.jsx"></script>`,
  "main.jsx": `
    import { StrictMode } from "react";
    import { createRoot } from "react-dom/client";
    import { createWatchCache } from "watchcache";
    import { memorySource } from "watchcache/memory";
    import { Filtered } from "./filter-box.jsx";
    const objects = Array.from({ length: ${COUNT} }, (_, i) => ({ metadata: { namespace: "a", name: (i % 2 ? "web-" : "db-") + i } }));
    export const source = memorySource({ objects });
    export const cache = createWatchCache();
    const resource = cache.resource({ source, id: "things" });
    Object.assign(globalThis, { cache, source });
    createRoot(document.querySelector("#root")).render(<StrictMode><Filtered resource={resource} /></StrictMode>);
  `,
};

async function built() {
  mkdirSync(APP, { recursive: true });
  const [, recipe] = /^```jsx file=filter-box.jsx\n(.*?)^```$/ms.exec(readFileSync(join(root, "docs/views.md"), "utf8"));
  for (const [name, text] of Object.entries({ ...FILES, "filter-box.jsx": recipe })) writeFileSync(join(APP, name), text);
  return buildApp(APP);
}

test("vs_06 a filter box in StrictMode shows what is typed, and never an empty table between two keys", { timeout: 60_000 }, async (t) => {
  const server = await startServer({ port: 0, pods: 0, rate: 0, root: await built() });
  t.after(() => server.close());
  const browser = await chromium.launch(launchOptions());
  t.after(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  const said = [];
  page.on("pageerror", (error) => said.push(String(error)));
  page.on(
    "console",
    (message) => message.type() === "error" && !message.location().url.endsWith("/favicon.ico") && said.push(message.text()),
  );
  await page.goto(server.url);
  const shows = (text, first) =>
    page.waitForFunction(
      ([text, first]) => document.querySelector("p")?.textContent === text && document.querySelector("li")?.textContent === first,
      [text, first],
    );
  const input = page.locator("input");
  await shows(`${COUNT} found`, "a/db-0");
  await page.evaluate(() => {
    globalThis.shortest = Infinity;
    const look = () => (globalThis.shortest = Math.min(globalThis.shortest, document.querySelectorAll("li").length));
    new MutationObserver(look).observe(document.querySelector("#root"), { childList: true, subtree: true });
  });
  await input.pressSequentially("WEB 89");
  const found = Array.from({ length: COUNT }, (_, i) => i).filter((i) => i % 2 && String(i).includes("89"));
  await shows(`${found.length} found`, "a/web-1089");
  assert.equal(await page.evaluate(() => globalThis.shortest), 50);
  assert.equal(await page.evaluate(() => globalThis.cache.stats().resources[0].views), 1, "the views of the other texts are gone");

  await page.evaluate(() => globalThis.source.put({ metadata: { namespace: "a", name: "web-0-89" } }));
  await shows(`${found.length + 1} found`, "a/web-0-89");
  await input.fill("nobody");
  await page.waitForFunction(() => document.querySelector("p").textContent === "0 found" && !document.querySelector("li"));
  await input.fill(" ");
  await shows(`${COUNT + 1} found`, "a/db-0");
  assert.deepEqual(said, []);
});
