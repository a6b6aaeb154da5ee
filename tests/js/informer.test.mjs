// Informers of the built package in Node, over a Source object.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createInformerFactory, waitForSync } from "watchcache";
import { memorySource } from "watchcache/memory";

import { listener, told } from "./lib/listener.mjs";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const name = ({ metadata }) => metadata.name;
const version = ({ metadata }) => metadata.resourceVersion;

test("handlers hear of the first state, of every change, and of deletions that were missed", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const { resource } = open(upstream);
  const informer = resource.informer();
  const handler = listener();
  const registration = informer.addEventHandler(handler);
  assert.deepEqual([informer.hasSynced, registration.hasSynced, informer.isStarted, informer.isStopped], [false, false, true, false]);
  await informer.synced;
  await registration.synced;
  assert.deepEqual([informer.hasSynced, registration.hasSynced, informer.lastSyncResourceVersion], [true, true, "102"]);
  assert.deepEqual(handler.heard.splice(0), ["A! x@101", "A! y@102"]);
  await until(() => resource.status.phase === "live");
  upstream.put(pod("a/x", { phase: "Failed" }));
  upstream.put(pod("a/z"));
  upstream.remove("a/y");
  assert.deepEqual(await told(handler, 3), ["U x@101->103", "A z@104", "D a/y@105"]);
  upstream.drop();
  upstream.remove("a/z");
  upstream.put(pod("a/x"));
  upstream.expire();
  assert.deepEqual(await told(handler, 2), ["T a/z@104", "U x@103->107"]);
  assert.deepEqual(informer.list().map(version), ["107"]);
  assert.equal(informer.get("a/x"), resource.peek("a/x"), "the one decoded object");
  assert.equal(upstream.asked("list").length, 2, "one stream for all of it");
});

test("an event is read by paths without decoding either of its objects", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, cache } = open(upstream);
  const seen = [];
  const informer = resource.informer();
  const registration = informer.addEventHandler((event) => {
    seen.push([
      event.type,
      event.key,
      event.resourceVersion,
      event.isInInitialList,
      event.getOld("status.phase"),
      event.get("status.phase"),
    ]);
  });
  await registration.synced;
  await until(() => resource.status.phase === "live");
  upstream.put(pod("a/x", { phase: "Failed" }));
  upstream.remove("a/x");
  await until(() => seen.length === 3);
  assert.deepEqual(seen, [
    ["add", "a/x", "101", true, undefined, "Running"],
    ["update", "a/x", "102", false, "Running", "Failed"],
    ["delete", "a/x", "103", false, "Failed", "Failed"],
  ]);
  assert.equal(cache.stats().resources[0].decoded, 0);
});

test("in_24: a handler that throws is reported each time, is synced, and harms no other", async () => {
  const upstream = memorySource({ objects: ["1", "2", "3", "4", "5"].map((key) => pod(`a/${key}`)) });
  const { resource, reported } = open(upstream);
  const informer = resource.informer();
  const throws = informer.addEventHandler({
    onAdd() {
      throw new RangeError("sync");
    },
  });
  const rejects = informer.addEventHandler({
    async onAdd() {
      throw new TypeError("async");
    },
  });
  const handler = listener();
  const good = informer.addEventHandler(handler);
  await waitForSync({ informer, throws, rejects, good });
  assert.equal(handler.heard.length, 5);
  assert.deepEqual(reported.map(({ name }) => name).sort(), [...Array(5).fill("RangeError"), ...Array(5).fill("TypeError")]);
});

test("a handler that returns a promise is waited for; what exceeds its buffer is told, and merges", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, reported } = open(upstream);
  const informer = resource.informer();
  let overflows = 0;
  resource.addEventListener("overflow", () => overflows++);
  const heard = [];
  let release = () => {};
  const registration = informer.addEventHandler(
    (event) => {
      heard.push(event.type === "overflow" ? "overflow" : `${event.type} ${event.resourceVersion}`);
      return new Promise((resolve) => (release = resolve));
    },
    { bufferSize: 2 },
  );
  await until(() => heard.length === 1);
  assert.equal(registration.hasSynced, false, "its promise has not settled");
  await until(() => resource.status.phase === "live");
  for (let i = 0; i < 5; i++) upstream.put(pod("a/x"));
  await until(() => resource.resourceVersion === "106");
  await until(() => overflows === 1);
  assert.deepEqual(heard, ["add 101"]);
  for (const count of [2, 3, 4, 5]) {
    release();
    await until(() => heard.length === count);
  }
  assert.deepEqual(heard, ["add 101", "update 102", "update 103", "overflow", "update 106"]);
  assert.equal(registration.hasSynced, true);
  assert.deepEqual(reported, []);
  // Where callbacks have no member for it, it is reported.
  release();
  const calls = [];
  const silent = informer.addEventHandler({ onUpdate: () => new Promise((resolve) => calls.push(resolve)) }, { bufferSize: 1 });
  await silent.synced;
  // Whoever is idle takes all that comes together. Only what comes while it is waited for can be too much.
  upstream.put(pod("a/x"));
  await until(() => calls.length === 1);
  for (let i = 0; i < 4; i++) upstream.put(pod("a/x"));
  await until(() => resource.resourceVersion === "111");
  while (reported.length === 0) {
    calls.at(-1)();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.equal(reported[0].code, "overflow");
});

test("in_25_in_26: remove resolves when the call under way has ended, and at once where there is none", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const { resource } = open(upstream);
  const informer = resource.informer({ start: false });
  await informer.addEventHandler(listener()).remove();
  const handler = listener();
  const early = informer.addEventHandler(handler);
  informer.start();
  await early.synced;
  await early.remove();
  let release;
  const calls = [];
  const slow = informer.addEventHandler((event) => {
    calls.push(event.key);
    return new Promise((resolve) => (release = resolve));
  });
  await until(() => calls.length === 1);
  let removed = false;
  const removal = slow.remove().then(() => (removed = true));
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(removed, false);
  release();
  await removal;
  await assert.rejects(slow.synced, { code: "closed" });
  await slow.remove();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(calls, ["a/x"]);
});

test("in_36: options that cannot be read are refused, and a handler that is none", async () => {
  const { resource } = open(memorySource({ objects: [pod("a/x")] }));
  const informer = resource.informer();
  await informer.synced;
  for (const wrong of [undefined, null, 7, "add"]) assert.throws(() => informer.addEventHandler(wrong), { code: "invalid" });
  for (const options of [{ resyncPeriod: -1 }, { bufferSize: "2" }, { timeSlice: NaN }, { filter: "a" }, { labelSelector: "a in (" }]) {
    assert.throws(
      () => informer.addEventHandler({}, options),
      (error) => error.name === "WatchCacheError",
      JSON.stringify(options),
    );
  }
  assert.throws(() => resource.informer({ resyncPeriod: NaN }), { code: "invalid" });
  assert.throws(() => resource.informer({ transform: 7 }), { code: "invalid" });
  assert.throws(() => resource.informer({ indexers: { namespace: "a" } }), { code: "invalid" });
  await assert.rejects(informer.removeEventHandler({}), { code: "invalid" });
});

test("in_08: handlers hear of the names that the transform makes", async () => {
  const upstream = memorySource({ objects: [pod("a/pod1"), pod("a/pod2")] });
  const { resource } = open(upstream);
  const informer = resource.informer({
    transform(object) {
      object.metadata.name = object.metadata.name.toUpperCase();
      return object;
    },
  });
  const handler = listener();
  await informer.addEventHandler(handler).synced;
  assert.deepEqual(handler.heard, ["A! POD1@101", "A! POD2@102"]);
});

test("in_09: handlers, old objects, indexes and reads see what the transform makes, of each version once", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const { resource } = open(upstream, { debug: true, checkConsistency: false });
  const transformed = [];
  const informer = resource.informer({
    transform(object) {
      transformed.push(version(object));
      delete object.metadata.resourceVersion;
      object.metadata.name = object.metadata.name.toUpperCase();
      object.spec = { version: transformed.at(-1) };
      return object;
    },
    indexers: { name: (object) => [name(object)] },
  });
  const seen = [];
  const keep = [];
  const registration = informer.addEventHandler({
    onAdd: (object) => void keep.push(object) || void seen.push(["add", name(object)]),
    onUpdate: (old, object) => void keep.push(object) || void seen.push(["update", old.spec.version, object.spec.version, version(object)]),
    onDelete: ({ key, object }) => void seen.push(["delete", key, name(object)]),
  });
  await registration.synced;
  await until(() => resource.status.phase === "live");
  upstream.put(pod("a/x"));
  await until(() => seen.length === 3);
  assert.deepEqual(informer.list().map(name), ["X", "Y"]);
  assert.deepEqual(
    informer.byIndex("name", "X").map(({ spec }) => spec.version),
    ["103"],
  );
  assert.equal(informer.get("a/x").spec.version, "103");
  assert.equal(resource.peek("a/x").metadata.name, "x", "others see what the server said");
  upstream.remove("a/x");
  await until(() => seen.length === 4);
  assert.deepEqual(seen, [
    ["add", "X"],
    ["add", "Y"],
    ["update", "101", "103", undefined],
    ["delete", "a/x", "X"],
  ]);
  assert.deepEqual(transformed, ["101", "102", "103", "104"], "each version once");
  assert.throws(() => (keep[0].metadata.name = "z"), TypeError, "in debug what is shared is frozen");
});

test("a transform that throws is reported; that version is told to nobody and shown to nobody, and all else goes on", async () => {
  const upstream = memorySource({ objects: [pod("a/bad"), pod("a/good")] });
  const { resource, reported } = open(upstream);
  const informer = resource.informer({
    transform(object) {
      if (object.metadata.name === "bad" && object.status.phase !== "Fixed") throw new RangeError("no");
      return object;
    },
  });
  const handler = listener();
  const registration = informer.addEventHandler(handler);
  await registration.synced;
  assert.deepEqual(handler.heard.splice(0), ["A! good@102"]);
  assert.deepEqual(
    reported.map(({ code }) => code),
    ["decode"],
  );
  assert.match(reported[0].message, /a\/bad at 101/);
  assert.deepEqual([informer.list().map(name), informer.get("a/bad")], [["good"], undefined]);
});

test("in_37: in debug, a handler that changes a shared object is told at once", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, reported } = open(upstream, { debug: true, checkConsistency: false });
  const informer = resource.informer();
  const registration = informer.addEventHandler({ onAdd: (object) => void (object.metadata.labels.app = "changed") });
  await registration.synced;
  assert.deepEqual(
    reported.map(({ name }) => name),
    ["TypeError"],
  );
  assert.equal(informer.get("a/x").metadata.labels.app, "web");
});

test("indexes by path and by function, before and after the start; by path nothing is decoded", async () => {
  const upstream = memorySource({ objects: [pod("a/web-1"), pod("b/web-db-2", { node: "n2" }), pod("a/3")] });
  const { resource, cache } = open(upstream);
  const informer = resource.informer({ indexers: { node: "spec.nodeName" } });
  assert.deepEqual(informer.byIndex("node", "n2"), [], "nothing is there yet");
  await informer.synced;
  assert.deepEqual(informer.indexKeys("node", "n2"), ["b/web-db-2"]);
  assert.deepEqual(informer.indexValues("node"), ["n2", "node-1"]);
  assert.equal(cache.stats().resources[0].decoded, 0);
  const calls = [];
  informer.addIndexers({
    words({ metadata: { name } }) {
      calls.push(name);
      return name.split("-").slice(0, -1);
    },
  });
  assert.deepEqual(informer.byIndex("words", "web").map(name), ["web-1", "web-db-2"]);
  assert.deepEqual(informer.indexKeys("words", "db"), ["b/web-db-2"]);
  assert.deepEqual(informer.indexValues("words"), ["db", "web"]);
  assert.deepEqual(calls.splice(0).sort(), ["3", "web-1", "web-db-2"], "each once");
  assert.equal(informer.byIndex("words", "web"), informer.byIndex("words", "web"), "the same array");
  assert.deepEqual(informer.indexKeys("namespace", "b"), ["b/web-db-2"]);
  await until(() => resource.status.phase === "live");
  upstream.put(pod("a/web-1", { node: "n9" }));
  upstream.remove("b/web-db-2");
  await until(() => resource.size === 2 && resource.resourceVersion === "105");
  assert.deepEqual(informer.indexKeys("words", "web"), ["a/web-1"]);
  assert.deepEqual(informer.indexValues("words"), ["web"]);
  assert.deepEqual(informer.indexValues("node"), ["n9", "node-1"]);
  assert.deepEqual(calls, ["web-1"]);
  assert.throws(() => informer.addIndexers({ other: "a", node: "b" }), { code: "invalid", message: /indexer conflict: node/ });
  assert.throws(() => informer.byIndex("other", "a"), { code: "invalid", message: "Index with name other does not exist" });
  assert.deepEqual(informer.indexValues("other"), []);
});

test("lists go by selector and namespace, and are the same array while nothing changed", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("b/y", { labels: { app: "db" } }), pod("b/z")] });
  const { resource } = open(upstream);
  const informer = resource.informer();
  assert.deepEqual(informer.list(), []);
  await informer.synced;
  assert.deepEqual(
    [informer.list(), informer.list("app=web"), informer.list("", "b"), informer.list("app!=web", "b")].map((list) => list.map(name)),
    [["x", "y", "z"], ["x", "z"], ["y", "z"], ["y"]],
  );
  assert.equal(informer.list("app=web"), informer.list("app=web"));
  assert.throws(() => informer.list("app in ("), { code: "invalid" });
});

test("in_33: filters narrow what a handler hears, by selectors and by a function", async () => {
  const upstream = memorySource({ objects: [pod("a/x", { node: "n1" }), pod("a/y", { node: "n2" })] });
  const { resource } = open(upstream);
  const informer = resource.informer();
  const [byField, byFunction] = [listener(), listener()];
  const registrations = [
    informer.addEventHandler(byField, { fieldSelector: "spec.nodeName=n1" }),
    informer.addEventHandler(byFunction, { filter: ({ spec }) => spec.nodeName === "n1" }),
  ];
  await Promise.all(registrations.map(({ synced }) => synced));
  await until(() => resource.status.phase === "live");
  upstream.put(pod("a/y", { node: "n1" }));
  upstream.put(pod("a/y", { node: "n1", phase: "Failed" }));
  upstream.put(pod("a/x", { node: "n2" }));
  upstream.put(pod("a/x", { node: "n3" }));
  upstream.remove("a/x");
  upstream.remove("a/y");
  const expected = ["A! x@101", "A y@103", "U y@103->104", "D a/x@101", "D a/y@108"];
  for (const handler of [byField, byFunction]) assert.deepEqual(await told(handler, 5), expected);
});

test("stats count informers, their handlers, and what waits for these", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, cache } = open(upstream);
  const informer = resource.informer();
  let release = () => {};
  const slow = informer.addEventHandler(() => new Promise((resolve) => (release = resolve)));
  await informer.addEventHandler(listener()).synced;
  const counted = () => {
    const [{ informers, handlers, queued }] = cache.stats().resources;
    return [informers, handlers, queued];
  };
  await until(() => resource.status.phase === "live");
  for (let i = 0; i < 3; i++) upstream.put(pod("a/x"));
  await until(() => resource.resourceVersion === "104");
  await until(() => counted()[2] === 3);
  assert.deepEqual(counted(), [1, 2, 3]);
  assert.match(cache.metrics(), /^informer_queued_items\{[^}]*\} 3$/m);
  assert.match(cache.metrics(), /^informer_store_resource_version\{[^}]*\} 104$/m);
  void slow.remove();
  release();
  assert.deepEqual(counted(), [1, 1, 0]);
  informer.stop();
  resource.watch(); // it stays open
  assert.deepEqual(counted(), [0, 0, 0]);
  assert.doesNotMatch(cache.metrics(), /informer_/);
});

test("in_10: what comes too late says so; a second start only warns", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const warned = [];
  const logger = { debug() {}, info() {}, warn: (...words) => warned.push(words.join(" ")), error() {} };
  const { resource } = open(upstream, { logger });
  const informer = resource.informer();
  await informer.synced;
  informer.start();
  assert.equal(upstream.asked("list").length, 1);
  assert.match(warned[0], /pods has started already/);
  informer.stop();
  informer.stop();
  informer.start();
  assert.match(warned[1], /never starts again/);
  assert.deepEqual([informer.isStarted, informer.isStopped, informer.hasSynced], [true, true, true]);
  assert.throws(() => informer.addEventHandler({}), { code: "closed", message: /because it has stopped already$/ });
  assert.throws(() => informer.addIndexers({ node: "spec.nodeName" }), { code: "closed" });
  assert.equal("transform" in informer || "setTransform" in informer, false, "what is given at the start cannot be set after it");
  const never = resource.informer({ start: false });
  never.stop();
  await assert.rejects(never.synced, { code: "closed" });
});

test("in_29: after stop nothing is called; others go on, and the stream closes with the last", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = open(upstream, { linger: 5 });
  const [one, other] = [resource.informer(), resource.informer()];
  const [first, second] = [listener(), listener()];
  await Promise.all([one.addEventHandler(first).synced, other.addEventHandler(second).synced]);
  await until(() => upstream.streams === 1);
  one.stop();
  upstream.put(pod("a/y"));
  assert.deepEqual((await told(second, 2)).at(-1), "A y@102");
  assert.deepEqual(first.heard, ["A! x@101"]);
  other.stop();
  await until(() => upstream.streams === 0);
  assert.equal(resource.status.phase, "idle");
});

test("read your writes: what was written shows before the stream brings it, and handlers hear of the stream alone", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = open(upstream);
  const informer = resource.informer({ readYourWrites: true });
  const handler = listener();
  await informer.addEventHandler(handler).synced;
  await until(() => resource.status.phase === "live");
  const written = { ...pod("a/x", { phase: "Failed" }), metadata: { ...pod("a/x").metadata, resourceVersion: "102" } };
  informer.mutated(written);
  const made = { ...pod("a/w"), metadata: { ...pod("a/w").metadata, resourceVersion: "103" } };
  informer.mutated(made);
  assert.deepEqual(
    informer.list().map((object) => `${name(object)}@${version(object)}`),
    ["w@103", "x@102"],
  );
  assert.equal(informer.get("a/x").status.phase, "Failed");
  assert.deepEqual(informer.byIndex("namespace", "a").map(name), ["w", "x"]);
  informer.addIndexers({ path: "status.phase", function: ({ status }) => [status.phase] });
  for (const index of ["path", "function"]) {
    assert.deepEqual(informer.byIndex(index, "Running").map(name), ["w"], index);
    assert.deepEqual(informer.byIndex(index, "Failed").map(version), ["102"], index);
    assert.deepEqual(informer.indexKeys(index, "Failed"), ["a/x"], index);
  }
  assert.equal(resource.peek("a/x").status.phase, "Running");
  upstream.put(pod("a/x", { phase: "Succeeded" }));
  await until(() => handler.heard.length === 2);
  assert.equal(informer.get("a/x").status.phase, "Succeeded");
  for (const index of ["path", "function"]) {
    assert.deepEqual([informer.byIndex(index, "Failed"), informer.indexKeys(index, "Succeeded")], [[], ["a/x"]], index);
  }
  assert.deepEqual(handler.heard, ["A! x@101", "U x@101->102"]);
});

test("resyncs tell every object once more, and cost no request", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = open(upstream);
  const informer = resource.informer({ resyncPeriod: 1 });
  const events = [];
  informer.addEventHandler((event) => void events.push([event.type, event.resync]), { resyncPeriod: 1 });
  await until(() => events.length === 3);
  assert.deepEqual(events, [
    ["add", false],
    ["update", true],
    ["update", true],
  ]);
  assert.equal(upstream.asked("list").length, 1);
  informer.stop();
});

test("a time slice ends with the page's turn, and nothing is lost", async () => {
  const upstream = memorySource({ objects: Array.from({ length: 100 }, (_, i) => pod(`a/${String(i).padStart(3, "0")}`)) });
  const { resource } = open(upstream);
  const informer = resource.informer();
  const keys = [];
  const turns = new Set();
  let turn = 0;
  const count = setInterval(() => turn++, 0);
  const registration = informer.addEventHandler(
    (event) => {
      keys.push(event.key);
      turns.add(turn);
      const until = performance.now() + 1;
      while (performance.now() < until);
    },
    { timeSlice: 5 },
  );
  await registration.synced;
  clearInterval(count);
  assert.equal(keys.length, 100);
  assert.deepEqual(keys, keys.toSorted());
  assert.ok(turns.size >= 5, `${turns.size} turns`);
});

test("in_42: a factory gives one informer for each resource, and starts, waits and stops them together", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { cache } = open(upstream);
  const factory = createInformerFactory(cache, { resyncPeriod: 0 });
  const spec = { source: upstream, id: "pods" };
  const pods = factory.forResource(spec);
  assert.equal(factory.forResource({ source: upstream, id: "pods" }), pods);
  assert.equal(pods.isStarted, false);
  await factory.waitForCacheSync();
  assert.equal(upstream.asked("list").length, 0, "nothing has started");
  factory.start();
  const later = factory.forResource({ source: upstream, id: "others" });
  await factory.waitForCacheSync();
  assert.deepEqual([pods.hasSynced, later.hasSynced, later.isStarted], [true, false, false]);
  factory.start();
  await factory.waitForCacheSync();
  assert.equal(later.hasSynced, true);
  const second = createInformerFactory(cache);
  second.forResource(spec);
  second.start();
  await second.waitForCacheSync();
  assert.equal(upstream.asked("list").length, 2, "two resources, one stream for each");
  await factory.shutdown();
  assert.deepEqual([pods.isStopped, later.isStopped], [true, true]);
  factory.start();
  assert.throws(() => factory.forResource({ source: upstream, id: "new" }), { code: "closed" });
  await second.shutdown();
});

test("sy_04: a wait is told which names are missing, sorted, and why", async () => {
  const never = () => ({ hasSynced: false, synced: new Promise(() => {}) });
  const what = { b: never(), done: { hasSynced: true, synced: Promise.resolve() }, a: never() };
  await assert.rejects(waitForSync(what, { timeoutMs: 5 }), { code: "timeout", message: "not synced: a, b" });
  const reason = new Error("left");
  const controller = new AbortController();
  const waiting = waitForSync(what, { signal: controller.signal });
  controller.abort(reason);
  const aborted = await waiting.catch((error) => error);
  assert.deepEqual([aborted.name, aborted.message, aborted.cause], ["AbortError", "not synced: a, b", reason]);
  assert.equal((await waitForSync(what, { signal: controller.signal }).catch((error) => error)).name, "AbortError");
  await waitForSync({ done: what.done }, { signal: controller.signal });
  const gone = new Error("stopped");
  const stopped = { hasSynced: false, synced: Promise.reject(gone) };
  await assert.rejects(waitForSync({ ...what, stopped }), { code: "closed", message: "not synced: a, b, stopped", cause: gone });
});

test("a wait is told the names in the order in which they were done", async () => {
  const ends = {};
  const later = (name) => {
    const thing = { hasSynced: false };
    thing.synced = new Promise((resolve) => (ends[name] = () => resolve((thing.hasSynced = true))));
    return thing;
  };
  const what = { c: later("c"), done: { hasSynced: true, synced: Promise.resolve() }, a: later("a"), b: later("b") };
  const waiting = waitForSync(what);
  for (const name of ["b", "c", "a"]) {
    ends[name]();
    await Promise.resolve();
  }
  assert.deepEqual(await waiting, ["done", "b", "c", "a"]);
  const { cache } = open(memorySource({ objects: [pod("a/x")] }));
  const factory = createInformerFactory(cache);
  const slow = memorySource();
  slow.before = () => new Promise((resolve) => (ends.slow = resolve));
  factory.forResource({ source: slow, id: "slow" });
  const quick = factory.forResource({ source: memorySource({ objects: [pod("a/x")] }), id: "quick" });
  factory.start();
  factory.forResource({ source: memorySource({ objects: [] }), id: "unstarted" });
  const synced = factory.waitForCacheSync();
  // The slow one is answered once the quick one is done, however long that takes.
  await quick.synced;
  await until(() => ends.slow !== undefined);
  ends.slow();
  assert.deepEqual(await synced, ["quick", "slow"]);
});

test("in_40: handlers may do anything in a call: stop, remove each other, join, read, close", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const { resource, cache, reported } = open(upstream);
  const informer = resource.informer();
  const calls = [];
  const joined = listener();
  let victim;
  informer.addEventHandler((event) => {
    calls.push(`first ${event.key}`);
    void victim.remove();
    if (calls.length === 1) informer.addEventHandler(joined);
    informer.list().map(name);
  });
  victim = informer.addEventHandler((event) => void calls.push(`victim ${event.key}`));
  await told(joined, 2);
  assert.deepEqual(calls, ["first a/x", "first a/y"]);
  const other = resource.informer();
  other.addEventHandler(() => {
    other.stop();
    calls.push("other");
  });
  await until(() => calls.length === 3);
  const last = resource.informer();
  last.addEventHandler(() => {
    calls.push("last");
    void cache.close();
  });
  await until(() => calls.length === 4);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(calls.length, 4);
  assert.deepEqual([informer.isStopped, last.isStopped], [true, true]);
  assert.deepEqual(reported, []);
});
