// The recipes of docs/views.md for Vue and Svelte, as they stand there, with the real frameworks: in Chromium, and where a server renders.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { compile } from "svelte/compiler";
import { build } from "vite";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { startServer } from "../../www/server/index.mjs";
import { root } from "./run.mjs";

const HERE = join(root, "tests/readme/recipes");
const WRITTEN = join(root, "artifacts/recipes");
const WAYS = ["vue", "svelte"];
/** How long a view is kept that nobody uses, and some more. */
const LINGER_MS = 6_500;

/** The page, or with `ssr` the tables alone as modules for Node. */
async function built(ssr) {
  const outDir = join(WRITTEN, ssr ? "server" : "page");
  await build({
    configFile: false,
    root: HERE,
    logLevel: "warn",
    plugins: [
      {
        name: "recipes",
        enforce: "pre",
        resolveId(source) {
          if (source.startsWith("recipes/")) return join(WRITTEN, source.slice("recipes/".length));
          // This very package.
          if (source === "watchcache") return join(root, "dist", ssr ? "node.js" : "index.js");
          return undefined;
        },
        transform: (code, filename) =>
          filename.endsWith(".svelte") ? compile(code, { filename, generate: ssr ? "server" : "client", dev: !ssr }).js : undefined,
      },
    ],
    build: {
      outDir,
      emptyOutDir: true,
      minify: false,
      ...(ssr && { ssr: true, rollupOptions: { input: { vue: join(HERE, "table.js"), svelte: join(HERE, "Table.svelte") } } }),
    },
  });
  return outDir;
}

let server;
let browser;
let rendered;
before(async () => {
  mkdirSync(WRITTEN, { recursive: true });
  const text = readFileSync(join(root, "docs/views.md"), "utf8");
  for (const [, name, body] of text.matchAll(/^```js file=(\S+)\n(.*?)^```$/gms)) writeFileSync(join(WRITTEN, name), body);
  server = await startServer({ port: 0, pods: 0, rate: 0, root: await built(false) });
  rendered = await built(true);
  for (const name of ["m-10", "m-9", "m-1", "m-2"]) await write("POST", "", { name, labels: { app: "a" } });
  await write("POST", "", { name: "other", labels: { app: "b" } });
  browser = await chromium.launch(launchOptions());
});
after(async () => {
  await browser?.close();
  await server?.close();
});

async function write(method, name, metadata) {
  const response = await fetch(`${server.url}/api/v1/namespaces/default/configmaps${name}`, {
    method,
    headers: { "content-type": "application/json" },
    ...(metadata && { body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata }) }),
  });
  assert.ok(response.ok, await response.text());
}

for (const way of WAYS) {
  test(`${way}: a table shows what there is, follows it, filters, moves, and leaves nothing behind`, async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    const said = [];
    page.on("pageerror", (error) => said.push(String(error)));
    page.on("console", (message) => message.type() === "warning" && said.push(message.text()));
    await page.goto(server.url);
    const says = (text) => page.waitForFunction(([id, wanted]) => document.querySelector(`#${id} p`)?.textContent === wanted, [way, text]);
    const used = () => page.evaluate(() => globalThis.recipes.cache.stats().resources.map(({ views, phase }) => [views, phase]));

    await page.evaluate((name) => globalThis.recipes.mount(name), way);
    await says("true 4: default/m-1 default/m-2 default/m-9");
    await page.locator(`#${way} button`).click();
    await says("true 4: default/m-2 default/m-9 default/m-10");
    await write("DELETE", "/m-9");
    await says("true 3: default/m-2 default/m-10");
    await write("POST", "", { name: "m-9", labels: { app: "a" } });
    await says("true 4: default/m-2 default/m-9 default/m-10");
    await page.locator(`#${way} input`).fill("app=b");
    await says("true 1: default/other");
    await page.locator(`#${way} input`).fill("app=a");
    await says("true 4: default/m-1 default/m-2 default/m-9");
    await page.waitForTimeout(LINGER_MS);
    assert.deepEqual(await used(), [[1, "live"]], "the views of the other filters are gone");
    await page.evaluate(() => globalThis.recipes.unmount());
    await page.waitForTimeout(LINGER_MS);
    assert.deepEqual(await used(), [[0, "idle"]]);
    assert.deepEqual(said, []);
    await page.close();
  });

  test(`${way}: a server renders the empty table and opens nothing`, async () => {
    const { createWatchCache } = await import("../../dist/node.js");
    const cache = createWatchCache({ server: server.url });
    const resource = cache.resource("configmaps");
    const module = await import(join(rendered, `${way}.js`));
    let html;
    if (way === "vue") {
      const { createSSRApp } = await import("vue");
      const { renderToString } = await import("vue/server-renderer");
      html = await renderToString(createSSRApp(module.Table, { resource }));
    } else {
      const { render } = await import("svelte/server");
      html = (await render(module.default, { props: { resource } })).body;
    }
    assert.match(html, /<p>false 0: ?<\/p>/);
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(resource.status.phase, "idle");
    assert.deepEqual(cache.stats().resources, []);
    await cache.close();
  });
}
