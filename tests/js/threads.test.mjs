// A cache of Node whose streams a thread holds.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createWatchCache } from "watchcache";
import { startServer } from "../../www/server/index.mjs";
import { eventually } from "../e2e/cache.mjs";

const TOKEN = "of-the-process";

/** A server with a token, and a cache of a thread before it. */
async function serving(t, options = {}) {
  const server = await startServer({ port: 0, pods: 30, rate: 20, tokens: [TOKEN] });
  t.after(() => server.close());
  const warned = [];
  const logger = { warn: (message) => warned.push(message), info: () => {}, error: () => {} };
  const cache = createWatchCache({
    server: server.url,
    mode: "worker",
    identity: "jane",
    auth: () => ({ token: TOKEN }),
    logger,
    ...options,
  });
  t.after(() => cache.close());
  return { server, cache, warned, pods: cache.resource("pods") };
}

test("a thread holds the streams, with the credentials of the process", async (t) => {
  const { server, cache, warned, pods } = await serving(t);
  await pods.synced();
  assert.deepEqual([cache.stats().mode, pods.size >= 30, warned], ["worker", true, []]);
  let heard = 0;
  for await (const event of pods.watch({ resourceVersion: pods.resourceVersion })) {
    assert.ok(event.type);
    if (++heard === 10) break;
  }
  assert.equal(server.control.status().counts.watches, 1);
  await assert.rejects(pods.get("default/nobody"), { code: "not-found" });
  const { resources } = /** @type {any} */ (await eventually(() => cache.stats().worker, "the worker's counters"));
  assert.ok(Array.isArray(resources));
});

test("a source of one's own is imported by the thread", async (t) => {
  const cache = createWatchCache({ mode: "worker", identity: "jane" });
  t.after(() => cache.close());
  const body = JSON.stringify({ metadata: { resourceVersion: "1" }, items: [{ metadata: { name: "lamp", resourceVersion: "1" } }] });
  const script = `
    import { isMainThread } from "node:worker_threads";
    export default { list: async () => ({ body: ${JSON.stringify(body)}.replace("lamp", isMainThread ? "main" : "thread") }), async *watch(_, signal) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    } };`;
  const things = cache.resource({ source: `data:text/javascript,${encodeURIComponent(script)}`, id: "things" });
  await things.synced();
  assert.deepEqual(
    (await things.list({ resourceVersion: "0" })).items.map(({ metadata }) => metadata.name),
    ["thread"],
  );
});

test("a thread that fails is followed by another, and rows stay", async (t) => {
  const cache = createWatchCache({ mode: "worker", identity: "jane", retry: { initialMs: 10 } });
  t.after(() => cache.close());
  const body = JSON.stringify({ metadata: { resourceVersion: "1" }, items: [{ metadata: { name: "lamp", resourceVersion: "1" } }] });
  // The first thread meets an error that nobody catches.
  const script = `
    if (Date.now() < ${Date.now() + 1_000}) setTimeout(() => { throw new Error("nobody catches it"); }, 300);
    export default { list: async () => ({ body: ${JSON.stringify(body)} }), async *watch(_, signal) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    } };`;
  const things = cache.resource({ source: `data:text/javascript,${encodeURIComponent(script)}`, id: "things" });
  const phases = [];
  things.addEventListener("status", () => phases.push(things.status.phase));
  t.after(things.view().subscribe(() => {}));
  await eventually(() => phases.includes("reconnecting"), "the thread has failed");
  assert.equal(things.size, 1);
  await eventually(() => phases.lastIndexOf("live") > phases.lastIndexOf("reconnecting"), "another one is there");
  assert.deepEqual([things.size, cache.stats().mode], [1, "worker"]);
});

test("a process ends once it has closed its cache, and its thread with it", async (t) => {
  const { server } = await serving(t);
  const script = `
    import { createWatchCache } from "watchcache";
    const cache = createWatchCache({ server: ${JSON.stringify(server.url)}, mode: "worker", identity: "jane", auth: () => ({ token: "${TOKEN}" }) });
    await cache.resource("pods").synced();
    console.log(cache.stats().mode);
    await cache.close();`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: fileURLToPath(new URL("../../", import.meta.url)),
  });
  let said = "";
  child.stdout.on("data", (chunk) => (said += chunk));
  child.stderr.on("data", (chunk) => (said += chunk));
  const late = setTimeout(() => child.kill(), 20_000);
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearTimeout(late);
  assert.deepEqual([code, said], [0, "worker\n"]);
});
