// How the WebAssembly arrives. One process holds one instance, so the order of these tests matters.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { createWatchCache, init, initSync, WatchCacheError } from "watchcache";
import { memorySource } from "watchcache/memory";

import { pod } from "./lib/pod.mjs";

const wasm = new URL("../../dist/wasm/watchcache_bg.wasm", import.meta.url);

test("a file that is not there is a network error, which time does not heal", async () => {
  const missing = { name: "WatchCacheError", code: "network", retryable: false };
  await assert.rejects(init(new URL("no-such-file.wasm", import.meta.url)), missing);
});

test("an address that does not answer, or answers with an error, is a network error, to be tried again", async (t) => {
  const server = createServer((_, response) => response.writeHead(503).end());
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/watchcache_bg.wasm`;
  const error = { name: "WatchCacheError", code: "network", retryable: true };
  await assert.rejects(init(url), { ...error, message: /^the WebAssembly cannot be loaded: http:.*\.wasm answered with status 503/ });
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(init(new URL(url)), error);
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

test("a module of something else, or of another build, is told so before it is instantiated", async () => {
  const bytes = await readFile(wasm);
  const other = Buffer.from(bytes);
  other[other.length - 1] ^= 1;
  const empty = bytes.subarray(0, 8);
  for (const [module, message] of [
    [other, /it is of another build of the package than this script/],
    [empty, /it is not the one of this package/],
    [new WebAssembly.Module(empty), /it is not the one of this package/],
  ]) {
    await assert.rejects(init(module), { code: "decode", message });
    assert.throws(() => initSync(module), { code: "decode", message });
  }
});

test("after failures a good source works, at once and for good", async () => {
  const bytes = await readFile(wasm);
  const before = init(bytes);
  initSync(bytes);
  initSync(bytes);
  await before;
  await Promise.all([init(), init(wasm), init(Buffer.from(bytes)), init(new WebAssembly.Module(bytes))]);
  // One instance it is: bytes that are not its own are refused, and change nothing.
  for (const other of [bytes.subarray(0, 8), bytes.subarray(0, 9), new TextEncoder().encode("<!doctype html>")]) {
    await assert.rejects(init(other), { code: "invalid", message: /there is a WebAssembly already|has its WebAssembly already/ });
    assert.throws(() => initSync(other), { code: "invalid" });
  }
  const upstream = memorySource({ objects: [pod("a/x")] });
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
    import { memorySource } from "watchcache/memory";
    import { pod } from ${JSON.stringify(new URL("lib/pod.mjs", import.meta.url).href)};
    const upstream = memorySource({ objects: [pod("a/x")] });
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
