// What the package does in Node by default.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { createWatchCache, WatchCacheError } from "watchcache";
import { makeInformer } from "watchcache/compat/client-node";
import { WebSocket as WS } from "ws";
import { root } from "../../scripts/lib/project.mjs";
import { startServer } from "../../www/server/index.mjs";
import { until } from "./lib/package.mjs";

let server;
before(async () => {
  server = await startServer({ port: 0, pods: 3, rate: 0 });
});
after(() => server?.close());

/** A host with a WebSocket that says no Origin, as Node's own. */
function withSocket(t) {
  const sockets = [];
  const original = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
  class Counted extends WS {
    constructor(url, protocols) {
      super(url, protocols);
      sockets.push(url);
    }
  }
  Object.defineProperty(globalThis, "WebSocket", { value: Counted, configurable: true, writable: true });
  t.after(() => (original === undefined ? delete globalThis.WebSocket : Object.defineProperty(globalThis, "WebSocket", original)));
  return { sockets, Counted };
}

function open(t, options) {
  const [said, warned] = [[], []];
  const logger = { debug() {}, info() {}, warn: (words) => warned.push(words), error: (...words) => said.push(words) };
  const cache = createWatchCache({ server: server.url, logger, retry: { initialMs: 5, capMs: 20 }, ...options });
  t.after(() => cache.close());
  return { cache, pods: cache.resource("pods"), said, warned };
}

test("watches stream over fetch, whatever WebSocket the host has", async (t) => {
  const { sockets } = withSocket(t);
  const { pods } = open(t);
  await pods.synced();
  await until(() => pods.status.phase === "live");
  const informer = makeInformer({ server: server.url }, "/api/v1/nodes");
  await informer.start();
  await until(() => server.control.status().streams.length >= 2);
  await informer.stop();
  assert.deepEqual([...new Set(server.control.status().streams.map(({ transport }) => transport)), sockets], ["http", []]);
});

test("the transport that is asked for is kept to; of a socket that is refused the error says what helps", async (t) => {
  const { sockets } = withSocket(t);
  const { pods, said } = open(t, { transport: "websocket" });
  const use = pods.watch();
  t.after(() => use.stop());
  await until(() => pods.status.error !== undefined);
  assert.ok(sockets.length > 0);
  assert.match(pods.status.error.message, /choose transport "fetch", or .* a WebSocket that says an Origin, as Node's own does not/);
  assert.deepEqual(said, []);
});

for (const [what, options] of [
  ["WebSocket", ({ Counted }) => ({ WebSocket: Counted })],
  ["watchList", () => ({ watchList: true })],
  ["transport", () => ({ transport: "auto" })],
]) {
  test(`${what} asks for a WebSocket; where those are refused watches go over fetch, and that is said once with what helps`, async (t) => {
    const { sockets, ...host } = withSocket(t);
    // What is remembered of one server says nothing of another.
    const own = await startServer({ port: 0, pods: 3, rate: 0 });
    t.after(() => own.close());
    const { cache, pods, warned } = open(t, { ...options(host), server: own.url });
    const nodes = cache.resource("nodes");
    await Promise.all([pods.synced(), nodes.synced()]);
    await until(() => pods.status.phase === "live" && nodes.status.phase === "live");
    assert.ok(sockets.length > 0);
    assert.deepEqual([pods.stats().transport, nodes.stats().transport], ["fetch", "fetch"]);
    assert.equal(warned.length, 1);
    assert.match(warned[0], /opens no WebSocket, so watches go over fetch\. Pass a WebSocket that says an Origin, as Node's own does not/);
  });
}

test("an informer of a resource that has failed for good says why, and so do those who come later", async (t) => {
  const { pods, said } = open(t, { transport: "websocket" });
  const hidden = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
  delete globalThis.WebSocket;
  t.after(() => hidden && Object.defineProperty(globalThis, "WebSocket", hidden));
  const words = { code: "invalid", message: /this host has no WebSocket/ };
  await assert.rejects(pods.synced(), words);
  const informer = pods.informer();
  await assert.rejects(informer.synced, words);
  assert.throws(() => informer.addEventHandler(() => {}), words);
  assert.throws(() => informer.addIndexers({ node: "spec.nodeName" }), words);
  assert.deepEqual(
    said.map(([first, error]) => [first, error.code]),
    [["watchcache:", "invalid"]],
    "it is logged as what it is, and not as a mistake of a subscriber",
  );
});

test("a source that says invalid in the package's own words has failed for good", async (t) => {
  const list = async () => ({ body: JSON.stringify({ metadata: { resourceVersion: "1" }, items: [] }) });
  let tries = 0;
  const watch = () => {
    tries++;
    throw new WatchCacheError("invalid", "give it a WebSocket");
  };
  const cache = createWatchCache({ retry: { initialMs: 1, capMs: 1 } });
  t.after(() => cache.close());
  const resource = cache.resource({ source: { list, watch }, id: "mistaken" });
  resource.view().subscribe(() => {});
  await until(() => resource.status.phase === "failed");
  const { code, message } = resource.status.error;
  assert.deepEqual([code, message, resource.status.retryAt], ["invalid", "give it a WebSocket", undefined]);
  const before = tries;
  await new Promise((later) => setTimeout(later, 100));
  assert.equal(tries, before);
});

test("what a function of the user's throws is logged as that", async (t) => {
  const { pods, said } = open(t);
  const mine = new Error("mine");
  pods.addEventListener("status", () => {
    throw mine;
  });
  await pods.synced();
  assert.deepEqual(said[0], ["watchcache: a function of yours threw:", mine]);
});

test("any number of listeners is no leak", async (t) => {
  const warnings = [];
  const warn = (warning) => warnings.push(warning.message);
  process.on("warning", warn);
  t.after(() => process.off("warning", warn));
  const { cache, pods } = open(t);
  for (let at = 0; at < 50; at++) {
    pods.addEventListener("status", () => {});
    cache.addEventListener("error", () => {});
  }
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(warnings, []);
});

test("an EventTarget of another make stands for Node's, as under jsdom: caches are made, and their listeners are told", async () => {
  // A process of its own: the package takes the host's EventTarget when it is loaded.
  const script = `
    globalThis.EventTarget = class {
      #listeners = new Set();
      addEventListener(type, listener) { this.#listeners.add(listener); }
      removeEventListener(type, listener) { this.#listeners.delete(listener); }
      dispatchEvent(event) { for (const listener of this.#listeners) listener(event); return true; }
    };
    const { createWatchCache } = await import("watchcache");
    const cache = createWatchCache({ server: ${JSON.stringify(server.url)} });
    const pods = cache.resource("pods");
    const phases = [];
    pods.addEventListener("status", () => phases.push(pods.status.phase));
    await pods.synced();
    console.log(JSON.stringify({ size: pods.size, phases }));
    await cache.close();
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], { cwd: root });
  const { size, phases } = JSON.parse(stdout);
  assert.equal(size, 3);
  assert.ok(phases.includes("live"), `told of ${phases}`);
});
