// A server that is down, and thirty resources that want it. The test counts what the built package asks of a port that is really closed, by
// the host's own requests. The waits are a twentieth of the defaults, so that the first minute takes three seconds.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { createWatchCache } from "watchcache";
import { WebSocket, WebSocketServer } from "ws";

import { until } from "./lib/package.mjs";

const MANY = 30;
const QUICKER = 20;
const MINUTE = 60_000 / QUICKER;

/** A server that comes and goes at one port. */
async function places() {
  let running;
  const start = async (port) => {
    const server = createServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ kind: "List", apiVersion: "v1", metadata: { resourceVersion: "10" }, items: [] }));
    });
    const sockets = new WebSocketServer({ server });
    await once(server.listen(port, "127.0.0.1"), "listening");
    running = { server, sockets };
    return server.address().port;
  };
  const stop = async () => {
    const { server, sockets } = running;
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const port = await start(0);
  return { port, stop, start: () => start(port) };
}

/** Requests by kind of address: lists, WebSockets, and watches by fetch, which tell why a WebSocket has failed. */
function counting() {
  const asked = { lists: 0, sockets: 0, watches: 0 };
  return {
    asked,
    reset: () => Object.keys(asked).forEach((kind) => (asked[kind] = 0)),
    fetch: (url, init) => {
      asked[new URL(url).searchParams.has("watch") ? "watches" : "lists"]++;
      return fetch(url, init);
    },
    WebSocket: class extends WebSocket {
      constructor(...request) {
        super(...request);
        asked.sockets++;
      }
    },
  };
}

test("thirty resources ask a server that is down ten times in its first minute, and are back with it", { timeout: 60_000 }, async (t) => {
  const place = await places();
  await place.stop();
  const { asked, reset, ...host } = counting();
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const retry = { initialMs: 800 / QUICKER, capMs: 30_000 / QUICKER };
  const cache = createWatchCache({ server: `http://127.0.0.1:${place.port}`, retry, logger, linger: 600_000, ...host });
  const all = Array.from({ length: MANY }, (_, i) => cache.resource({ group: "test.dev", version: "v1", resource: `kind${i}s` }));
  t.after(async () => {
    await cache.close();
    await place.stop();
  });
  const phases = (phase) => all.every(({ status }) => status.phase === phase);

  const synced = all.map((resource) => resource.synced());
  await sleep(MINUTE);
  assert.ok(asked.lists >= 7 && asked.lists <= 10, `${asked.lists} lists`);
  assert.deepEqual([asked.sockets, asked.watches], [0, 0]);
  for (const { status } of all) assert.ok(status.error?.code === "network" && status.retryAt > 0, `${status}`);

  await place.start();
  await Promise.all(synced);
  await until(() => t.signal.aborted || phases("live"));

  // A watch that ends within a second is answered by a list.
  await sleep(1_500);
  reset();
  await place.stop();
  await sleep(MINUTE);
  for (const kind of ["sockets", "watches"]) assert.ok(asked[kind] >= 5 && asked[kind] <= 10, `${asked[kind]} ${kind}`);
  assert.equal(asked.lists, 0);
  assert.ok(!all.some(({ status }) => status.phase === "live"));

  await place.start();
  await until(() => t.signal.aborted || phases("live"));
});
