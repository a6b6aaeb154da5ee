// The components of docs/tanstack-db.md, as they stand there, with the real bindings of React, Vue and Svelte, in Chromium.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import react from "@vitejs/plugin-react";
import { chromium } from "playwright-core";
import { compile, compileModule } from "svelte/compiler";
import { build } from "vite";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { startServer } from "../../www/server/index.mjs";
import { alias } from "../react/build.mjs";
import { root } from "./run.mjs";

const APP = join(root, "artifacts/tanstack-db");

const FILES = {
  "index.html": `<!doctype html><link rel="icon" href="./icon.svg" /><div id="root"></div><script type="module" src="./main.jsx"></script>`,
  "main.jsx": `
    import { StrictMode } from "react";
    import { createRoot } from "react-dom/client";
    import { mount, unmount } from "svelte";
    import { createApp, h, reactive } from "vue";
    import { Pods } from "./Pods.jsx";
    import { Pods as VuePods } from "./pods.js";
    import SveltePods from "./Pods.svelte";
    import { state } from "./state.svelte.js";

    const target = document.querySelector("#root");
    const ways = {
      react() {
        const root = createRoot(target);
        const show = (namespace) => root.render(<StrictMode><Pods namespace={namespace} /></StrictMode>);
        return { show, end: () => root.unmount() };
      },
      vue() {
        const props = reactive({ namespace: "" });
        const app = createApp({ render: () => h(VuePods, props) });
        app.mount(target);
        return { show: (namespace) => void (props.namespace = namespace), end: () => app.unmount() };
      },
      svelte() {
        const props = state({ namespace: "" });
        const app = mount(SveltePods, { target, props });
        return { show: (namespace) => void (props.namespace = namespace), end: () => void unmount(app) };
      },
    };
    globalThis.start = (way) => void (globalThis.running = ways[way]());
  `,
  "state.svelte.js": "export function state(initial) { const value = $state(initial); return value; }",
};

let server;
let browser;
before(async () => {
  mkdirSync(join(APP, "public"), { recursive: true });
  const guide = readFileSync(join(root, "docs/tanstack-db.md"), "utf8");
  const written = [...guide.matchAll(/^```\w+ file=(\S+)\n(.*?)^```$/gms)].map(([, name, text]) => [name, text]);
  assert.equal(written.length, 3);
  for (const [name, text] of [...Object.entries(FILES), ...written]) writeFileSync(join(APP, name), text);
  writeFileSync(join(APP, "public/icon.svg"), `<svg xmlns="http://www.w3.org/2000/svg" />`);
  const outDir = join(APP, "dist");
  await build({
    configFile: false,
    root: APP,
    logLevel: "warn",
    plugins: [
      react(),
      {
        name: "svelte",
        enforce: "pre",
        transform(code, filename) {
          if (filename.endsWith(".svelte")) return compile(code, { filename, generate: "client", dev: false }).js;
          if (/\.svelte\.(js|ts)$/.test(filename)) return compileModule(code, { filename, generate: "client", dev: false }).js;
          return undefined;
        },
      },
    ],
    resolve: {
      conditions: ["svelte", "module", "browser", "production"],
      alias: { "watchcache/tanstack-db": join(root, "dist/tanstack-db/index.js"), ...alias },
    },
    build: { outDir, emptyOutDir: true, minify: false, chunkSizeWarningLimit: 4_096 },
  });
  server = await startServer({ port: 0, pods: 60, rate: 0, seed: 3, root: outDir });
  browser = await chromium.launch(launchOptions());
});
after(async () => {
  await browser?.close();
  await server?.close();
});

const pods = (namespace) => `${server.url}/api/v1/namespaces/${namespace}/pods`;
const count = async (namespace) => (await (await fetch(pods(namespace))).json()).items.length;

for (const way of ["react", "vue", "svelte"]) {
  test(`${way}: a live query shows what there is, follows it, asks for something else, and ends`, async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(20_000);
    const said = [];
    page.on("pageerror", (error) => said.push(String(error.stack)));
    page.on("console", (message) => message.type() === "error" && said.push(message.text()));
    await page.goto(server.url);
    await page.waitForFunction(() => "start" in globalThis);
    await page.evaluate((way) => globalThis.start(way), way);
    const show = (namespace) => page.evaluate((namespace) => globalThis.running.show(namespace), namespace);
    const shows = async (number, namespace) => {
      const wanted = `${number} pods in ${namespace}`;
      const text = () => page.locator("#root").innerText();
      await page
        .waitForFunction((text) => document.querySelector("#root").innerText.trim() === text, wanted)
        .catch(async () => assert.equal(await text(), wanted));
    };
    const [shop, system] = [await count("shop"), await count("kube-system")];
    await show("shop");
    await shows(shop, "shop");
    await show("kube-system");
    await shows(system, "kube-system");
    const body = JSON.stringify({
      metadata: { name: `made-for-${way}` },
      spec: { containers: [{ name: "main", image: "example.com/main:1" }] },
    });
    const made = await fetch(pods("kube-system"), { method: "POST", headers: { "content-type": "application/json" }, body });
    assert.equal(made.status, 201, await made.text());
    await shows(system + 1, "kube-system");
    await page.evaluate(() => globalThis.running.end());
    assert.equal(await page.locator("#root").innerText(), "");
    assert.deepEqual(said, []);
    await page.close();
  });
}
