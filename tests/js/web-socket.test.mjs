// Which WebSocket a watch is opened with.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { createWatchCache } from "watchcache";
import { createWatchCache as createInlineCache } from "watchcache/inline";
import { WebSocket, WebSocketServer } from "ws";

import { FrameEncoder } from "../../dist/wire/frame-encoder.js";
import { until } from "./lib/package.mjs";

/** Lists nothing, and opens watches. */
async function serve(t) {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "10" }, items: [] }));
  });
  const sockets = new WebSocketServer({ server });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    for (const client of sockets.clients) client.terminate();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, sockets };
}

/** A WebSocket that is counted under a name. */
function counted(name, seen) {
  return class extends WebSocket {
    constructor(...request) {
      super(...request);
      seen.push(name);
    }
  };
}

test("the host's WebSocket is looked up at each connect, as its fetch is", async (t) => {
  const { url, sockets } = await serve(t);
  const seen = [];
  const original = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
  const put = (value) => Object.defineProperty(globalThis, "WebSocket", { value, configurable: true, writable: true });
  t.after(() => (original === undefined ? delete globalThis.WebSocket : Object.defineProperty(globalThis, "WebSocket", original)));
  put(counted("first", seen));
  const cache = createWatchCache({ server: url, transport: "websocket", retry: { initialMs: 1, capMs: 5 } });
  t.after(() => cache.close());
  const pods = cache.resource("pods");
  await pods.synced();
  await until(() => pods.status.phase === "live");
  put(counted("second", seen));
  for (const client of sockets.clients) client.terminate();
  await until(() => seen.length > 1 && pods.status.phase === "live");
  assert.deepEqual([seen[0], seen.at(-1)], ["first", "second"]);
});

test("one that was given stays the one", async (t) => {
  const { url, sockets } = await serve(t);
  const seen = [];
  const cache = createWatchCache({ server: url, retry: { initialMs: 1, capMs: 5 }, WebSocket: counted("given", seen) });
  t.after(() => cache.close());
  const pods = cache.resource("pods");
  await pods.synced();
  await until(() => pods.status.phase === "live");
  for (const client of sockets.clients) client.terminate();
  await until(() => seen.length > 1 && pods.status.phase === "live");
  assert.ok(seen.every((name) => name === "given"));
});

test("sockets of several namespaces share what is held of frames, which goes with the last of them", async (t) => {
  const { url } = await serve(t);
  const { letGo } = FrameEncoder.prototype;
  let gone = 0;
  FrameEncoder.prototype.letGo = function () {
    gone++;
    letGo.call(this);
  };
  t.after(() => void (FrameEncoder.prototype.letGo = letGo));
  const opened = [];
  // As in a page: Node's own entry has another encoder.
  const cache = createInlineCache({ server: url, transport: "websocket", WebSocket: counted("socket", opened) });
  t.after(() => cache.close());
  const pods = cache.resource({ version: "v1", resource: "pods", namespaces: ["a", "b", "c"] });
  await pods.synced();
  await until(() => opened.length === 3 && pods.status.phase === "live");
  pods.setNamespaces(["b", "c"]);
  await until(() => Object.keys(pods.status.namespaces).length === 2);
  assert.equal(gone, 0);
  pods.pause();
  await until(() => pods.status.phase === "paused");
  assert.equal(gone, 1);
});
