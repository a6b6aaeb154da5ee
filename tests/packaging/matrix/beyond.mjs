// What else is tried with some of the tools: ways in which the `.wasm` is not found and what the app says then, and watchcache/inline.
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openPage, podNames, saysWhy, serve, showsLiveRows } from "./page.mjs";
import { startServing, tool } from "./tools.mjs";

/** The app bundled by the command, in `dist`, with its page. */
async function build(folder, command, env) {
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  assert.equal((await tool(folder, command, { env })).code, 0, command.join(" "));
  cpSync(join(folder, "index.html"), join(folder, "dist/index.html"));
}

async function served(t, folder) {
  const server = await serve({ root: join(folder, "dist") });
  t.after(() => server.close());
  return server.url;
}

const bundle = (...options) => ["esbuild", "app.js", "--bundle", "--outdir=dist", ...options];
const COPY = /copy node_modules\/watchcache\/dist\/wasm\/watchcache_bg\.wasm to http:\/\/[^/]+\/watchcache_bg\.wasm /;

async function elsewhere(t, folder, env) {
  rmSync(join(folder, "elsewhere"), { recursive: true, force: true });
  const api = await serve();
  t.after(() => api.close());
  const command = (port) => ["vite", "--config", "vite.elsewhere.config.js", "--host", "127.0.0.1", "--port", String(port), "--strictPort"];
  const dev = await startServing(folder, command, { env });
  t.after(() => dev.close());
  return { page: `${dev.url}?server=${api.url}`, api: api.url };
}

/** @type {Record<string, Record<string, (t: import("node:test").TestContext, folder: string) => Promise<void>>>} */
export const beyond = {
  vite7: {
    "an optimizer's cache elsewhere: the message names the setting": async (t, folder) => {
      const { page } = await elsewhere(t, folder, {});
      assert.match(await saysWhy(page), /Vite .* optimizeDeps: \{ exclude: \["watchcache"\] \}/);
    },
    "and the setting cures it": async (t, folder) => {
      const { page, api } = await elsewhere(t, folder, { EXCLUDE: "watchcache" });
      await showsLiveRows(page, api);
    },
  },
  vite8: {
    "a policy that forbids WebAssembly: the message names what must be allowed, and nothing else": async (t, folder) => {
      assert.equal((await tool(folder, ["vite", "build"])).code, 0);
      const said = await saysWhy(`${await served(t, folder)}/`, { policy: "script-src 'self'" });
      assert.match(said, /Content-Security-Policy .* add 'wasm-unsafe-eval' to its script-src$/);
    },
    "a build whose file was not deployed: the message names its address": async (t, folder) => {
      assert.equal((await tool(folder, ["vite", "build"])).code, 0);
      const [wasm] = readdirSync(join(folder, "dist/assets")).filter((file) => file.endsWith(".wasm"));
      rmSync(join(folder, "dist/assets", wasm));
      const said = await saysWhy(await served(t, folder));
      assert.ok(said.includes(`/assets/${wasm}, which the bundler has written beside the scripts`), said);
    },
  },
  parcel: {
    "watchcache/inline, once Parcel reads the exports": async (t, folder) => {
      const config = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const withExports = { ...config, "@parcel/resolver-default": { packageExports: true } };
      writeFileSync(join(folder, "package.json"), JSON.stringify(withExports));
      const app = readFileSync(join(folder, "app.js"), "utf8");
      writeFileSync(join(folder, "app.js"), app.replace('"watchcache"', '"watchcache/inline"'));
      rmSync(join(folder, "dist"), { recursive: true, force: true });
      assert.equal((await tool(folder, ["parcel", "build", "index.html", "--no-cache"])).code, 0);
      assert.deepEqual(
        readdirSync(join(folder, "dist")).filter((file) => file.endsWith(".wasm")),
        [],
      );
      const url = await served(t, folder);
      await showsLiveRows(url, url, { bypassCSP: true });
    },
  },
  rollup: {
    "a file that was not copied: the message says which, and where to": async (t, folder) => {
      await build(folder, ["rollup", "-c"], {});
      rmSync(join(folder, "dist/watchcache_bg.wasm"));
      assert.match(await saysWhy(await served(t, folder)), COPY);
    },
  },
  esbuild: {
    "a file that was not copied: the message says which, and where to": async (t, folder) => {
      await build(folder, bundle("--format=esm"));
      assert.match(await saysWhy(await served(t, folder)), COPY);
    },
    "a script that is no module: the message names the format": async (t, folder) => {
      await build(folder, bundle("--format=iife"));
      assert.match(await saysWhy(await served(t, folder)), /--format=esm\), .* import "watchcache\/inline"/);
    },
    "watchcache/inline in one HTML file": async (t, folder) => {
      await build(folder, bundle("--format=iife", "--minify", "--alias:watchcache=watchcache/inline"));
      const script = readFileSync(join(folder, "dist/app.js"), "utf8").replaceAll("</script", "<\\/script");
      const html = readFileSync(join(folder, "index.html"), "utf8");
      const single = html.replace(/ *<script.*<\/script>\n/, "").replace("</body>", () => `<script>${script}</script></body>`);
      writeFileSync(join(folder, "dist/index.html"), single);
      rmSync(join(folder, "dist/app.js"));
      assert.deepEqual(readdirSync(join(folder, "dist")), ["index.html"]);
      const url = await served(t, folder);
      await showsLiveRows(url, url, { bypassCSP: true });
    },
    "watchcache/inline in a worker made from text": async (t, folder) => {
      await build(folder, ["esbuild", "worker.js", "--bundle", "--outdir=dist", "--format=iife"]);
      assert.ok(!existsSync(join(folder, "dist/watchcache_bg.wasm")));
      const url = await served(t, folder);
      const names = await podNames(url);
      const { page, close } = await openPage(`${url}/worker.js`, { bypassCSP: true });
      t.after(close);
      const seen = await page.evaluate(async (server) => {
        const text = await (await fetch("/worker.js")).text();
        const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
        return new Promise((resolve) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => resolve({ error: message });
          worker.postMessage(server);
        });
      }, url);
      assert.deepEqual(seen, { before: names, after: ["aaa-fresh", ...names] });
    },
  },
  next: {
    "the server streams the fallback of what suspends, and the browser has its rows without a word": async (t, folder) => {
      assert.equal((await tool(folder, ["next", "build"])).code, 0);
      const api = await serve();
      t.after(() => api.close());
      const own = await startServing(folder, (port) => ["next", "start", "--hostname", "127.0.0.1", "--port", String(port)]);
      t.after(() => own.close());
      const url = `${own.url}?server=${api.url}`;
      const html = await (await fetch(url)).text();
      assert.match(html, /<p id="total">0<\/p>/);
      assert.match(html, /<p id="waiting">waiting<\/p>/);
      const { page, noise, close } = await openPage(url);
      try {
        await page.waitForFunction(() => Number(document.querySelector("#all")?.textContent) === 60, undefined, { timeout: 60_000 });
        assert.equal(await page.locator("#waiting").count(), 0);
        assert.deepEqual(noise, []);
      } finally {
        await close();
      }
    },
  },
};
