/** A list that takes longer than the server remembers: much happens between two of its pages, and little of it is kept for watches. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createWatchCache } from "watchcache";
import WebSocket from "ws";
import { startServer } from "../../www/server/index.mjs";
import { eventually } from "./cache.mjs";

const PODS = 5_000;
const PAGE = 100;
const HISTORY = 1_000;
const EVENTS_A_PAGE = 200;

for (const transport of /** @type {const} */ (["fetch", "websocket"])) {
  test(`${transport}: it is live after one list, and nothing is missing`, { timeout: 120_000 }, async (t) => {
    const server = await startServer({ port: 0, pods: PODS, rate: 0, history: HISTORY });
    t.after(() => server.close());
    const { control } = server;
    const { window } = /** @type {any} */ (
      [...(control.store?.tables.values() ?? [])].find((table) => table.definition.resource === "pods")
    );
    const began = window.end;
    /** So much happens before each further page is read. A watch that is open may fall behind, but not by more than the server keeps. */
    const meanwhile = async () => {
      control.step(EVENTS_A_PAGE);
      const { counts } = control.status();
      const sent = () => /** @type {any} */ (control.status().counts).frames;
      if (/** @type {any} */ (counts).watches > 0) await eventually(() => window.end - began - sent() < HISTORY / 2, "the watch");
    };
    /** @type {string[]} */
    const asked = [];
    const cache = createWatchCache({
      server: server.url,
      transport,
      pageSize: PAGE,
      WebSocket: class extends WebSocket {
        /** @param {string | URL} url @param {string | string[]} [protocols] */
        constructor(url, protocols) {
          super(url, protocols, { origin: "http://localhost" });
          asked.push("watch");
        }
      },
      fetch: async (input, init) => {
        const { searchParams } = new URL(String(input));
        const isWatch = searchParams.has("watch");
        asked.push(isWatch ? "watch" : "list");
        if (!isWatch && searchParams.has("continue")) await meanwhile();
        return fetch(input, init);
      },
    });
    t.after(() => cache.close());
    const resource = cache.resource("pods");
    const informer = resource.informer();
    await informer.synced;
    await eventually(() => resource.status.phase === "live", "the watch");
    const pages = asked.filter((request) => request === "list").length;
    assert.ok((pages - 1) * EVENTS_A_PAGE > 5 * HISTORY, `${pages} pages: the server has forgotten the version of the first`);
    assert.equal(asked.filter((request) => request === "watch").length, 1);
    assert.deepEqual(asked.slice(0, 3), ["list", "watch", "list"]);
    assert.equal(cache.stats().resources[0].lists, 1);
    // The same watch goes on.
    control.step(500);
    const digest = control.digest("pods");
    const newest = Math.max(...digest.items.map(([, version]) => Number(version)));
    await eventually(() => Number(resource.resourceVersion) >= newest, "what happened behind the list");
    assert.deepEqual(
      informer.list().map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod.metadata.resourceVersion]),
      digest.items,
    );
    assert.equal(asked.length, pages + 1);
  });
}
