// The package as a user gets it: packed, installed from its tarball in a fresh app, built by Vite, opened in Chromium; and in Node.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { startServer } from "../../www/server/index.mjs";
import { freshApp } from "./fresh-app.mjs";

/** The one namespace that the app shows. */
const NAMESPACE = "shop";

/** A server of its own for each test: with no traffic, what is on it is what the test did. */
const serve = (options) => startServer({ port: 0, pods: 120, rate: 0, ...options });

async function podNames(url) {
  const { items } = await (await fetch(`${url}/api/v1/namespaces/${NAMESPACE}/pods`)).json();
  return items.map((pod) => pod.metadata.name).sort();
}

async function createPod(url, name) {
  const spec = { nodeName: "node-01", containers: [{ name: "main", image: "example.com/main:1" }] };
  const body = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: NAMESPACE }, spec });
  const answer = await fetch(`${url}/api/v1/namespaces/${NAMESPACE}/pods`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  assert.equal(answer.status, 201, await answer.text());
}

let app;
before(async () => {
  app = await freshApp();
});
after(() => app?.remove());

test("the tarball holds the built package and nothing else", () => {
  const text = [
    "package.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "ARCHITECTURE.md",
    "docs/informers.md",
    "docs/watching-and-listing.md",
  ];
  const strangers = app.files.filter((file) => !text.includes(file) && !/^dist\/[\w/-]+\.(js|d\.ts|wasm)$|^dist\/wasm\/[\w.]+$/.test(file));
  assert.deepEqual(strangers, []);
  for (const file of ["dist/index.js", "dist/index.d.ts", "dist/node.js", "dist/wasm/watchcache_bg.wasm", ...text]) {
    assert.ok(app.files.includes(file), `${file} is missing from the tarball`);
  }
});

test("every path of the exports map exists, and every other path is closed", async () => {
  const { exports } = JSON.parse(readFileSync(join(app.installed, "package.json"), "utf8"));
  const targets = (entry) => (typeof entry === "string" ? [entry] : Object.values(entry).flatMap(targets));
  for (const target of targets(exports)) assert.ok(existsSync(join(app.installed, target)), `${target} does not exist`);
  const open = 'import("watchcache/dist/index.js").then(() => "open", (error) => error.code).then(console.log)';
  const { output } = await run(process.execPath, ["-e", open], { cwd: app.folder, quiet: true });
  assert.equal(output.trim(), "ERR_PACKAGE_PATH_NOT_EXPORTED");
});

test("the look-alike of client-node is an entry of its own, in Node and for bundlers", async () => {
  const list = 'import("watchcache/compat/client-node").then((entry) => console.log(Object.keys(entry).sort().join()))';
  const { output } = await run(process.execPath, ["-e", list], { cwd: app.folder, quiet: true });
  assert.equal(output.trim(), "ADD,CHANGE,CONNECT,DELETE,ERROR,ListWatch,RequestError,UPDATE,Watch,makeInformer");
  const both = ["node", "client-node"].map((name) => import(join(app.installed, `dist/compat/${name}.js`)));
  const [node, bundled] = (await Promise.all(both)).map((entry) => Object.keys(entry).sort());
  assert.deepEqual(node, bundled);
});

test("the WebAssembly carries no names or tool versions, and no script evaluates text", () => {
  const module = new WebAssembly.Module(readFileSync(join(app.installed, "dist/wasm/watchcache_bg.wasm")));
  for (const section of ["name", "producers"]) {
    assert.equal(WebAssembly.Module.customSections(module, section).length, 0, section);
  }
  for (const file of app.files.filter((name) => name.endsWith(".js"))) {
    assert.doesNotMatch(readFileSync(join(app.installed, file), "utf8"), /\beval\(|new Function\(/, file);
  }
});

test("its types serve a bundler's app and a Node app", async () => {
  await app.tool("tsc", "-p", "tsconfig.json");
  await app.tool("tsc", "-p", "tsconfig.json", "--module", "nodenext", "--moduleResolution", "nodenext");
});

test("an app that uses nothing of it gets nothing of it", async () => {
  await app.tool("vite", "build", "--outDir", "dist-unused", "--config", "vite.unused.config.js");
  // Vite copies the file of WebAssembly when it meets it, before it knows that nobody needs it; no script may load it, though.
  const scripts = readdirSync(join(app.folder, "dist-unused"), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith(".js"));
  assert.deepEqual(scripts, ["unused.js"]);
  const script = readFileSync(join(app.folder, "dist-unused/unused.js"), "utf8");
  assert.match(script, /nothing of the package is used/);
  assert.doesNotMatch(script, /wasm/i);
  assert.ok(script.length < 1_000, `${script.length} bytes were bundled`);
});

test("a Vite app shows rows in Chromium, and they change live", async (t) => {
  await app.tool("vite", "build");
  const assets = readdirSync(join(app.folder, "dist/assets"));
  assert.equal(assets.filter((name) => name.endsWith(".wasm")).length, 1, `one file of WebAssembly among ${assets}`);

  const server = await serve({ root: join(app.folder, "dist") });
  t.after(() => server.close());
  const browser = await chromium.launch(launchOptions());
  t.after(() => browser.close());
  const page = await browser.newPage();
  const noise = [];
  page.on("console", (message) => noise.push(message.text()));
  page.on("pageerror", (error) => noise.push(String(error)));
  await page.goto(server.url);

  const shown = () => page.locator("#pods li").allTextContents();
  const names = await podNames(server.url);
  assert.ok(names.length > 5, "the server has pods in the namespace");
  await page.waitForFunction((total) => document.querySelector("#total").textContent === total, String(names.length));
  assert.deepEqual(await shown(), names);

  await createPod(server.url, "aaa-fresh");
  await page.locator("#pods li", { hasText: "aaa-fresh" }).waitFor();
  assert.deepEqual(await shown(), ["aaa-fresh", ...names]);
  assert.deepEqual(noise, [], "nothing is said in the console");
});

for (const transport of ["websocket", "fetch"]) {
  test(`Node imports the same package, lists, watches over ${transport} and ends by itself`, async (t) => {
    const server = await serve();
    t.after(() => server.close());
    const names = await podNames(server.url);
    const child = spawn(process.execPath, ["list.mjs", server.url, transport], {
      cwd: app.folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => child.kill("SIGKILL"));
    const ended = new Promise((resolve) => child.on("close", resolve));
    // A program that hangs is ended, so that what it failed to say is reported and not waited for.
    const patience = setTimeout(() => child.kill("SIGKILL"), 60_000);
    t.after(() => clearTimeout(patience));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value ?? assert.fail("the program said nothing more"));

    const listed = await next();
    assert.deepEqual(listed.names.sort(), names);
    assert.ok(listed.size > names.length, "the cache holds the other namespaces too");
    assert.match(listed.resourceVersion, /^[1-9][0-9]*$/);
    await createPod(server.url, "fresh");
    assert.deepEqual(await next(), { type: "ADDED", key: `${NAMESPACE}/fresh`, name: "fresh" });
    assert.equal(await ended, 0);
  });
}

test("a cache that is closed while its socket connects harms no Node program", async (t) => {
  const server = await serve();
  t.after(() => server.close());
  const { code, output } = await run(process.execPath, ["leave.mjs", server.url], { cwd: app.folder, quiet: true, timeoutMs: 60_000 });
  assert.equal(code, 0, output);
  assert.match(output, /^\{"synced":"(synced|closed)"\}$/m);
});
