import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { openCache } from "../../dist/cache/cache.js";
import { WatchCacheError } from "../../dist/error/errors.js";
import { turned } from "./lib/clock.mjs";
import { openModel, settle } from "./lib/open.mjs";
import { ModelModule, pod, rawError } from "./lib/model.mjs";

const calls = (model, name) => model.calls.filter(([call]) => call === name).length;

test("nothing is opened before the first use", async () => {
  const { cache, module } = await openModel({ ready: false });
  const resource = cache.resource("v1/nodes");
  assert.equal(resource.status.phase, "idle");
  assert.equal(module.resources.length, 0);
  assert.deepEqual(cache.stats(), { mode: "inline", memoryBytes: 0, resources: [] });
});

test("what is asked before the WebAssembly is there is answered when it is", async () => {
  const { resource, runtime, models } = await openModel({ ready: false });
  assert.equal(resource.peek("a/x"), undefined);
  assert.deepEqual(resource.byIndex("namespace", "a"), []);
  assert.equal(resource.size, 0);
  await settle();
  assert.equal(resource.status.phase, "loading");
  const view = resource.view({ orderBy: [{ path: "metadata.name" }] });
  let changes = 0;
  view.subscribe(() => changes++);
  assert.deepEqual(view.rows, []);
  const [synced, list, get, next] = [resource.synced(), resource.list(), resource.get("a/x"), resource.watch().next()];
  let pushed = 0;
  void resource.watch().forEach(() => void pushed++);
  runtime.arrive();
  await settle();
  assert.equal(resource.status.phase, "listing");
  models[0].sync([pod("a/x", 1)], "10");
  await synced;
  assert.equal((await list).resourceVersion, "10");
  assert.equal((await get).metadata.name, "x");
  assert.equal((await next).value.key, "a/x");
  assert.equal(pushed, 1);
  assert.equal(changes, 1);
  assert.equal(view.total, 1);
  assert.equal(resource.size, 1);
  assert.equal(models.length, 1);
});

test("a WebAssembly that cannot be loaded now is a connection that fails: requests go on waiting, and the status tells until when", async () => {
  const { resource, runtime, models } = await openModel({ ready: false });
  const told = [];
  resource.addEventListener("status", ({ detail }) => {
    resource.peek("a/x"); // a listener that reads makes no loop
    told.push(`${detail.phase} ${detail.attempt} ${detail.retryAt ?? "now"} ${detail.error?.code ?? "well"}`);
  });
  const waiting = [resource.synced(), resource.list(), resource.watch().next()];
  await settle();
  const error = new WatchCacheError("network", "no answer", { retryable: true });
  runtime.fail(error, 12_345);
  await settle();
  assert.equal(resource.status.error, error);
  runtime.fail(error, 23_456);
  await settle();
  assert.deepEqual(told, ["loading 0 now well", "loading 1 12345 network", "loading 2 23456 network"]);
  assert.equal(await Promise.race([...waiting, "nothing"]), "nothing");
  runtime.arrive();
  models[0].sync([pod("a/x", 1)], "10");
  await Promise.all(waiting);
  const { phase, attempt, retryAt } = resource.status;
  assert.deepEqual([phase, attempt, retryAt, resource.status.error], ["live", 0, undefined, undefined]);
  assert.equal(runtime.wanted(), 0);
});

test("without users the WebAssembly is wanted no longer, and what was closed rejects", async (t) => {
  t.after(turned());
  const { resource, runtime, cache } = await openModel({ ready: false, options: { linger: 5_000 } });
  const error = new WatchCacheError("network", "no answer", { retryable: true });
  resource.peek("a/x");
  runtime.fail(error, 2_000_000);
  await settle();
  assert.equal(resource.status.phase, "loading");
  assert.equal(runtime.wanted(), 1);
  mock.timers.tick(5_000);
  assert.equal(runtime.wanted(), 0);
  assert.equal(resource.status.phase, "idle");
  const asked = [resource.synced(), resource.get("a/x")];
  await settle();
  assert.equal(resource.status.retryAt, 2_000_000);
  mock.timers.tick(50_000);
  assert.equal(runtime.wanted(), 1, "a promise that waits is a user");
  void cache.close();
  for (const outcome of await Promise.allSettled(asked)) assert.equal(outcome.reason?.code, "closed");
  assert.equal(runtime.wanted(), 0);
});

test("a WebAssembly that can never be loaded fails every request that waits, once, until a user asks for a try", async () => {
  const { resource, runtime, models } = await openModel({ ready: false });
  const told = [];
  resource.addEventListener("status", ({ detail }) => {
    told.push(detail.phase);
    resource.peek("a/x");
  });
  const errors = [];
  resource.addEventListener("error", ({ detail }) => errors.push(detail.error));
  const waiting = [resource.synced(), resource.list(), resource.watch().next(), resource.watch().forEach(() => {})];
  await settle();
  const error = new WatchCacheError("decode", "no module");
  runtime.fail(error);
  for (const outcome of await Promise.allSettled(waiting)) assert.equal(outcome.reason, error);
  await settle(100);
  assert.equal(resource.status.phase, "failed");
  assert.deepEqual(errors, [error]);
  assert.deepEqual(told, ["loading", "failed"]);
  // Later requests are told the same.
  const late = [resource.synced(), resource.list(), resource.watch().next(), resource.informer().synced];
  for (const outcome of await Promise.allSettled(late)) assert.equal(outcome.reason, error);
  assert.equal(errors.length, 1);
  resource.resume();
  assert.equal(resource.status.phase, "loading");
  runtime.arrive();
  resource.peek("a/x");
  models[0].sync([], "10");
  await resource.synced();
  assert.equal(resource.status.phase, "live");
  assert.equal(resource.status.error, undefined);
});

test("equal specs share one resource; other namespaces, selectors and sources do not", async () => {
  const { cache, source } = await openModel({ ready: false });
  const pods = cache.resource("pods");
  assert.equal(cache.resource("v1/pods"), pods);
  assert.equal(cache.resource({ version: "v1", resource: "pods", labelSelector: " ", namespace: "" }), pods);
  const others = [
    cache.resource({ version: "v1", resource: "pods", namespace: "a" }),
    cache.resource({ version: "v1", resource: "pods", labelSelector: "app=web" }),
    cache.resource({ version: "v1", resource: "pods", fieldSelector: "app=web" }),
    cache.resource("apps/v1/pods"),
    cache.resource({ source, id: "pods" }),
    cache.resource({ source: { ...source }, id: "pods" }),
  ];
  assert.equal(new Set([pods, ...others]).size, 7);
  assert.equal(cache.resource({ source, id: "pods" }), others[4]);
});

test("a stream outlives its last user by the linger, then the rows stay for a while", async (t) => {
  t.after(turned());
  const { resource, model, models } = await openModel({ objects: [pod("a/x", 1)], options: { linger: 5_000 } });
  const watcher = resource.watch();
  const view = resource.view();
  const off = view.subscribe(() => {});
  assert.equal(view.rows.length, 1);
  mock.timers.tick(60_000);
  assert.equal(calls(model, "pause"), 0, "it is in use");
  watcher.stop();
  mock.timers.tick(60_000);
  assert.equal(calls(model, "pause"), 0, "the view still has a subscriber");
  off();
  mock.timers.tick(4_999);
  view.subscribe(() => {})();
  mock.timers.tick(4_999);
  assert.equal(calls(model, "pause"), 0, "mounted again within the linger");
  mock.timers.tick(1);
  assert.equal(calls(model, "pause"), 1);
  assert.equal(resource.status.phase, "idle");

  mock.timers.tick(100_000);
  assert.equal(resource.size, 1, "the rows are still there");
  assert.equal(calls(model, "resume"), 1, "and the read opened the stream again");
  mock.timers.tick(5_000);
  assert.equal(calls(model, "pause"), 2);
  mock.timers.tick(300_000);
  assert.equal(model.closed, true);
  assert.equal(view.rows.length, 1);
  assert.equal(resource.status.phase, "idle");

  view.subscribe(() => {});
  assert.equal(view.rows.length, 1, "a view shows its last rows until there are new ones");
  assert.equal(models.length, 2);
  models[1].sync([pod("a/x", 1), pod("a/y", 2)], "20");
  await settle();
  assert.equal(view.rows.length, 2);
});

test("pause and resume are the user's: reads do not undo a pause", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1)] });
  resource.pause();
  assert.equal(resource.status.phase, "paused");
  assert.equal(resource.size, 1);
  assert.equal(calls(model, "resume"), 0);
  resource.resume();
  assert.equal(calls(model, "resume"), 1);
  assert.equal(resource.status.phase, "live");
  const early = await openModel({ ready: false });
  early.resource.pause();
  void early.resource.watch().forEach(() => {});
  early.runtime.arrive();
  await settle();
  assert.equal(calls(early.models[0], "start"), 0, "paused before it was opened");
  early.resource.resume();
  assert.equal(calls(early.models[0], "start"), 1);
});

test("status is the same object until something in it changes, and its error too", async () => {
  const { resource, model } = await openModel();
  const live = resource.status;
  assert.equal(resource.status, live);
  assert.ok(Object.isFrozen(live));
  model.set({
    phase: "reconnecting",
    attempt: 1,
    retryAt: 5,
    error: rawError("unavailable", "503", { retryable: true, retryAfterSeconds: 2 }),
  });
  assert.equal(resource.status, live, "it is told in the flush");
  await settle();
  const first = resource.status;
  assert.equal(first.error.name, "WatchCacheError");
  assert.equal(first.error.retryAfterSeconds, 2);
  assert.equal(first.error.resource, "pods");
  model.set({ attempt: 2, error: rawError("unavailable", "503", { retryable: true, retryAfterSeconds: 2 }) });
  await settle();
  assert.notEqual(resource.status, first);
  assert.equal(resource.status.error, first.error);
});

test("the signals of a flush become events that carry the status", async () => {
  const { resource, model } = await openModel();
  const log = [];
  for (const type of ["status", "sync", "relist", "overflow", "error"]) {
    resource.addEventListener(type, (event) => log.push([event.type, event.detail === resource.status]));
  }
  model.signal(1);
  await settle();
  assert.deepEqual(log, [], "nothing in the status has changed");
  model.set({ attempt: 1 });
  model.signal(2 | 4 | 8 | 16);
  await settle();
  assert.deepEqual(log, [
    ["status", true],
    ["sync", true],
    ["relist", true],
    ["overflow", true],
    ["error", true],
  ]);
});

test("a page that wakes up looks at once whether its streams live, and tries where they do not", async (t) => {
  t.after(() => delete globalThis.document);
  globalThis.document = Object.assign(new EventTarget(), { visibilityState: "visible" });
  const { resource, cache, model } = await openModel();
  const shown = () => globalThis.document.dispatchEvent(new Event("visibilitychange"));
  shown();
  assert.equal(calls(model, "resume"), 1, "it is live, as far as anybody knows");
  for (const phase of ["reconnecting", "needs-auth", "failed"]) {
    model.set({ phase });
    globalThis.document.visibilityState = "hidden";
    const before = calls(model, "resume");
    shown();
    assert.equal(calls(model, "resume"), before);
    globalThis.document.visibilityState = "visible";
    shown();
    globalThis.document.dispatchEvent(new Event("resume"));
    assert.equal(calls(model, "resume"), before + 2);
  }
  const last = calls(model, "resume");
  model.set({ phase: "failed", error: { code: "out-of-memory", message: "full", retryable: false } });
  shown();
  model.set({ phase: "reconnecting", error: undefined });
  resource.pause();
  shown();
  await cache.close();
  shown();
  assert.equal(calls(model, "resume"), last, "memory, pauses and closes are the user's");
});

test("a machine that has slept is found out by its clocks, without any event", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval", "Date"] });
  const { module, model, cache } = await openModel();
  // The clock of the wall goes on, the steady one stands still: `performance.now` is not mocked.
  t.mock.timers.tick(10_000);
  const before = module.sleep;
  t.mock.timers.tick(10_000);
  const slept = module.sleep - before;
  assert.ok(slept > 9_000 && slept <= 10_000, `${slept}`);
  assert.equal(calls(model, "resume"), 2);
  await cache.close();
  t.mock.timers.tick(10_000);
  assert.equal(calls(model, "resume"), 2);
});

test("aborts are AbortErrors, whatever the reason, and their late answers give back their pins", async () => {
  const { resource, models, runtime } = await openModel({ ready: false });
  const controller = new AbortController();
  const { signal } = controller;
  const waiting = [resource.synced({ signal }), resource.list({ signal }), resource.get("a/x", { signal })];
  runtime.arrive();
  await settle();
  controller.abort("the user has left");
  for (const outcome of await Promise.allSettled(waiting)) {
    assert.ok(outcome.reason instanceof DOMException);
    assert.equal(outcome.reason.name, "AbortError");
    assert.equal(outcome.reason.cause, "the user has left");
  }
  models[0].sync([pod("a/x", 1)], "10");
  await settle();
  assert.equal(models[0].pinsOf("a/x"), 1);
  await assert.rejects(resource.list({ signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("refusals of the server and of the core arrive with their codes", async () => {
  const { resource, models } = await openModel({ ready: true });
  await assert.rejects(resource.get("a/none"), { code: "not-found", status: { code: 404 }, resource: "pods" });
  await assert.rejects(resource.list({ labelSelector: "a!!b" }), { code: "invalid" });
  assert.throws(() => resource.byIndex("node", "n1"), { code: "invalid" });
  const waiting = await openModel({ ready: false });
  const [synced, list] = [waiting.resource.synced(), waiting.resource.list({ wait: false })];
  waiting.runtime.arrive();
  await assert.rejects(list, { code: "too-many-requests", retryable: true, retryAfterSeconds: 1 });
  waiting.models[0].refuse(rawError("forbidden", "pods is forbidden"));
  await assert.rejects(synced, { code: "forbidden" });
  assert.equal(waiting.resource.status.error.code, "forbidden");
  assert.equal(models.length, 1);
});

test("byIndex gives the same array until one of its objects changes", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1), pod("b/y", 2)] });
  const first = resource.byIndex("namespace", "a");
  assert.equal(resource.byIndex("namespace", "a"), first);
  model.put(pod("b/y", 11));
  assert.equal(resource.byIndex("namespace", "a"), first);
  model.put(pod("a/x", 12));
  assert.notEqual(resource.byIndex("namespace", "a"), first);
});

test("closing a resource ends its watchers, rejects what waits, keeps snapshots, and makes room for a new one", async () => {
  const { cache, resource, model, source } = await openModel({ objects: [pod("a/x", 1)] });
  const watcher = resource.watch({ resourceVersion: "10" });
  const next = watcher.next();
  const view = resource.view();
  const rows = view.rows;
  model.synced = () => new Promise(() => {});
  const synced = resource.synced();
  resource.close();
  resource.close();
  assert.equal((await next).done, true);
  assert.equal((await watcher.ended).reason, "closed");
  await assert.rejects(synced, { code: "closed" });
  await assert.rejects(resource.list(), { code: "closed" });
  await assert.rejects(resource.watch().next(), { code: "closed" });
  assert.throws(() => resource.view(), { code: "closed" });
  assert.equal(resource.peek("a/x"), undefined);
  assert.equal(view.rows, rows);
  assert.equal(resource.status.phase, "closed");
  assert.equal(model.closed, true);
  assert.notEqual(cache.resource({ source, id: "pods" }), resource);
});

test("a cache closes by close, by await using and by its signal", async () => {
  const controller = new AbortController();
  const first = await openModel({ options: { signal: controller.signal } });
  controller.abort();
  assert.equal(first.model.closed, true);
  assert.throws(() => first.cache.resource("pods"), { code: "closed" });
  const second = await openModel();
  await second.cache[Symbol.asyncDispose]();
  assert.equal(second.model.closed, true);
  const third = await openModel({ ready: false, options: {} });
  const synced = third.resource.synced();
  await third.cache.close();
  await assert.rejects(synced, { code: "closed" });
  third.runtime.arrive();
  await settle();
  assert.equal(third.models.length, 0, "what was closed while it loaded is not opened");
});

test("a panic is told to every request that waits, and to every later call: nothing hangs", async () => {
  const { cache, resource, model, module, reported } = await openModel({ objects: [pod("a/x", 1)] });
  const watcher = resource.watch({ resourceVersion: "10" });
  const next = watcher.next();
  const done = resource.watch({ resourceVersion: "10" }).forEach(() => {});
  model.synced = () => new Promise(() => {});
  const synced = resource.synced();
  const view = resource.view();
  const rows = view.rows;
  const failures = [];
  cache.addEventListener("error", ({ detail }) => failures.push(detail));
  module.panic("index out of bounds");
  for (const outcome of await Promise.allSettled([next, done, synced])) {
    assert.equal(outcome.reason?.code, "internal");
    assert.match(outcome.reason.message, /index out of bounds/);
  }
  assert.equal((await watcher.ended).reason, "error");
  await settle();
  assert.equal(failures.length, 1);
  assert.equal(resource.status.phase, "failed");
  assert.match(reported.join(), /index out of bounds/);
  assert.equal(view.rows, rows, "what was shown stays");
  await assert.rejects(resource.list(), { code: "internal" });
  await assert.rejects(resource.watch().next(), { code: "internal" });
  await assert.rejects(cache.resource("pods").synced(), { code: "invalid" });
  await cache.close();
});

test("a trap in the middle of a call is found out and told like any panic", async () => {
  const { resource, model, module } = await openModel();
  model.peek = () => {
    module.panic("unreachable");
    throw new WebAssembly.RuntimeError("unreachable");
  };
  assert.throws(() => resource.peek("a/x"), { code: "internal" });
  await settle();
  assert.equal(resource.status.phase, "failed");
});

test("metrics name what each resource holds", async () => {
  const module = new ModelModule();
  const cache = openCache({ server: "http://127.0.0.1:1", WebSocket: class {} }, module.runtime());
  assert.equal(openCache({}, new ModelModule().runtime({ ready: false })).metrics(), "");
  const source = () => ({ list() {}, watch() {} });
  const specs = [
    "pods",
    "apps/v1/deployments",
    { version: "v1", resource: "pods", namespace: "web" },
    { version: "v1", resource: "pods", namespace: "web", labelSelector: "a=b", fieldSelector: "spec.nodeName=n" },
    { version: "v1", resource: "pods", fieldSelector: "spec.nodeName=n" },
    { source: source(), id: "mine" },
    { source: source(), id: "mine" },
  ];
  for (const spec of specs) cache.resource(spec).peek("x");
  assert.deepEqual(
    cache
      .metrics()
      .trim()
      .split("\n")
      .map((line) => Object.values(JSON.parse(line)).join(" | ")),
    [
      " | pods | ",
      "apps | deployments | ",
      " | pods | namespaces/web",
      " | pods | namespaces/web?labelSelector=a=b&fieldSelector=spec.nodeName=n",
      " | pods | ?fieldSelector=spec.nodeName=n",
      " | mine | ",
      " | mine | ",
    ],
  );
  await cache.close();
});

test("refresh says whether the server was reset", async () => {
  const { model, resource } = await openModel({ objects: [pod("a/x", 1)] });
  const asked = [];
  model.refresh = async (...given) => void asked.push(given);
  await resource.refresh();
  await resource.refresh({ reset: true });
  assert.deepEqual(asked, [[false], [true]]);
});

test("stats count what is open", async () => {
  const { cache, resource } = await openModel({ objects: [pod("a/x", 1)] });
  resource.peek("a/x");
  const { version, memoryBytes, resources } = cache.stats();
  assert.equal(version, "0.1.0");
  assert.equal(memoryBytes, 65_536);
  assert.equal(resources.length, 1);
  assert.deepEqual([resources[0].name, resources[0].phase, resources[0].objects, resources[0].decoded], ["pods", "live", 1, 1]);
});

test("r10_methods_of_every_handle_work_detached", async () => {
  const { cache, model } = await openModel({ objects: [pod("a/x", 1)] });
  const { resource: open, stats } = cache;
  const { source } = model.origin;
  assert.equal(stats().resources.length, 1);
  const { peek, list, watch, pause, resume } = cache.resource({ source, id: "detached" });
  assert.equal(open({ source, id: "detached" }).peek, peek, "the same function for whoever names it");
  peek("a/x");
  pause();
  resume();
  assert.equal(typeof list().then, "function");
  const { next, stop } = watch();
  const waiting = next();
  stop();
  assert.equal((await waiting).done, true);
});
