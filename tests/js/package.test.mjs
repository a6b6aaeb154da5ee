// The built package in Node, with a Source object: the real core behind the facade.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { createWatchCache, init, WatchCacheError } from "watchcache";
import { memorySource } from "watchcache/memory";
import { WebSocket } from "ws";

import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const summary = ({ type, key }) => `${type} ${key}`;
const many = (count, options) => Array.from({ length: count }, (_, i) => pod(`ns-${i % 3}/p-${String(i).padStart(4, "0")}`, options));

test("from the first use to the first rows: nothing is asked for before, everything is there after", async () => {
  const upstream = memorySource({ objects: many(7) });
  upstream.pageSize = 3;
  const { resource, cache } = open(upstream);
  const events = [];
  for (const type of ["status", "sync"]) resource.addEventListener(type, ({ detail }) => events.push(`${type} ${detail.phase}`));
  assert.equal(resource.status.phase, "idle");
  assert.equal(upstream.asked("list").length, 0);
  assert.equal(resource.peek("ns-0/p-0000"), undefined);
  await resource.synced();
  assert.equal(resource.size, 7);
  const object = resource.peek("ns-0/p-0000");
  assert.equal(object.metadata.name, "p-0000");
  assert.equal("managedFields" in object.metadata, false);
  assert.deepEqual(
    resource.byIndex("namespace", "ns-1").map(({ metadata }) => metadata.name),
    ["p-0001", "p-0004"],
  );
  await until(() => resource.status.phase === "live");
  assert.equal(resource.resourceVersion, "107");
  assert.ok(events.includes("sync listing") || events.includes("sync live"));
  const { resources, version, memoryBytes } = cache.stats();
  assert.equal(version, "0.1.0");
  assert.ok(memoryBytes > 0);
  assert.equal(resources[0].objects, 7);
  assert.equal(resources[0].decoded, 3, "the one that was peeked at, and the two of ns-1");
});

test("ref_14 the state comes over the watch where that is chosen, and by a list where the source cannot", async () => {
  for (const withoutWatchList of [false, true]) {
    const upstream = memorySource({ objects: many(7), watchList: !withoutWatchList });
    const { resource } = open(upstream, { watchList: true });
    await resource.synced();
    upstream.put(pod("ns-0/later"));
    await until(() => resource.size === 8);
    assert.equal(upstream.asked("list").length, withoutWatchList ? 1 : 0);
    const { verb, timeoutSeconds, ...first } = upstream.asked("watch")[0];
    assert.deepEqual(first, { allowWatchBookmarks: true, sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" });
    assert.ok(timeoutSeconds >= 300);
    assert.deepEqual(
      upstream
        .asked("watch")
        .slice(1)
        .map(({ resourceVersion, sendInitialEvents }) => [resourceVersion, sendInitialEvents]),
      withoutWatchList ? [["107", undefined]] : [],
    );
  }
});

test("a server that was reset is read anew when a user says so", async () => {
  const upstream = memorySource({ objects: many(3) });
  const { resource } = open(upstream);
  await resource.synced();
  upstream.resourceVersion = "50";
  upstream.remove("ns-0/p-0000");
  upstream.expire();
  const refused = resource.refresh();
  await until(() => resource.status.error?.code === "protocol");
  assert.match(resource.status.error.message, /version 51.*version 103.*reset/);
  assert.equal(resource.size, 3);
  await resource.refresh({ reset: true });
  await refused;
  assert.deepEqual([resource.size, resource.resourceVersion], [2, "51"]);
});

test("metrics under the apiserver's names, as numbers and as Prometheus text", async () => {
  const upstream = memorySource({ objects: many(3) });
  const { cache, resource } = open(upstream);
  assert.equal(cache.metrics(), "");
  await resource.synced();
  const watcher = resource.watch();
  const heard = [];
  const reading = (async () => {
    for await (const event of watcher) heard.push(event);
  })();
  await until(() => heard.length === 3);
  upstream.put(pod("ns-0/later"));
  upstream.put(pod("ns-0/later"));
  await until(() => heard.length === 5);
  const { metrics } = cache.stats().resources[0];
  assert.equal(metrics.apiserver_watch_cache_events_received_total, 2);
  assert.equal(metrics.apiserver_watch_cache_initializations_total, 1);
  assert.equal(metrics.apiserver_watch_cache_resource_version, 105);
  assert.equal(metrics.watch_cache_capacity, 100);
  assert.equal(metrics.apiserver_watch_cache_read_wait_seconds_count, 0);
  const text = cache.metrics();
  for (const line of [
    "# TYPE apiserver_watch_cache_events_received_total counter",
    'apiserver_watch_cache_events_received_total{group="",resource="pods"} 2',
    'apiserver_watch_cache_read_wait_seconds_bucket{group="",resource="pods",le="0.005"} 0',
    'watch_cache_capacity{group="",resource="pods"} 100',
  ])
    assert.ok(text.split("\n").includes(line), line);
  // Each line of the text is one of the format's.
  const series = /^[a-z_]+(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? -?[0-9.e+-]+$/;
  for (const line of text.trimEnd().split("\n")) assert.match(line, line.startsWith("# ") ? /^# (HELP|TYPE) [a-z_]+ ./ : series);
  watcher.stop();
  await reading;
});

test("init is idempotent, and may be called by hand", async () => {
  await Promise.all([init(), init()]);
  await assert.rejects(init(new Uint8Array(1)), { code: "invalid" });
  await init();
});

/** How a client asks for the state as events, with a mark at its end. */
const watchList = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };

test("a watch: initial state, changes, selectors with their edges, bookmark, end", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y", { labels: { app: "db" } })] });
  const { resource } = open(upstream);
  const seen = [];
  const watcher = resource.watch({ labelSelector: "app in (web)", fieldSelector: "spec.nodeName=node-1", ...watchList });
  const done = (async () => {
    for await (const event of watcher) {
      seen.push(`${summary(event)}${event.initialEventsEnd ? "end" : ""} ${event.resourceVersion}`);
      if (event.key === "a/z") break;
    }
  })();
  await until(() => seen.length === 2);
  upstream.put(pod("a/y"));
  upstream.put(pod("a/x", { node: "node-2" }));
  upstream.put(pod("b/q", { labels: {} }));
  upstream.put(pod("a/z"));
  await done;
  assert.deepEqual(seen, ["ADDED a/x 101", "BOOKMARK end 102", "ADDED a/y 103", "DELETED a/x 104", "ADDED a/z 106"]);
  assert.deepEqual(await watcher.ended, { reason: "stopped", lastResourceVersion: "106" });
});

test("a thousand subscribers get one and the same event and object", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, cache } = open(upstream);
  await resource.synced();
  const objects = new Set();
  let calls = 0;
  for (let i = 0; i < 1_000; i++) {
    void resource.watch({ resourceVersion: "101" }).forEach((event) => {
      calls++;
      objects.add(event).add(event.object);
    });
  }
  upstream.put(pod("a/x", { phase: "Failed" }));
  await until(() => calls === 1_000);
  assert.equal(objects.size, 2);
  assert.equal(resource.peek("a/x"), [...objects][1]);
  assert.equal(cache.stats().resources[0].decoded, 1);
});

test("an event shows a field, a sub-document and its bytes without being decoded", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, cache } = open(upstream);
  const { value: event } = await resource.watch().next();
  assert.equal(event.get("status.phase"), "Running");
  assert.equal(event.get("status.restarts"), 0);
  assert.equal(event.get("metadata.labels['app']"), "web");
  assert.deepEqual(event.get("spec"), { nodeName: "node-1" });
  assert.equal(event.get("spec.no.such"), undefined);
  assert.throws(
    () => event.get("a[["),
    (error) => error instanceof WatchCacheError && error.code === "invalid",
  );
  assert.equal(JSON.parse(new TextDecoder().decode(event.raw)).metadata.uid, "a/x");
  assert.equal(cache.stats().resources[0].decoded, 0);
  // Long after its version is gone it can still be read.
  upstream.put(pod("a/x", { phase: "Failed" }));
  upstream.remove("a/x");
  await until(() => resource.size === 0);
  assert.equal(event.object.status.phase, "Running");
});

test("back-pressure: a slow handler gets every event, one at a time, and too slow a one is told so", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = open(upstream);
  await resource.synced();
  const slow = resource.watch({ resourceVersion: "101", bufferSize: 500 });
  const versions = [];
  let running = 0;
  const slowDone = slow.forEach(async (event) => {
    assert.equal(++running, 1);
    await new Promise((resolve) => setImmediate(resolve));
    versions.push(Number(event.resourceVersion));
    running--;
  });
  const stuck = resource.watch({ resourceVersion: "101", bufferSize: 5 });
  const overflow = new Promise((resolve) => resource.addEventListener("overflow", resolve, { once: true }));
  const got = [];
  const gate = stuck.forEach((event) => {
    got.push(Number(event.resourceVersion));
    return overflow;
  });
  for (let i = 0; i < 200; i++) upstream.put(pod("a/x"));
  await overflow;
  await gate;
  const end = await stuck.ended;
  assert.equal(end.reason, "overflow");
  assert.deepEqual(
    got,
    got.map((_, i) => 102 + i),
    "no gap before the end",
  );
  assert.equal(end.lastResourceVersion, String(got.at(-1)));
  await until(() => versions.length === 200);
  assert.deepEqual(
    versions,
    versions.map((_, i) => 102 + i),
  );
  slow.stop();
  await slowDone;

  const again = resource.watch({ resourceVersion: end.lastResourceVersion });
  assert.equal((await again.next()).value.resourceVersion, String(got.at(-1) + 1), "a new watch goes on where that one ended");
});

test("subscribers that throw, stop, watch, list and close inside their callbacks harm nobody", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, cache, reported } = open(upstream);
  await resource.synced();
  const calm = [];
  const late = [];
  let listed;
  void resource.watch({ resourceVersion: "101" }).forEach(() => {
    throw new Error("careless");
  });
  const heard = [];
  const victims = [];
  const addVictim = () => {
    victims.push(resource.watch({ resourceVersion: "101" }));
    void victims.at(-1).forEach((event) => void heard.push(event.resourceVersion));
  };
  addVictim();
  const wild = resource.watch({ resourceVersion: "101" });
  void wild.forEach((event) => {
    for (const victim of victims) victim.stop();
    listed = resource.list({ resourceVersion: "0" });
    void resource.watch({ resourceVersion: event.resourceVersion }).forEach((next) => void late.push(next.resourceVersion));
    wild.stop();
  });
  addVictim();
  void resource.watch({ resourceVersion: "101" }).forEach((event) => void calm.push(event.resourceVersion));
  upstream.put(pod("a/x"));
  upstream.put(pod("a/y"));
  await until(() => calm.length === 2 && late.length === 1);
  assert.deepEqual(calm, ["102", "103"]);
  assert.deepEqual(late, ["103"]);
  assert.deepEqual(heard, ["102"], "only the one whose turn had come before");
  assert.ok((await listed).items.length >= 1);
  assert.deepEqual(
    reported.map(({ message }) => message),
    ["careless", "careless"],
  );
  assert.deepEqual(await wild.ended, { reason: "stopped", lastResourceVersion: "102" });

  const last = [];
  const closers = [1, 2].map(() => resource.watch({ resourceVersion: "103" }));
  for (const watcher of closers) {
    void watcher.forEach((event) => {
      last.push(event);
      void cache.close();
    });
  }
  upstream.put(pod("a/x"));
  assert.deepEqual(
    (await Promise.all(closers.map(({ ended }) => ended))).map(({ reason }) => reason),
    ["closed", "closed"],
  );
  assert.equal(last.length, 1, "nothing is delivered after the close");
  await until(() => upstream.streams === 0);
});

test("refusals: a selector with a typo, a version that is too old, one that never comes, no such object", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = open(upstream);
  await resource.synced();
  assert.throws(() => resource.watch({ labelSelector: "app in (" }), { name: "WatchCacheError", code: "invalid", resource: "pods" });
  assert.throws(() => resource.watch({ timeoutSeconds: "soon" }), { code: "invalid" });
  await assert.rejects(resource.list({ fieldSelector: "a=b=c" }), { code: "invalid" });
  await assert.rejects(resource.get("a/none", { resourceVersion: "0" }), { code: "not-found" });
  assert.throws(() => resource.view({ labelSelector: "app in (" }), { code: "invalid" });
  assert.throws(() => resource.view({ orderBy: [{ path: "a[[" }] }), { code: "invalid" });
  assert.throws(() => resource.byIndex("spec.nodeName", "node-1"), { code: "invalid" });
  const old = resource.watch({ resourceVersion: "7" });
  const { value } = await old.next();
  assert.equal(value.type, "ERROR");
  assert.equal(value.object.code, 410);
  assert.match(value.object.message, /too old resource version: 7/);
  assert.equal((await old.next()).done, true);
  assert.equal((await old.ended).reason, "error");
  await assert.rejects(resource.list({ resourceVersion: "999" }), { code: "timeout" });
});

test("before the cache is ready: wait, or be told at once", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  upstream.fail({ code: 503, reason: "ServiceUnavailable", message: "not yet", retryAfterSeconds: 1 });
  const { resource } = open(upstream);
  await assert.rejects(resource.list({ wait: false, resourceVersion: "0" }), { code: "too-many-requests", retryable: true });
  // Reads of the newest state ask the upstream, and so do gets of objects that are not held yet.
  await assert.rejects(resource.list({ wait: false }), { code: "unavailable" });
  await assert.rejects(resource.get("a/x"), { code: "unavailable" });
  await assert.rejects(resource.watch({ wait: false }).next(), { code: "too-many-requests" });
  const waiting = [resource.list({ resourceVersion: "0" }), resource.watch().next(), resource.synced()];
  await until(() => resource.status.error !== undefined);
  assert.equal(resource.status.error.code, "unavailable");
  assert.ok(resource.status.error instanceof WatchCacheError);
  upstream.recover();
  resource.resume();
  const [list, { value }] = await Promise.all(waiting);
  assert.equal(list.items.length, 1);
  assert.equal(value.key, "a/x");
});

test("synced rejects for forbidden, unauthorized and not found, and the status says so", async () => {
  for (const [code, word] of [
    [403, "forbidden"],
    [401, "unauthorized"],
    [404, "not-found"],
  ]) {
    const upstream = memorySource();
    upstream.fail({ code, reason: "", message: `no: ${code}` });
    const { resource } = open(upstream);
    await assert.rejects(resource.synced(), { name: "WatchCacheError", code: word });
    assert.equal(resource.status.error.code, word);
    assert.equal(resource.status.phase, word === "unauthorized" ? "needs-auth" : "failed");
  }
  const { resource } = open(memorySource());
  await assert.rejects(resource.synced({ signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("rows stay while the connection does not: drop, expiry, relist by differences", async () => {
  const upstream = memorySource({ objects: many(6) });
  const { resource } = open(upstream);
  const view = resource.view({ orderBy: [{ path: "metadata.name" }] });
  const sizes = [];
  view.subscribe(() => sizes.push(view.total));
  await resource.synced();
  await until(() => resource.status.phase === "live");
  const rows = view.rows;
  assert.equal(rows.length, 6);
  upstream.drop();
  upstream.put(pod("ns-0/p-0000", { phase: "Failed" }));
  await until(() => view.rows[0].status.phase === "Failed");
  assert.equal(view.rows[1], rows[1], "the others are the same objects");

  let relists = 0;
  resource.addEventListener("relist", () => relists++);
  const watcher = resource.watch({ resourceVersion: resource.resourceVersion });
  const next = watcher.next();
  upstream.drop();
  upstream.remove("ns-1/p-0001");
  upstream.expire();
  await until(() => relists === 1);
  assert.equal((await watcher.ended).reason, "relist");
  await next;
  await until(() => view.total === 5);
  assert.equal(view.rows[1], rows[2], "what the relist found unchanged was not decoded anew");
  assert.deepEqual(
    [...new Set(sizes)].filter((size) => size < 5 && size !== 0),
    [],
    "never fewer rows than there are",
  );
});

test("broken frames are errors, and nothing that was held is lost", async () => {
  const upstream = memorySource({ objects: many(3) });
  const { resource } = open(upstream);
  await resource.synced();
  await until(() => resource.status.phase === "live");
  for (const frame of ['{"type":"ADDED","object":{', "<html>", '{"type":"ADDED","object":{"metadata":{}}}', new Uint8Array([0x7b, 0xff])]) {
    const failed = new Promise((resolve) => resource.addEventListener("error", ({ detail }) => resolve(detail.error), { once: true }));
    upstream.send(frame);
    const error = await failed;
    assert.ok(["decode", "protocol"].includes(error.code), `${error.code}: ${error.message}`);
    await until(() => resource.status.phase === "live" && upstream.streams === 1);
    assert.equal(resource.size, 3);
  }
  upstream.put(pod("a/new"));
  await until(() => resource.size === 4);
});

test("views on the real core: filter, order, window, counts, where", async () => {
  const upstream = memorySource({ objects: [...many(6), pod("ns-9/odd", { phase: "Pending" })] });
  const { resource, cache } = open(upstream);
  await resource.synced();
  const view = resource.view({
    namespaces: ["ns-0", "ns-1", "ns-9"],
    fieldSelector: "status.phase!=Failed",
    orderBy: [{ path: "metadata.name", descending: true, as: "natural" }],
    window: { offset: 1, limit: 2 },
    groupBy: "status.phase",
  });
  const names = () => view.rows.map(({ metadata }) => metadata.name);
  assert.deepEqual(names(), ["p-0003", "p-0001"]);
  assert.equal(view.total, 5);
  assert.deepEqual(Object.fromEntries(view.counts), { Running: 4, Pending: 1 });
  assert.equal(view.indexOf("ns-2/p-0002"), -1);
  let told = [];
  view.subscribe(() => (told = names()));
  view.setWindow({ offset: 0, limit: 10 });
  await until(() => told.length === 5);
  const all = names();
  assert.deepEqual(all, ["p-0004", "p-0003", "p-0001", "p-0000", "odd"]);
  assert.equal(view.indexOf("ns-9/odd"), 4);
  upstream.put(pod("ns-0/p-0003", { phase: "Failed" }));
  await until(() => view.total === 4);
  const decoded = cache.stats().resources[0].decoded;
  assert.ok(decoded <= 6, `only rows were decoded, not ${decoded}`);

  const picky = resource.view({ where: (object) => object.status.phase === "Pending" });
  picky.subscribe(() => {});
  await until(() => picky.total === 1);
  assert.equal(picky.rows[0].metadata.name, "odd");
  upstream.put(pod("ns-2/p-0002", { phase: "Pending" }));
  await until(() => picky.total === 2);
});

test("pause, resume and refresh", async () => {
  const upstream = memorySource({ objects: many(2) });
  const { resource } = open(upstream);
  await resource.synced();
  await until(() => upstream.streams === 1);
  resource.pause();
  await until(() => upstream.streams === 0);
  assert.equal(resource.status.phase, "paused");
  assert.equal(resource.size, 2);
  upstream.put(pod("a/new"));
  resource.resume();
  await until(() => resource.size === 3);
  const lists = upstream.asked("list").length;
  await resource.refresh();
  assert.ok(upstream.asked("list").length > lists);
  assert.equal(resource.size, 3);
});

test("equal specs share one stream, which outlives its last user by the linger", async () => {
  const upstream = memorySource({ objects: many(2) });
  const { resource, cache } = open(upstream, { linger: 30 });
  const same = cache.resource({ source: upstream, id: "pods" });
  assert.equal(same, resource);
  const watchers = [resource.watch(), same.watch()];
  await Promise.all(watchers.map((watcher) => watcher.next()));
  assert.equal(upstream.asked("watch").length, 1);
  for (const watcher of watchers) watcher.stop();
  await until(() => upstream.streams === 0);
  assert.equal(resource.status.phase, "idle");
  assert.equal(resource.size, 2, "the rows are still there");
  await until(() => upstream.streams === 1);
});

test("closing while everything is under way leaves nobody waiting", async () => {
  const upstream = memorySource({ objects: many(2) });
  upstream.fail({ code: 503, reason: "", message: "no" });
  const { resource, cache } = open(upstream);
  const waiting = [resource.synced(), resource.list(), resource.list({ resourceVersion: "0" }), resource.refresh()];
  const ended = resource.watch().ended;
  await until(() => upstream.asked("list").length > 0);
  await cache.close();
  for (const outcome of await Promise.allSettled(waiting)) assert.equal(outcome.reason?.code, "closed");
  assert.equal((await ended).reason, "closed");
  assert.throws(() => cache.resource("pods"), { code: "closed" });
});

test("a cache that is closed while its WebSocket connects leaves no error behind", async () => {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "5" }, items: [] }));
  });
  // An upgrade that is never answered.
  const upgrades = [];
  server.on("upgrade", (request, socket) => upgrades.push(socket.on("error", () => {})));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const uncaught = [];
  const note = (error) => uncaught.push(error);
  process.on("uncaughtException", note);
  try {
    const cache = createWatchCache({ server: `http://127.0.0.1:${server.address().port}`, WebSocket });
    await cache.resource("pods").synced();
    await until(() => upgrades.length === 1);
    await cache.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(uncaught, []);
  } finally {
    process.off("uncaughtException", note);
    upgrades.forEach((socket) => socket.destroy());
    server.close();
    server.closeAllConnections();
  }
});

test("an error of a selector knows the option and the place, others know none", async () => {
  const { resource } = open(memorySource({ objects: many(1) }));
  for (const [options, mistake] of [
    [{ labelSelector: "tier in production" }, { option: "labelSelector", offset: 8 }],
    [{ labelSelector: "a=b,c in (d" }, { option: "labelSelector", offset: 11 }],
    [{ fieldSelector: "metadata.name" }, { option: "fieldSelector", offset: 0 }],
    [{ labelSelector: "ä=é,x in y" }, { option: "labelSelector", offset: 0 }],
  ]) {
    await assert.rejects(resource.list(options), (error) => {
      assert.deepEqual(error.mistake, mistake, error.message);
      assert.ok(!Object.keys(error).includes("mistake"), "it is read, not stored");
      return true;
    });
  }
  await assert.rejects(resource.get("ns-0/none", { resourceVersion: "0" }), (error) => error.mistake === undefined);
  assert.equal(new WatchCacheError("internal", "x").mistake, undefined);
});
