import assert from "node:assert/strict";
import { test } from "node:test";

import { openModel, settle } from "./lib/open.mjs";
import { pod, rawError } from "./lib/model.mjs";

const summary = (event) => `${event.type} ${event.key} ${event.resourceVersion}`;

async function collect(iterable, count) {
  const seen = [];
  for await (const item of iterable) {
    seen.push(item);
    if (seen.length === count) break;
  }
  return seen;
}

test("a watch gives the initial state, then what happens, one event at a time", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1), pod("a/y", 2)] });
  const watcher = resource.watch();
  const events = collect(watcher, 4);
  await settle();
  model.put(pod("a/x", 11));
  model.remove("a/y", "12");
  assert.deepEqual((await events).map(summary), ["ADDED a/x 1", "ADDED a/y 2", "MODIFIED a/x 11", "DELETED a/y 12"]);
  assert.deepEqual(await watcher.ended, { reason: "stopped", lastResourceVersion: "12" });
});

test("nothing is taken from the core before somebody reads", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1)] });
  const watcher = resource.watch();
  await settle();
  assert.equal(model.mode(1), 0);
  const next = watcher.next();
  assert.equal((await next).value.key, "a/x");
  model.put(pod("a/x", 11));
  model.put(pod("a/x", 12));
  await settle();
  assert.equal(model.mode(1), 0, "one batch was asked for and came");
  const { value } = await watcher.next();
  assert.equal(value.resourceVersion, "11");
});

test("steps that are asked for at once are answered in their order", async () => {
  const { resource, model } = await openModel();
  const watcher = resource.watch({ resourceVersion: "10" });
  const steps = [watcher.next(), watcher.next(), watcher.next()];
  const late = steps[0].then(() => watcher.next());
  for (let version = 11; version <= 14; version++) model.put(pod("a/x", version));
  const versions = (await Promise.all([...steps, late])).map(({ value }) => value.resourceVersion);
  assert.deepEqual(versions, ["11", "12", "13", "14"]);
});

test("batches() gives what one flush brought, as a whole", async () => {
  const { resource, model } = await openModel();
  const watcher = resource.watch({ resourceVersion: "10" });
  const batches = watcher.batches();
  const first = batches.next();
  for (let version = 11; version <= 13; version++) model.put(pod("a/x", version));
  assert.deepEqual((await first).value.map(summary), ["ADDED a/x 11", "MODIFIED a/x 12", "MODIFIED a/x 13"]);
  model.put(pod("a/x", 14));
  assert.equal((await batches.next()).value.length, 1);
  await batches.return();
  assert.equal((await watcher.ended).reason, "stopped");
});

test("forEach without promises gets everything at once, and never asks again", async () => {
  const { resource, model } = await openModel();
  const seen = [];
  const done = resource.watch({ resourceVersion: "10" }).forEach((event) => void seen.push(event.resourceVersion));
  await settle();
  assert.equal(model.mode(1), 2);
  for (let version = 11; version <= 15; version++) model.put(pod("a/x", version));
  await settle();
  assert.deepEqual(seen, ["11", "12", "13", "14", "15"]);
  const asked = model.calls.filter(([name]) => name === "demand").length;
  assert.equal(asked, 1);
  model.endAll("timeout");
  await done;
});

test("forEach with a handler that returns promises waits for each, and holds the rest back in the core", async () => {
  const { resource, model } = await openModel();
  const log = [];
  const gates = [];
  const watcher = resource.watch({ resourceVersion: "10" });
  const done = watcher.forEach((event) => {
    log.push(event.resourceVersion);
    return new Promise((resolve) => gates.push(resolve));
  });
  await settle();
  for (let version = 11; version <= 13; version++) model.put(pod("a/x", version));
  await settle();
  assert.deepEqual(log, ["11"], "the second event waits although it came in the same flush");
  assert.equal(model.mode(1), 0);
  gates.shift()();
  await settle();
  assert.deepEqual(log, ["11", "12"]);
  gates.shift()();
  await settle();
  gates.shift()();
  await settle();
  assert.deepEqual(log, ["11", "12", "13"]);
  model.put(pod("a/x", 14));
  await settle();
  assert.deepEqual(log, ["11", "12", "13", "14"]);
  model.endAll("relist");
  await settle();
  gates.shift()();
  await done;
  assert.deepEqual(await watcher.ended, { reason: "relist", lastResourceVersion: "14" });
});

test("a handler that throws or rejects is reported, and gets the next event", async () => {
  const { resource, model, reported } = await openModel();
  const calm = [];
  void resource.watch({ resourceVersion: "10" }).forEach((event) => {
    throw new Error(`sync ${event.resourceVersion}`);
  });
  void resource.watch({ resourceVersion: "10" }).forEach(async (event) => {
    throw new Error(`async ${event.resourceVersion}`);
  });
  void resource.watch({ resourceVersion: "10" }).forEach((event) => void calm.push(event.resourceVersion));
  await settle();
  model.put(pod("a/x", 11));
  model.put(pod("a/x", 12));
  await settle(60);
  assert.deepEqual(calm, ["11", "12"]);
  assert.deepEqual(reported.map(({ message }) => message).sort(), ["async 11", "async 12", "sync 11", "sync 12"]);
});

test("handlers may stop themselves and others, watch, list and close from inside", async () => {
  const { resource, cache, model } = await openModel({ objects: [pod("a/x", 1)] });
  const log = [];
  const first = resource.watch({ resourceVersion: "10" });
  const second = resource.watch({ resourceVersion: "10" });
  let late;
  void first.forEach((event) => {
    log.push(`first ${event.resourceVersion}`);
    second.stop();
    late ??= collect(resource.watch({ resourceVersion: "10" }), 1);
    void resource.list().then(({ items }) => log.push(`listed ${items.length}`));
    assert.equal(resource.peek("a/x").metadata.resourceVersion, "12");
    first.stop();
  });
  void second.forEach((event) => void log.push(`second ${event.resourceVersion}`));
  await settle();
  model.put(pod("a/x", 11));
  model.put(pod("a/x", 12));
  await settle();
  assert.deepEqual(log, ["first 11", "listed 1"]);
  assert.deepEqual(await first.ended, { reason: "stopped", lastResourceVersion: "11" });
  // The second was stopped before its first event: it has seen no version, although one was on its way.
  assert.deepEqual(await second.ended, { reason: "stopped" });
  model.put(pod("a/x", 13));
  assert.equal((await late)[0].resourceVersion, "13");

  const third = resource.watch({ resourceVersion: "13" });
  void third.forEach(() => void cache.close());
  const fourth = [];
  void resource.watch({ resourceVersion: "13" }).forEach((event) => void fourth.push(event));
  await settle();
  model.put(pod("a/x", 14));
  await settle();
  assert.deepEqual(fourth, [], "nothing is delivered after the close");
  assert.equal((await third.ended).reason, "closed");
});

test("events that are queued for the consumer are delivered before the end, and the end tells why", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1), pod("a/y", 2)] });
  const watcher = resource.watch();
  assert.equal((await watcher.next()).value.key, "a/x");
  model.endAll("overflow");
  await settle();
  assert.equal((await watcher.ended).reason, "overflow");
  assert.equal((await watcher.next()).value.key, "a/y");
  assert.equal((await watcher.next()).done, true);
});

test("stop drops what is queued, and tells from where a new watch misses nothing", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1), pod("a/y", 2)] });
  const amid = resource.watch();
  await amid.next();
  amid.stop();
  assert.deepEqual(await amid.ended, { reason: "stopped" }, "no version stands for half of the initial events");
  assert.equal((await amid.next()).done, true);

  const live = resource.watch({ resourceVersion: "10" });
  const first = live.next();
  for (let version = 11; version <= 13; version++) model.put(pod("a/x", version));
  await first;
  live.stop();
  assert.deepEqual(await live.ended, { reason: "stopped", lastResourceVersion: "11" });

  const before = resource.watch({ resourceVersion: "13" });
  const batch = before.batches().next();
  for (let version = 14; version <= 15; version++) model.put(pod("a/x", version));
  await batch;
  before.stop();
  assert.deepEqual(await before.ended, { reason: "stopped", lastResourceVersion: "15" });

  const marked = resource.watch({ sendInitialEvents: true });
  void marked.next();
  await settle();
  model.bookmark("15", true);
  await settle();
  const all = await marked.batches().next();
  assert.equal(all.value.at(-1).type, "ADDED");
  assert.equal((await marked.next()).value.initialEventsEnd, true);
  const more = marked.next();
  model.put(pod("a/x", 16));
  model.put(pod("a/x", 17));
  await more;
  marked.stop();
  assert.deepEqual(await marked.ended, { reason: "stopped", lastResourceVersion: "16" });
});

test("a refused watch rejects the iteration once, and ended tells an error", async () => {
  const { resource, model } = await openModel();
  const watcher = resource.watch({ namespace: ".." });
  await assert.rejects(watcher.next(), { name: "WatchCacheError", code: "invalid", resource: "pods" });
  assert.equal((await watcher.next()).done, true);
  assert.equal((await watcher.ended).reason, "error");
  await assert.rejects(
    resource.watch({ namespace: ".." }).forEach(() => {}),
    { code: "invalid" },
  );
  await assert.rejects(resource.watch({ namespace: ".." }).batches().next(), { code: "invalid" });
  await settle();
  assert.equal(model.watcherCount, 0, "the core may forget all three");
});

test("an ERROR event is delivered with its Status, then the stream ends", async () => {
  const { resource, model } = await openModel();
  const watcher = resource.watch({ resourceVersion: "10" });
  const events = collect(watcher);
  await settle();
  model.error({ kind: "Status", code: 410, reason: "Expired" });
  const [event] = await events;
  assert.equal(event.type, "ERROR");
  assert.equal(event.object.code, 410);
  assert.equal((await watcher.ended).reason, "error");
});

test("an aborted signal stops the watch, before and after its start", async () => {
  const { resource, model } = await openModel();
  const early = resource.watch({ signal: AbortSignal.abort() });
  assert.equal((await early.next()).done, true);
  const controller = new AbortController();
  const watcher = resource.watch({ signal: controller.signal });
  const next = watcher.next();
  await settle();
  controller.abort(new Error("enough"));
  assert.equal((await next).done, true);
  assert.equal((await watcher.ended).reason, "stopped");
  await settle();
  assert.equal(model.watcherCount, 0);
});

test("leaving a loop and await using stop the watch", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1)] });
  const watcher = resource.watch();
  for await (const event of watcher) {
    assert.equal(event.type, "ADDED");
    break;
  }
  assert.equal((await watcher.ended).reason, "stopped");
  const other = resource.watch();
  await other[Symbol.asyncDispose]();
  assert.equal((await other.ended).reason, "stopped");
  await settle();
  assert.equal(model.watcherCount, 0);
});

test("one watcher has one reader at a time", async () => {
  const { resource, model } = await openModel();
  const watcher = resource.watch({ resourceVersion: "10" });
  const done = watcher.forEach(() => {});
  await assert.rejects(watcher.next(), { code: "invalid" });
  await assert.rejects(
    watcher.forEach(() => {}),
    { code: "invalid" },
  );
  watcher.stop();
  await done;
  const pulled = resource.watch({ resourceVersion: "10" });
  const next = pulled.next();
  await assert.rejects(
    pulled.forEach(() => {}),
    { code: "invalid" },
  );
  model.put(pod("a/x", 11));
  assert.equal((await next).value.resourceVersion, "11");
});

test("an event is one object for all its subscribers, and shows its fields without decoding", async () => {
  const { resource, model } = await openModel();
  const seen = [];
  for (let i = 0; i < 3; i++) void resource.watch({ resourceVersion: "10" }).forEach((event) => void seen.push(event));
  await settle();
  model.put(pod("a/x", 11, { phase: "Pending" }));
  await settle();
  assert.equal(new Set(seen).size, 1);
  const [event] = seen;
  assert.equal(event.get("status.phase"), "Pending");
  assert.throws(() => event.get("a[["), { name: "WatchCacheError", code: "invalid" });
  assert.equal(JSON.parse(new TextDecoder().decode(event.raw)).metadata.name, "x");
  assert.equal(model.calls.filter(([name]) => name === "parse").length, 0);
  assert.equal(event.object, event.object);
  assert.equal(event.object, resource.peek("a/x"));
  assert.equal(model.calls.filter(([name]) => name === "parse").length, 1);
  model.bookmark("12");
  model.bookmark("13", true);
  await settle();
  assert.deepEqual(
    seen.slice(-6).map(({ type, initialEventsEnd }) => `${type} ${initialEventsEnd}`),
    [...Array(3).fill("BOOKMARK undefined"), ...Array(3).fill("BOOKMARK true")],
  );
});

test("an error of the core when a watch is made is a refusal", async () => {
  const { resource, model } = await openModel();
  model.watch = () => {
    throw rawError("invalid", "timeoutSeconds: must be a number");
  };
  await assert.rejects(resource.watch().next(), { code: "invalid", message: /timeoutSeconds/ });
});
