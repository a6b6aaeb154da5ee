/** `watchcache/etcd` against etcd itself: what a source owes, writes, compaction, consistent reads, transactions, restarts. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import WebSocket from "ws";
import { createWatchCache, init } from "watchcache";
import { etcdSource } from "watchcache/etcd";
import { sourceConformance } from "watchcache/memory";
import { Recorder, eventually } from "../e2e/cache.mjs";
import { EtcdCluster } from "./harness/etcd-cluster.mjs";

/** @type {EtcdCluster} */
let etcd;
before(async () => {
  await init();
  etcd = await EtcdCluster.start();
});
after(() => etcd?.stop());

let prefixes = 0;
const freshPrefix = () => `/test-${++prefixes}/`;
const sourceOf = (prefix, more = {}) => etcdSource({ endpoints: etcd.url, prefix, WebSocket: /** @type {any} */ (WebSocket), ...more });

/** A cache over keys that nobody else has. @param {import("node:test").TestContext} t */
function open(t, more = {}, settings = {}) {
  const prefix = freshPrefix();
  const source = sourceOf(prefix, more);
  const cache = createWatchCache({ flush: "microtask", retry: { initialMs: 10, capMs: 100 }, ...settings });
  t.after(() => cache.close());
  const resource = cache.resource({ source, id: "keys" });
  return { prefix, source, cache, resource };
}

/** Another cache over the same keys, which drops nothing. @param {import("node:test").TestContext} t */
function openWhole(t, prefix) {
  const cache = createWatchCache({ strip: [] });
  t.after(() => cache.close());
  return cache.resource({ source: sourceOf(prefix), id: "whole" });
}

const until = (holds, what) => eventually(() => holds() || undefined, what);

for (const transactions of [false, true]) {
  describe(`what a source owes${transactions ? ", with transactions" : ""}`, () => {
    let steps = 0;
    const make = () => {
      const prefix = freshPrefix();
      return {
        source: sourceOf(prefix, { transactions }),
        put: (name) => etcd.put(prefix + name, { step: ++steps }),
        remove: (name) => etcd.remove(prefix + name),
        compact: () => etcd.compact(),
        objectOf: (name) => ({ metadata: { name }, value: { step: ++steps } }),
      };
    };
    for (const { name, run } of sourceConformance(make)) test(name, async () => assert.equal(await run(), "held"));
  });
}

test("values of all kinds, and keys of all kinds, are objects that can be read and written", async (t) => {
  const { prefix, resource } = open(t);
  await etcd.put(`${prefix}text`, "some text");
  await etcd.put(`${prefix}bytes`, Uint8Array.of(0xff, 0, 0x7b));
  await etcd.put(`${prefix}a/b/c`, [1, 2]);
  await etcd.put(`${prefix}a/widget`, { metadata: { name: "other", labels: { app: "web" }, uid: "own" }, spec: { size: 1 } });
  await resource.synced();
  await etcd.put(`${prefix}text`, "other text");
  await until(() => resource.peek("text").value === "other text", "a change");
  const { mod_revision, create_revision } = (await etcd.range(`${prefix}text`)).keys.get(`${prefix}text`);
  assert.notEqual(mod_revision, create_revision);
  const metadata = { name: "text", resourceVersion: mod_revision, uid: create_revision };
  assert.deepEqual(resource.peek("text"), { metadata, value: "other text" });
  assert.equal(resource.peek("bytes").valueBase64, "/wB7");
  assert.deepEqual(resource.peek("a/b~1c").value, [1, 2]);
  const widget = resource.peek("a/widget");
  assert.deepEqual([widget.metadata.name, widget.metadata.namespace, widget.spec], ["widget", "a", { size: 1 }]);

  await resource.update("a/widget", (held) => ({ ...held, spec: { size: 2 } }));
  const kept = JSON.parse(Buffer.from((await etcd.range(`${prefix}a/widget`)).keys.get(`${prefix}a/widget`).value, "base64").toString());
  assert.deepEqual(
    kept,
    { metadata: { name: "other", labels: { app: "web" }, uid: "own" }, spec: { size: 2 } },
    "it keeps what it says of itself",
  );
  await resource.update("bytes", (held) => ({ ...held, valueBase64: "AAE=" }));
  assert.equal((await etcd.range(`${prefix}bytes`)).keys.get(`${prefix}bytes`).value, "AAE=");
  assert.equal(resource.peek("bytes").valueBase64, "AAE=");
  await resource.update("a/b~1c", (held) => ({ ...held, value: "now text" }));
  assert.ok((await etcd.range(`${prefix}a/b/c`)).keys.has(`${prefix}a/b/c`));
});

test("an update keeps the managedFields of a value, which no reader is shown", async (t) => {
  const { prefix, resource } = open(t);
  const value = { kind: "Widget", metadata: { name: "lies", labels: { a: "b" }, managedFields: [{ manager: "kubectl" }] } };
  await etcd.put(`${prefix}widget`, value);
  await resource.synced();
  assert.equal(resource.peek("widget").metadata.managedFields, undefined);
  await resource.update("widget", (held) => ({ ...held, metadata: { ...held.metadata, labels: { a: "c" } } }));
  const { items } = await openWhole(t, prefix).list({ resourceVersion: "" });
  assert.deepEqual(items[0].metadata.managedFields, value.metadata.managedFields);
  assert.deepEqual(items[0].metadata.labels, { a: "c" });
});

test("the core asks the gateway itself, and reads its answers: neither key nor value becomes a value of JavaScript", async (t) => {
  const { prefix, source, resource } = open(t);
  for (const method of ["list", "watch", "get", "create", "update", "delete", "currentResourceVersion", "requestProgress"])
    Object.defineProperty(source, method, { value: () => assert.fail(`${method} was called`) });
  await etcd.put(`${prefix}a`, 1);
  await resource.synced();
  await until(() => resource.status.phase === "live", "the watch");
  await resource.create({ metadata: { name: "b" }, value: 2 });
  await resource.update("b", (held) => ({ ...held, value: 3 }));
  await resource.delete("a");
  assert.deepEqual(
    (await resource.list({ resourceVersion: "" })).items.map(({ value }) => value),
    [3],
  );
  assert.equal((await resource.get("b")).value, 3);
});

test("writes are transactions: conflicts are met, what is gone is told, and each shows when it resolves", async (t) => {
  const { prefix, resource } = open(t);
  const made = await resource.create({ metadata: { name: "counter" }, value: { clicks: 0 } });
  assert.deepEqual(resource.peek("counter"), made);
  await assert.rejects(resource.create({ metadata: { name: "counter" }, value: 1 }), { code: "conflict" });
  const click = (held) => ({ ...held, value: { clicks: held.value.clicks + 1 } });
  await Promise.all(Array.from({ length: 10 }, () => resource.update("counter", click)));
  assert.equal(resource.peek("counter").value.clicks, 10, "no update is lost");
  await assert.rejects(resource.delete("counter", { preconditions: { uid: "1" } }), { code: "conflict" });
  await assert.rejects(resource.delete("counter", { preconditions: { resourceVersion: made.metadata.resourceVersion } }), {
    code: "conflict",
  });
  await resource.delete("counter", { preconditions: { uid: made.metadata.uid } });
  assert.equal(resource.peek("counter"), undefined);
  assert.equal((await etcd.range(prefix)).keys.size, 0);
  await assert.rejects(resource.delete("counter"), { code: "not-found" });
  await assert.rejects(resource.update("counter", click), { code: "not-found" });
  await assert.rejects(resource.create({ metadata: { name: "dry" }, value: 1 }, { dryRun: true }), { code: "invalid" });
});

test("lists come in pages of one revision, and a token that was compacted is 410", async (t) => {
  const { prefix, resource, source } = open(t, {}, { pageSize: 7 });
  for (let i = 0; i < 20; i++) await etcd.put(`${prefix}key-${i}`, i);
  await resource.synced();
  assert.equal(resource.size, 20);
  const signal = new AbortController().signal;
  const read = async (request) => JSON.parse(new TextDecoder().decode((await source.list(request, signal)).body));
  const first = await read({ limit: 7 });
  assert.deepEqual([first.items.length, first.metadata.remainingItemCount], [7, 13]);
  await etcd.put(`${prefix}key-99`, 99);
  const second = await read({ limit: 7, continue: first.metadata.continue });
  assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
  await etcd.compact();
  await assert.rejects(read({ limit: 7, continue: second.metadata.continue }), { code: 410 });
  await assert.rejects(read({ continue: "nonsense" }), { code: 400 });
  await assert.rejects(read({ resourceVersion: "999999", resourceVersionMatch: "Exact" }), ({ status }) => status.code === 504);
});

/** A class of sockets that can be cut, and whose watches can be held back. */
function cuttable() {
  const sockets = new Set();
  let gate = Promise.resolve();
  return {
    Socket: class extends WebSocket {
      constructor(...given) {
        super(...given);
        sockets.add(this);
      }
      send(...given) {
        if (String(given[0]).includes("create_request")) void gate.then(() => super.send(...given));
        else super.send(...given);
      }
    },
    /** Cuts what is open, and holds what is opened next until it is called. @returns {() => void} */
    cut() {
      let release = () => {};
      gate = new Promise((resolve) => (release = () => resolve(undefined)));
      for (const socket of sockets) socket.terminate();
      sockets.clear();
      return release;
    },
  };
}

/** Whoever watches from now on. */
const record = (resource) =>
  new Recorder(resource.watch({ resourceVersion: "0", sendInitialEvents: false, resourceVersionMatch: "NotOlderThan" }));

test("a watch that was cut goes on behind its last event; after a compaction it lists anew, and shows the differences alone", async (t) => {
  const { Socket, cut } = cuttable();
  const { prefix, resource } = open(t, { WebSocket: Socket });
  for (const name of ["a", "b", "c"]) await etcd.put(prefix + name, 1);
  await resource.synced();
  await until(() => resource.status.phase === "live", "the watch");
  let relists = 0;
  resource.addEventListener("relist", () => relists++);
  const seen = record(resource);
  await etcd.put(`${prefix}a`, 2);
  await seen.count(1);

  let release = cut();
  const versions = [await etcd.put(`${prefix}a`, 3), await etcd.remove(`${prefix}c`), await etcd.put(`${prefix}c`, 4)];
  release();
  await seen.count(4);
  assert.deepEqual(
    seen.events.slice(1).map(({ type, key, resourceVersion }) => [type, key, resourceVersion]),
    [
      ["MODIFIED", "a", versions[0]],
      ["DELETED", "c", versions[1]],
      ["ADDED", "c", versions[2]],
    ],
  );
  assert.equal(seen.events[2].object.value, 1, "a deletion has the last state");
  assert.equal(relists, 0);

  const rows = new Set();
  const view = resource.view();
  t.after(view.subscribe(() => rows.add(view.total)));
  await until(() => view.total === 3, "the rows");
  const kept = resource.peek("a");
  release = cut();
  await etcd.put(`${prefix}b`, 2);
  await etcd.remove(`${prefix}c`);
  await etcd.compact();
  release();
  await until(() => resource.peek("c") === undefined && resource.status.phase === "live", "what was deleted meanwhile");
  assert.equal(resource.peek("b").value, 2);
  assert.equal(resource.peek("a"), kept, "what did not change is the same object");
  assert.equal(relists, 1);
  await until(() => seen.ended, "the end of the watcher");
  assert.equal((await seen.watcher.ended).reason, "relist");
  assert.deepEqual([...rows].sort(), [2, 3], "no row blinked");
});

test("consistent lists are answered by the cache, once etcd has told how far the watch is", async (t) => {
  const asked = [];
  const counting = (input, init) => {
    asked.push(JSON.parse(String(init.body)));
    return fetch(input, init);
  };
  const { prefix, resource } = open(t, { fetch: counting });
  await etcd.put(`${prefix}a`, 1);
  await resource.synced();
  await until(() => resource.status.phase === "live", "the watch");
  asked.length = 0;
  // A revision that this resource hears of by no event.
  const elsewhere = await etcd.put("/elsewhere", 1);
  const { items, resourceVersion } = await resource.list({ resourceVersion: "" });
  assert.equal(items.length, 1);
  assert.ok(BigInt(resourceVersion) >= BigInt(elsewhere), `${resourceVersion} ${elsewhere}`);
  assert.ok(asked.length > 0 && asked.every((body) => body.count_only), JSON.stringify(asked));
});

test("a transaction over several keys reaches each watcher whole, once and in order", async (t) => {
  const { prefix, resource } = open(t, { transactions: true });
  await etcd.txn(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${prefix}key-${i}`, 0])));
  await resource.synced();
  await until(() => resource.status.phase === "live", "the watch");
  const seen = record(resource);
  /** @type {string[][]} */
  const made = [];
  for (let round = 1; round <= 10; round++) {
    const some = Array.from({ length: round }, (_, i) => `key-${(i * 7 + round) % 20}`);
    const revision = await etcd.txn(Object.fromEntries(some.map((key, i) => [prefix + key, i % 3 === 2 ? { gone: round } : round])));
    made.push(some.map((key) => `${key}@${revision}`));
  }
  const { revision } = await etcd.range(prefix);
  const removed = await etcd.remove(prefix, { prefix: true });
  await seen.count(made.flat().length + 20);
  assert.equal(resource.size, 0);
  seen.assertGrowing();
  const told = seen.events.map(({ key, resourceVersion }) => `${key}@${resourceVersion.slice(0, -9)}`);
  for (const some of made) assert.deepEqual(told.splice(0, some.length).sort(), some.sort(), "all of a transaction, and nothing between");
  assert.ok(told.every((one) => one.endsWith(`@${removed}`)) && new Set(told).size === 20, `all went at once, after ${revision}`);
  assert.equal((await resource.create({ metadata: { name: "after" }, value: 1 })).value, 1);
  await resource.update("after", (held) => ({ ...held, value: held.value + 1 }));
  assert.equal(resource.peek("after").value, 2);
  assert.equal(seen.ended, false, "and nobody had to list anew");
});

test("without transactions a revision that changes several keys is listed anew, and nothing is missing", async (t) => {
  const { prefix, resource } = open(t);
  await etcd.put(`${prefix}a`, 1);
  await resource.synced();
  await until(() => resource.status.phase === "live", "the watch");
  const seen = record(resource);
  await etcd.put(`${prefix}a`, 1.5);
  await etcd.txn({ [`${prefix}a`]: 2, [`${prefix}b`]: 2, [`${prefix}c`]: 2 });
  await until(() => resource.size === 3, "all of it");
  assert.equal(resource.peek("a").value, 2);
  await until(() => seen.ended, "the end of whoever watched");
  assert.deepEqual(
    [seen.events.map(({ object }) => object.value), (await seen.watcher.ended).reason],
    [[1.5], "relist"],
    "what came before it was told",
  );
  await until(() => resource.status.phase === "live", "the watch, again");
  await etcd.put(`${prefix}d`, 3);
  await until(() => resource.size === 4, "what follows");
});

test("etcd restarts: the rows stay, and the watch goes on", async (t) => {
  const { prefix, resource } = open(t);
  await etcd.put(`${prefix}a`, 1);
  await resource.synced();
  await until(() => resource.status.phase === "live", "the watch");
  await etcd.members[0].kill();
  assert.equal(resource.size, 1);
  await assert.rejects(resource.create({ metadata: { name: "refused" }, value: 1 }));
  await etcd.members[0].start();
  await etcd.put(`${prefix}b`, 2);
  await until(() => resource.peek("b"), "what was written afterwards");
  assert.equal(resource.size, 2);
});
