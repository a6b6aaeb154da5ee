// What `console.log` shows in Node: `util.inspect` of everything that the package hands out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import { WatchCacheError } from "watchcache";
import { memorySource } from "watchcache/memory";

import { openModel, settle } from "./lib/open.mjs";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const many = (count) => Array.from({ length: count }, (_, i) => pod(`a/p-${String(i).padStart(5, "0")}`));
/** In one line, as it is when there is room. */
const print = (value) => inspect(value, { breakLength: Infinity });

test("a long list prints its version, its count and its first keys, and decodes nothing", async () => {
  const { cache, resource } = open(memorySource({ objects: many(10_000) }));
  const list = await resource.list();
  const decoded = () => cache.stats().resources[0].decoded;
  const keys = Array.from({ length: 10 }, (_, i) => `'a/p-0000${i} @${101 + i}'`);
  const items = `Array(10000) [ ${[...keys, "'… 9990 more'"].join(", ")} ]`;
  assert.equal(print(list), `List { resourceVersion: '10100', items: ${items} }`);
  assert.equal(print(list.items), items);
  assert.equal(print({ a: { list } }), `{ a: { list: List { resourceVersion: '10100', items: ${items} } } }`);
  assert.equal(print({ a: { b: { list } } }), "{ a: { b: { list: [List] } } }");
  assert.equal(inspect(list, { depth: null, showHidden: true, showProxy: true }).includes("NaN"), false);
  assert.equal(decoded(), 0);
  assert.equal(list.items[3].metadata.name, "p-00003");
  assert.equal(print(list.items), items);
  assert.equal(decoded(), 1);
  assert.equal(JSON.stringify(list).includes('"p-09999"'), true, "who asks for all of it gets it");
  const page = await resource.list({ limit: 2 });
  assert.match(print(page), /^List \{ resourceVersion: '10100', continue: '[\w-]+', remainingItemCount: 9998, items: Array\(2\) \[/);
});

test("an array of a list behaves as one, read or not", async () => {
  const { resource } = open(memorySource({ objects: many(3) }));
  const names = ({ items }) => items.map(({ metadata }) => metadata.name);
  const list = await resource.list();
  assert.deepEqual(Object.keys(list), ["items", "resourceVersion"]);
  assert.deepEqual(Object.keys(list.items), ["0", "1", "2"]);
  assert.equal(1 in list.items, true);
  assert.equal(Array.isArray(list.items), true);
  assert.equal(structuredClone([...list.items])[2].metadata.name, "p-00002");
  assert.deepEqual(names(list), ["p-00000", "p-00001", "p-00002"]);
  assert.equal(Object.getOwnPropertyDescriptor((await resource.list()).items, 1).value.metadata.name, "p-00001");
});

test("events, notifications and deletions print what they are about, and decode nothing", async () => {
  const upstream = memorySource({ objects: many(2) });
  const { cache, resource } = open(upstream);
  const events = [];
  void resource
    .watch({ sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true })
    .forEach((event) => void events.push(event));
  const notifications = [];
  let deletion;
  const informer = resource.informer();
  await informer.addEventHandler((event) => void notifications.push(event)).synced;
  informer.addEventHandler({ onDelete: (deleted) => void (deletion = deleted) });
  await until(() => events.length === 3);
  upstream.put(pod("a/p-00000"));
  upstream.remove("a/p-00001");
  await until(() => deletion !== undefined && events.length === 5);
  assert.deepEqual(events.map(String), [
    "ADDED a/p-00000 @101",
    "ADDED a/p-00001 @102",
    "BOOKMARK @102",
    "MODIFIED a/p-00000 @103",
    "DELETED a/p-00001 @104",
  ]);
  assert.equal(print(events[0]), "WatchEvent ADDED a/p-00000 @101");
  assert.equal(print(events[2]), "WatchEvent BOOKMARK @102");
  assert.equal(print([[[events[0]]]]), "[ [ [ [WatchEvent] ] ] ]");
  assert.deepEqual(notifications.map(String), [
    "add a/p-00000 @101",
    "add a/p-00001 @102",
    "update a/p-00000 @103",
    "delete a/p-00001 @104",
  ]);
  assert.equal(print(notifications[0]), "InformerEvent add a/p-00000 @101");
  assert.equal(print(deletion), "DeletedObject delete a/p-00001 @104");
  assert.equal(String(deletion), "delete a/p-00001 @104");
  assert.equal(cache.stats().resources[0].decoded, 0);
  // The last thing that is heard of it may be printed when all is over.
  await cache.close();
  assert.match(String(events[1]), /^ADDED/);
  assert.match(print(deletion), /^DeletedObject delete/);
});

test("an ERROR event prints its message", async () => {
  const { resource, model } = await openModel();
  const events = [];
  const watcher = resource.watch();
  void watcher.forEach((event) => void events.push(event)).catch(() => {});
  model.error({ kind: "Status", message: "too old resource version: 5 (10)", code: 410 });
  await settle();
  assert.equal(String(events[0]), "ERROR too old resource version: 5 (10)");
  assert.equal(print(events[0]), "WatchEvent ERROR too old resource version: 5 (10)");
  assert.equal(print(watcher), "Watcher { resource: 'pods', open: false }");
  assert.equal(model.calls.filter(([call]) => call === "parse").length, 0);
});

test("a resource, a cache, a watcher and an informer print what they hold, and printing them opens nothing", async () => {
  const upstream = memorySource({ objects: many(3) });
  const { cache, resource } = open(upstream);
  assert.equal(print(resource), "Resource { name: 'pods', phase: 'idle', stale: false, attempt: 0, objects: 0 }");
  assert.equal(print(cache), "WatchCache { resources: [ 'pods idle' ] }");
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(upstream.asked("list").length, 0);
  await resource.synced();
  assert.equal(print(resource), "Resource { name: 'pods', phase: 'live', stale: false, attempt: 0, resourceVersion: '103', objects: 3 }");
  assert.equal(print(cache), "WatchCache { resources: [ 'pods live' ] }");
  const watcher = resource.watch({ labelSelector: "app=web", signal: new AbortController().signal });
  assert.equal(print(watcher), "Watcher { resource: 'pods', labelSelector: 'app=web', open: true }");
  const informer = resource.informer();
  await informer.addEventHandler({}).synced;
  assert.equal(
    print(informer),
    "Informer { resource: 'pods', hasSynced: true, lastSyncResourceVersion: '103', isStopped: false, handlers: 1 }",
  );
  for (const [value, name] of Object.entries({ Resource: resource, WatchCache: cache, Watcher: watcher, Informer: informer })) {
    assert.equal(Object.prototype.toString.call(name), `[object ${value}]`);
    assert.equal(print([[[name]]]), `[ [ [ [${value}] ] ] ]`);
  }
  upstream.fail({ code: 403, reason: "Forbidden", message: "not for you" });
  void resource.refresh().catch(() => {});
  await until(() => resource.status.phase === "failed");
  assert.match(print(resource), /phase: 'failed', .* error: 'WatchCacheError: not for you', resourceVersion: '103', objects: 3 \}$/);
  await cache.close();
  assert.equal(print(cache), "WatchCache { resources: [] }");
});

test("an error prints what is of use: no addresses in the WebAssembly", async () => {
  const { resource } = open(memorySource({ objects: many(1) }));
  const refused = await resource.list({ labelSelector: "a in" }).catch((error) => error);
  assert.ok(refused instanceof WatchCacheError);
  assert.match(inspect(refused), /^WatchCacheError: .*\n[^]*code: 'invalid'/);
  assert.doesNotMatch(inspect(refused), /wasm-function|\[cause\]/);
});

test("a snapshot prints its counts, and JSON has them", async () => {
  const { resource } = open(memorySource({ objects: many(3) }));
  await resource.synced();
  const { counts } = resource.view({ groupBy: "metadata.namespace" }).getSnapshot();
  assert.equal(print({ counts }), "{ counts: Counts { a: 3 } }");
  assert.equal(JSON.stringify({ counts }), '{"counts":{"a":3}}');
});

test("the JSON of what is handed out is what it prints, and nothing of ours", async () => {
  const { cache, resource } = open(memorySource({ objects: many(2) }));
  const view = resource.view({ window: { offset: 1, limit: 5 } });
  const informer = resource.informer();
  const [watcher] = [resource.watch(), view.subscribe(() => {}), await informer.synced, await resource.synced()];
  await until(() => resource.status.phase === "live" && view.getSnapshot().loaded);
  const json = (value) => JSON.parse(JSON.stringify(value));
  assert.deepEqual(json(cache), { resources: ["pods live"] });
  const { phase, stale, attempt, objects } = json(resource);
  assert.deepEqual([json(resource).name, phase, stale, attempt, objects], ["pods", "live", false, 0, 2]);
  assert.deepEqual(json({ view }), { view: { resource: "pods", total: 2, rows: 1, offset: 1, loaded: true, stale: false } });
  assert.deepEqual(json(informer).hasSynced, true);
  assert.deepEqual(json(watcher), { resource: "pods", open: true });
  assert.equal((await watcher.next()).value.toJSON().type, "ADDED");
  for (const each of [cache, resource, view, informer])
    assert.deepEqual(
      Object.keys(each).filter((name) => name === "toJSON"),
      [],
    );
});
