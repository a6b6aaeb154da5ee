// The package as a user gets it: packed, installed from its tarball in a fresh app, built by Vite, opened in Chromium; and in Node.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
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
    "benches/README.md",
    "docs/bundlers.md",
    "docs/devtools.md",
    "docs/discovery.md",
    "docs/etcd.md",
    "docs/informers.md",
    "docs/moving-over.md",
    "docs/moving-over/freelens.md",
    "docs/moving-over/headlamp.md",
    "docs/moving-over/openshift.md",
    "docs/moving-over/rancher.md",
    "docs/namespaces.md",
    "docs/connections.md",
    "docs/parts-and-polls.md",
    "docs/react.md",
    "docs/relations.md",
    "docs/relay.md",
    "docs/sources.md",
    "docs/tabs.md",
    "docs/tanstack-db.md",
    "docs/testing.md",
    "docs/types.md",
    "docs/views.md",
    "docs/watching-and-listing.md",
    "docs/writes.md",
    "scripts/versions.json",
    "www/picture.png",
    "www/server/README.md",
  ];
  const built = /^dist\/[\w/-]+\.(js|js\.map|d\.ts|wasm)$|^dist\/wasm\/[\w.]+$/;
  assert.deepEqual(
    app.files.filter((file) => !text.includes(file) && !built.test(file)),
    [],
  );
  for (const file of [
    "dist/index.js",
    "dist/index.d.ts",
    "dist/node.js",
    "dist/inline.js",
    "dist/worker.js",
    "dist/thread.js",
    "dist/wasm/watchcache_bg.wasm",
    ...text,
  ]) {
    assert.ok(app.files.includes(file), `${file} is missing from the tarball`);
  }
});

test("no link of a document is dead: each leads to a file of the tarball", () => {
  const dead = app.files
    .filter((file) => file.endsWith(".md"))
    .flatMap((file) => {
      // In code brackets are calls of what brackets give.
      const text = readFileSync(join(app.installed, file), "utf8").replace(/^```.*?^```$|`[^`\n]+`/gms, "code");
      const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link);
      return links.filter((link) => !isAlive(file, link)).map((link) => `${file}: ${link}`);
    });
  assert.deepEqual(dead, []);
});

/** Addresses elsewhere are not asked; a fragment must be a heading of its document. */
function isAlive(file, link) {
  if (/^[a-z]+:/.test(link)) return true;
  const [path, fragment] = link.split("#");
  const target = path === "" ? file : posix.normalize(posix.join(posix.dirname(file), path));
  if (!app.files.includes(target) && !app.files.some((other) => other.startsWith(`${target.replace(/\/$/, "")}/`))) return false;
  if (fragment === undefined) return true;
  const headings = [...readFileSync(join(app.installed, target), "utf8").matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
  return headings.includes(fragment);
}

test("every script of ours has its map, with the source in it and no place of this machine", () => {
  const generated = new Set(["dist/wasm/text.js", "dist/wasm/watchcache.js"]);
  for (const file of app.files.filter((name) => name.endsWith(".js") && !generated.has(name))) {
    const map = JSON.parse(readFileSync(join(app.installed, `${file}.map`), "utf8"));
    assert.equal(map.sourcesContent?.length, 1, file);
    assert.match(map.sources[0], /^(\.\.\/)+src\/js\/[\w/-]+\.ts$/);
    assert.ok(map.sourcesContent[0].length > 10, file);
  }
});

test("all entries export the same, as values and as types", async () => {
  const entries = await Promise.all(["index", "node", "inline"].map((name) => import(join(app.installed, `dist/${name}.js`))));
  const [names, ...others] = entries.map((entry) => Object.keys(entry).sort());
  assert.deepEqual(names, [
    "WatchCacheError",
    "createInformerFactory",
    "createWatchCache",
    "forgetPersisted",
    "init",
    "initSync",
    "waitForSync",
  ]);
  for (const other of others) assert.deepEqual(other, names);
  for (const name of ["index", "node", "inline"]) {
    assert.match(readFileSync(join(app.installed, `dist/${name}.d.ts`), "utf8"), /^export \* from "\.\/exports\.js";$/m, name);
  }
});

test("watchcache/inline carries the bytes of the file, and names no place", async () => {
  const text = (await import(join(app.installed, "dist/wasm/text.js"))).default;
  assert.ok(Buffer.from(text, "base64").equals(readFileSync(join(app.installed, "dist/wasm/watchcache_bg.wasm"))));
  const seen = new Set();
  const visit = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const script = readFileSync(join(app.installed, file), "utf8");
    assert.ok(!script.includes("import.meta"), file);
    for (const [, to] of script.matchAll(/from "(\.[^"]+)"/g)) visit(posix.join(posix.dirname(file), to));
  };
  visit("dist/inline.js");
  assert.ok(seen.has("dist/wasm/watchcache.js") && seen.has("dist/wasm/text.js"));
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

/** What a file of the package loads, and what that loads. @param {string} file @param {Set<string>} [found] */
function loadedBy(file, found = new Set()) {
  for (const [, to] of readFileSync(join(app.installed, file), "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)) {
    const target = posix.join(posix.dirname(file), to);
    if (found.has(target)) continue;
    found.add(target);
    loadedBy(target, found);
  }
  return found;
}

test("the upstream in memory is an entry of its own, which no other entry loads and which loads no cache", async () => {
  const list = 'import("watchcache/memory").then((entry) => console.log(Object.keys(entry).sort().join()))';
  const { output } = await run(process.execPath, ["-e", list], { cwd: app.folder, quiet: true });
  assert.equal(output.trim(), "memorySource,sourceConformance,virtualClock");
  const loads = loadedBy("dist/memory/index.js");
  assert.ok(loads.has("dist/memory/source.js"), "its own files were found");
  const shared = [...loads].filter((file) => !file.startsWith("dist/memory/")).sort();
  assert.deepEqual(
    shared,
    ["error/errors", "host/timer", "language/bound", "language/printing", "options/kinds", "options/read"].map((name) => `dist/${name}.js`),
  );
  for (const file of app.files.filter((name) => /^dist\/(?!memory\/).*\.js$/.test(name))) {
    for (const target of loadedBy(file)) assert.ok(!target.startsWith("dist/memory/"), `${file} loads ${target}`);
  }
});

test("etcd is an entry of its own, which no other entry loads", async () => {
  const list = 'import("watchcache/etcd").then((entry) => console.log(Object.keys(entry).sort().join()))';
  const { output } = await run(process.execPath, ["-e", list], { cwd: app.folder, quiet: true });
  assert.equal(output.trim(), "etcdSource");
  const loads = loadedBy("dist/etcd/index.js");
  assert.ok(loads.has("dist/etcd/watching.js"), "its own files were found");
  for (const target of loads) assert.doesNotMatch(target, /^dist\/(index|node|inline|load|memory|compat|resource|cache|react)\b/, target);
  for (const file of app.files.filter((name) => /^dist\/(?!etcd\/).*\.js$/.test(name))) {
    for (const target of loadedBy(file)) assert.ok(!target.startsWith("dist/etcd/"), `${file} loads ${target}`);
  }
});

test("the relay is the command's alone: no entry loads it", () => {
  assert.ok(loadedBy("dist/cli/main.js").has("dist/relay/service.js"), "the command does");
  for (const file of app.files.filter((name) => /^dist\/(?!(relay|cli)\/).*\.js$/.test(name))) {
    for (const target of loadedBy(file)) assert.doesNotMatch(target, /^dist\/(relay|cli)\//, `${file} loads ${target}`);
  }
});

test("the hooks are an entry of their own, which no other entry loads; React itself nothing else needs", async () => {
  const loads = loadedBy("dist/react/index.js");
  assert.ok(loads.has("dist/react/use-view.js"), "its own files were found");
  assert.match(readFileSync(join(app.installed, "dist/react/index.js"), "utf8"), /^"use client";/);
  for (const target of loads) assert.doesNotMatch(target, /^dist\/(index|node|inline|load|memory|compat|wasm|resource)\b/, target);
  // The hooks of another library are over the same machinery.
  for (const file of app.files.filter((name) => /^dist\/(?!react\/|compat\/openshift\/).*\.js$/.test(name))) {
    assert.doesNotMatch(readFileSync(join(app.installed, file), "utf8"), /from "react"/, file);
    for (const target of loadedBy(file)) assert.ok(!target.startsWith("dist/react/"), `${file} loads ${target}`);
  }
});

test("the look-alike of OpenShift's console is an entry of its own, which loads of the hooks what it needs and no cache", async () => {
  const loads = loadedBy("dist/compat/openshift/index.js");
  assert.match(readFileSync(join(app.installed, "dist/compat/openshift/index.js"), "utf8"), /^"use client";/);
  const shared = [...loads].filter((file) => !/^dist\/(compat\/openshift|error|options|language|object|host)\//.test(file)).sort();
  assert.deepEqual(
    shared,
    ["cache/origin", "react/check", "react/content", "react/object-store", "react/provider"].map((name) => `dist/${name}.js`),
  );
  for (const file of app.files.filter((name) => /^dist\/(?!compat\/openshift\/).*\.js$/.test(name))) {
    for (const target of loadedBy(file)) assert.ok(!target.startsWith("dist/compat/openshift/"), `${file} loads ${target}`);
  }
});

test("collections of TanStack DB are an entry of their own, which loads neither a cache nor TanStack DB", async () => {
  const loads = loadedBy("dist/tanstack-db/index.js");
  assert.ok(loads.has("dist/tanstack-db/options.js"), "its own files were found");
  for (const file of ["dist/tanstack-db/index.js", ...loads]) {
    assert.doesNotMatch(readFileSync(join(app.installed, file), "utf8"), /from "(@tanstack|react)/, file);
    assert.match(file, /^dist\/(tanstack-db|error|options|language|object)\//, file);
  }
  for (const file of app.files.filter((name) => /^dist\/(?!tanstack-db\/).*\.js$/.test(name))) {
    for (const target of loadedBy(file)) assert.ok(!target.startsWith("dist/tanstack-db/"), `${file} loads ${target}`);
  }
});

test("the panel is an entry of its own, which no other entry loads", async () => {
  const loads = loadedBy("dist/devtools/index.js");
  assert.ok(loads.has("dist/devtools/element.js"), "its own files were found");
  for (const target of loads) assert.match(target, /^dist\/(devtools|cache\/origin|error|options|language|object)\b/, target);
  for (const file of app.files.filter((name) => /^dist\/(?!devtools\/).*\.js$/.test(name))) {
    for (const target of loadedBy(file)) assert.ok(!target.startsWith("dist/devtools/"), `${file} loads ${target}`);
  }
  const { output } = await run(
    process.execPath,
    ["-e", 'import("watchcache/devtools").then(({ defineDevtools }) => console.log(defineDevtools()))'],
    {
      cwd: app.folder,
      quiet: true,
    },
  );
  assert.equal(output.trim(), "undefined", "without a document there is nothing to define");
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

test("a worker script of the app's own has the package's, which it imports for what that does", async () => {
  await app.tool("vite", "build", "--outDir", "dist-worker", "--config", "vite.worker.config.js");
  const script = readFileSync(join(app.folder, "dist-worker/worker.js"), "utf8");
  assert.match(script, /the app's own part/);
  assert.match(script, /onconnect/);
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
