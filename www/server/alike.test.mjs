// The store and the package's cache before it are two implementations of one protocol. They are asked the same: random lists, pages and
// watches of one cluster that changes meanwhile. A failure names the seed and the request.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Api } from "./api.mjs";
import { Random } from "./cluster/random.mjs";
import { Faults } from "./faults.mjs";
import { DEFAULTS } from "./options.mjs";
import { StoreSource } from "./store-source.mjs";
import { brief, openStream, serverFor } from "./testing.mjs";

/** Small enough that requests lie before it, too. */
const HISTORY = 150;
const RESOURCES = ["pods", "pods", "pods", "events", "services", "nodes", "deployments"];

/**
 * One cluster, served from its store at one address and from the cache at another.
 * @param {import("node:test").TestContext} t @param {number} seed
 */
async function twice(t, seed) {
  const cached = await serverFor(t, { cache: true, pods: 80, history: HISTORY, seed });
  const store = cached.control.store;
  assert.ok(store);
  const api = new Api(store, new Faults(store), DEFAULTS);
  const server = createServer((request, response) => void api.handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { cached, store, plainUrl: `http://127.0.0.1:${port}` };
}

/** @param {import("./store.mjs").Store} store @param {string} resource */
function tableOf(store, resource) {
  const table = [...store.tables.values()].find(({ definition }) => definition.resource === resource);
  assert.ok(table);
  return table;
}

/** @param {import("./cluster/random.mjs").Random} chance @param {import("./store.mjs").Store} store */
function anyScope(chance, store) {
  const resource = chance.pick(RESOURCES);
  const table = tableOf(store, resource);
  const objects = [...table.current.values()];
  const object = objects.length > 0 ? chance.pick(objects) : { namespace: "", labels: {}, fields: {} };
  const root = table.definition.group ? `/apis/${table.definition.group}/v1/` : "/api/v1/";
  const path = `${root}${object.namespace && chance.chance(0.5) ? `namespaces/${object.namespace}/` : ""}${resource}`;
  const query = new URLSearchParams();
  if (chance.chance(0.3) && Object.keys(object.labels).length > 0) {
    const [key, value] = chance.pick(Object.entries(object.labels));
    query.set(
      "labelSelector",
      chance.pick([`${key}=${value}`, `${key}!=${value}`, key, `!${key}`, `${key} in (${value},y)`, `${key} notin (${value})`]),
    );
  }
  if (chance.chance(0.3) && Object.keys(object.fields).length > 0) {
    const [field, value] = chance.pick(Object.entries(object.fields));
    query.set("fieldSelector", chance.pick([`${field}=${value}`, `${field}!=${value}`]));
  }
  return { path, query };
}

/** @param {import("./cluster/random.mjs").Random} chance @param {number} newest */
function anyVersion(chance, newest) {
  const version = chance.pick(["", "", 0, newest, newest, newest - chance.int(0, 30), newest - chance.int(0, 400), chance.int(1, 20)]);
  return String(version);
}

/** @param {string} url */
async function ask(url) {
  const response = await fetch(url);
  return { code: response.status, retryAfter: response.headers.get("retry-after"), body: /** @type {any} */ (await response.json()) };
}

for (const seed of [1, 2]) {
  test(`lists, pages and refusals are the same, seed ${seed}`, async (t) => {
    // Before the cache takes hold of it.
    const passedOn = t.mock.method(StoreSource.prototype, "list").mock;
    const { cached, store, plainUrl } = await twice(t, seed);
    const chance = new Random(seed);
    /** @type {Record<number, number>} */
    const codes = {};
    /** @type {{ path: string, query: URLSearchParams }[]} */
    const further = [];
    for (let round = 0; round < 500; round += 1) {
      if (chance.chance(0.3)) cached.control.step(chance.int(1, 12));
      let { path, query } = anyScope(chance, store);
      const limit = String(chance.pick([1, 2, 5, 30, 0, -1]));
      if (further.length > 0 && chance.chance(0.3)) {
        ({ path, query } = chance.pick(further));
        query = new URLSearchParams(query);
      } else {
        const version = anyVersion(chance, store.revision);
        if (version) query.set("resourceVersion", version);
        const match = chance.pick(["", "", "Exact", "NotOlderThan"]);
        if (match) query.set("resourceVersionMatch", match);
      }
      if (chance.chance(0.5) || query.has("continue")) query.set("limit", limit);
      const [plain, served] = [await ask(`${plainUrl}${path}?${query}`), await ask(`${cached.url}${path}?${query}`)];
      const token = served.body.metadata?.continue;
      if (!isPinned(query) && plain.code === 200) {
        // At least so new, says such a request, and the cache need not have heard of writes to other resources.
        const asked = Number(query.get("resourceVersion"));
        assert.ok(Number(served.body.metadata.resourceVersion) >= asked);
        assert.equal(token === undefined, plain.body.metadata.continue === undefined);
        for (const { body } of [plain, served]) {
          delete body.metadata.resourceVersion;
          delete body.metadata.continue;
        }
      }
      assert.deepEqual(served, plain, `seed ${seed}, round ${round}, ${path}?${query} at ${store.revision}`);
      codes[served.code] = (codes[served.code] ?? 0) + 1;
      if (token && chance.chance(0.5)) {
        const next = new URLSearchParams({ continue: token });
        for (const name of ["labelSelector", "fieldSelector"]) if (query.has(name)) next.set(name, query.get(name) ?? "");
        further.push({ path, query: next });
        if (further.length > 20) further.shift();
      }
    }
    t.diagnostic(`answers by code: ${JSON.stringify(codes)}; passed on to the store: ${passedOn.callCount()}`);
    assert.ok(codes[200] > 200 && codes[410] > 20 && codes[422] > 20, JSON.stringify(codes));
    assert.ok(passedOn.callCount() < 250, "most of it was the cache's own");
  });

  test(`watches tell the same, seed ${seed}`, async (t) => {
    const { cached, store, plainUrl } = await twice(t, seed + 100);
    const chance = new Random(seed);
    /** @type {Pair[]} */
    const pairs = [];
    t.after(() => pairs.forEach(({ plain, served }) => [plain, served].forEach((client) => client.close())));
    for (let round = 0; round < 60; round += 1) {
      const { path, query } = anyScope(chance, store);
      const version = anyVersion(chance, store.revision);
      if (version) query.set("resourceVersion", version);
      query.set("watch", "1");
      const initial = chance.pick(["", "", "true", "false"]);
      if (initial) {
        query.set("sendInitialEvents", initial);
        query.set("resourceVersionMatch", "NotOlderThan");
      }
      if (chance.chance(0.5)) query.set("allowWatchBookmarks", "true");
      // A consistent read brings the cache to the version that the store is at.
      await ask(`${cached.url}${path}?limit=1`);
      const what = `seed ${seed}, round ${round}, ${path}?${query} at ${store.revision}`;
      const [plain, served] = [await openStream(plainUrl, `${path}?${query}`), await openStream(cached.url, `${path}?${query}`)];
      pairs.push({ what, plain, served });
      cached.control.step(chance.int(1, 12));
      await sleep(1);
    }
    const deadline = performance.now() + 5_000;
    const isBehind = (/** @type {Pair} */ { plain, served }) => told(plain).length > told(served).length;
    while (performance.now() < deadline && pairs.some(isBehind)) await sleep(20);
    // And what should not come has had its time to.
    await sleep(100);
    let events = 0;
    let errors = 0;
    for (const { what, plain, served } of pairs) {
      assert.deepEqual(told(served).map(brief), told(plain).map(brief), what);
      assert.deepEqual(text(served), text(plain), what);
      assertInOrder(served.events, what);
      assert.equal(served.over, plain.over, what);
      events += served.events.length;
      errors += served.events.filter((event) => brief(event).startsWith("ERROR")).length;
    }
    t.diagnostic(`${pairs.length} watches, ${events} events, ${errors} errors`);
    assert.ok(events > 1_000 && errors > 3, `${events} events, ${errors} errors`);
  });
}

/** @typedef {{ what: string, plain: import("./testing.mjs").WatchClient, served: import("./testing.mjs").WatchClient }} Pair */

/** What a watch told but for the bookmarks that come with the time. @param {import("./testing.mjs").WatchClient} client */
function told({ events }) {
  return events.filter((event) => brief(event) !== "BOOKMARK");
}

/** The same to the byte. @param {import("./testing.mjs").WatchClient} client */
function text({ events, frames }) {
  return frames.filter((_, at) => brief(events[at]) !== "BOOKMARK");
}

/** No event behind a bookmark is of a version that it stands for. @param {any[]} events @param {string} what */
function assertInOrder(events, what) {
  let marked = 0;
  // A request that was refused has a Status for its only line.
  for (const { type, object } of events.filter(({ kind }) => kind !== "Status")) {
    const version = Number(object.metadata.resourceVersion ?? Infinity);
    assert.ok(type === "BOOKMARK" ? version >= marked : version > marked, what);
    if (type === "BOOKMARK") marked = version;
  }
}

/** Whether a list names the version it is answered at, or has to be the newest. @param {URLSearchParams} query */
function isPinned(query) {
  const version = query.get("resourceVersion") ?? "";
  if (version === "" || query.has("continue")) return true;
  const match = query.get("resourceVersionMatch");
  return version !== "0" && (match === "Exact" || (!match && Number(query.get("limit")) > 0));
}
