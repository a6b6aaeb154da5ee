// The recipe of docs/views.md for hot reload, as it stands there, in Vite's development server: files are edited while Chromium shows the page.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import react from "@vitejs/plugin-react";
import { chromium } from "playwright-core";
import { createServer } from "vite";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { startServer } from "../../www/server/index.mjs";
import { alias } from "../react/build.mjs";
import { root } from "./run.mjs";

const APP = join(root, "artifacts/hot-reload");
const guide = readFileSync(join(root, "docs/views.md"), "utf8");
const [, recipe] = /^```js file=cache.js\n(.*?)^```$/ms.exec(guide);

const table = (title) => `
import { useState } from "react";
import { useView } from "watchcache/react";
import { cache } from "./cache.js";

const maps = cache.resource("configmaps");
// Somebody who never leaves: without the recipe, the stream of an old cache would be open for ever.
const all = maps.view();
all.subscribe(() => (document.title = String(all.total)));

export function Table() {
  const [filter, setFilter] = useState("app=a");
  const { loaded, total, keys } = useView(maps, { labelSelector: filter });
  return (
    <>
      <input value={filter} onChange={({ target }) => setFilter(target.value)} />
      <p>{\`${title} \${loaded} \${total}: \${keys.join(" ")}\`}</p>
    </>
  );
}
`;

const FILES = {
  "index.html": `<!doctype html><title>hot reload</title><div id="root"></div><script type="module" src="./main.jsx"></script>`,
  "main.jsx": `
    import { StrictMode } from "react";
    import { createRoot } from "react-dom/client";
    import { Table } from "./table.jsx";
    createRoot(document.querySelector("#root")).render(<StrictMode><Table /></StrictMode>);
  `,
  "table.jsx": table("first"),
  "cache.js": recipe,
};
const edit = (name, text) => writeFileSync(join(APP, name), text);

let server;
let dev;
let browser;
before(async () => {
  rmSync(APP, { recursive: true, force: true });
  mkdirSync(APP, { recursive: true });
  for (const [name, text] of Object.entries(FILES)) edit(name, text);
  server = await startServer({ port: 0, pods: 0, rate: 0 });
  dev = await createServer({
    configFile: false,
    root: APP,
    cacheDir: join(APP, ".vite"),
    logLevel: "warn",
    plugins: [react()],
    // This very package.
    resolve: { alias },
    server: { host: "127.0.0.1", port: 0, fs: { allow: [root] }, proxy: { "/api": { target: server.url, ws: true } } },
  });
  await dev.listen();
  browser = await chromium.launch(launchOptions());
});
after(async () => {
  await browser?.close();
  await dev?.close();
  await server?.close();
});

async function create(name, app) {
  const response = await fetch(`${server.url}/api/v1/namespaces/default/configmaps`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { app } } }),
  });
  assert.ok(response.ok, await response.text());
}

test(
  "a component that is edited finds its rows, its state and its stream; an edited module of the cache leaves no stream behind",
  { timeout: 60_000 },
  async (t) => {
    await create("one", "a");
    await create("two", "b");
    const page = await browser.newPage();
    t.after(() => page.close());
    page.setDefaultTimeout(20_000);
    const said = [];
    page.on("pageerror", (error) => said.push(String(error)));
    const streams = [];
    page.on("websocket", (socket) => socket.url().includes("/api/") && streams.push(socket));
    const open = () => streams.filter((socket) => !socket.isClosed()).length;
    await page.goto(dev.resolvedUrls.local[0]);
    const says = (text) => page.waitForFunction((wanted) => document.querySelector("p")?.textContent === wanted, text);
    const isSamePage = () => page.evaluate(() => globalThis.wasHere === true);

    await says("first true 1: default/one");
    await page.evaluate(() => void (globalThis.wasHere = true));
    await page.locator("input").fill("app=b");
    await says("first true 1: default/two");

    edit("table.jsx", table("second"));
    await says("second true 1: default/two");
    await create("three", "b");
    await says("second true 2: default/three default/two");
    assert.deepEqual(
      [await isSamePage(), streams.length, open()],
      [true, 1, 1],
      "the page, its filter and its one stream are the old ones",
    );

    edit("cache.js", `${recipe}// Edited.\n`);
    while (streams.length < 2 || open() > 1) await page.waitForTimeout(10);
    await says("second true 2: default/three default/two");
    await create("four", "b");
    await says("second true 3: default/four default/three default/two");
    assert.deepEqual([await isSamePage(), streams.length, open()], [true, 2, 1], "the old cache has closed its stream");
    assert.equal(server.control.status().counts.watches, 2, "of all times");
    assert.deepEqual(said, []);
  },
);
