// How the WebAssembly arrives. One process holds one instance, so the order of these tests matters.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { createWatchCache, init, initSync, WatchCacheError } from "watchcache";

import { pod, Upstream } from "./lib/upstream.mjs";

const wasm = new URL("../../dist/wasm/watchcache_bg.wasm", import.meta.url);

test("bytes that are not there are a network error, to be tried again", async () => {
  await assert.rejects(init(new URL("no-such-file.wasm", import.meta.url)), { name: "WatchCacheError", code: "network", retryable: true });
});

test("bytes that are no module are told so, by init and by initSync", async () => {
  const page = new TextEncoder().encode("<!doctype html>");
  await assert.rejects(
    init(page),
    (error) => error instanceof WatchCacheError && error.code === "decode" && error.cause instanceof WebAssembly.CompileError,
  );
  await assert.rejects(init(Promise.resolve(new Response(page, { headers: { "content-type": "application/wasm" } }))), { code: "decode" });
  assert.throws(() => initSync(page), { code: "decode" });
});

test("after failures a good source works, at once and for good", async () => {
  const bytes = await readFile(wasm);
  initSync(bytes);
  initSync(bytes);
  await init();
  const upstream = new Upstream([pod("a/x")]);
  const cache = createWatchCache();
  const resource = cache.resource({ source: upstream, id: "pods" });
  // With the module there, the first use already starts the stream within the call.
  assert.equal(resource.size, 0);
  await Promise.resolve();
  assert.equal(resource.status.phase, "loading");
  await resource.synced();
  assert.equal(resource.size, 1);
  await cache.close();
});

test("a program that has closed its caches ends by itself", async () => {
  const program = `
    import { createWatchCache } from "watchcache";
    import { pod, Upstream } from ${JSON.stringify(new URL("lib/upstream.mjs", import.meta.url).href)};
    const upstream = new Upstream([pod("a/x")]);
    const cache = createWatchCache();
    const resource = cache.resource({ source: upstream, id: "pods" });
    for await (const event of resource.watch({ allowWatchBookmarks: true })) {
      console.log(event.type, event.key);
      break;
    }
    await cache.close();
  `;
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { cwd });
  assert.equal(stdout, "ADDED a/x\n");
});
