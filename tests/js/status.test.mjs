// `resource.status` as an external store: it changes with a `status` event, and only then.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { createWatchCache, WatchCacheError } from "watchcache";
import { memorySource } from "watchcache/memory";
import { WebSocket } from "ws";

import { startServer } from "../../www/server/index.mjs";
import { openModel, settle } from "./lib/open.mjs";
import { rawError } from "./lib/model.mjs";
import { open, until } from "./lib/package.mjs";
import { pod, spoils } from "./lib/pod.mjs";

/** What `useSyncExternalStore(subscribe, () => resource.status)` has rendered last, and what it would be wrong about. */
function follow(resource) {
  const followed = { shown: resource.status, renders: 0, wrong: [] };
  resource.addEventListener("status", ({ detail }) => {
    if (resource.status === followed.shown) followed.wrong.push(`an event without a new snapshot: ${JSON.stringify(resource.status)}`);
    const same = JSON.stringify(resource.status) === JSON.stringify(followed.shown) && resource.status.error === followed.shown.error;
    if (same) followed.wrong.push(`an event without a change: ${JSON.stringify(resource.status)}`);
    if (detail !== resource.status) followed.wrong.push("an event with another snapshot");
    followed.shown = resource.status;
    followed.renders++;
    judge(resource.status, followed.wrong);
  });
  followed.look = (when) => {
    if (resource.status !== followed.shown)
      followed.wrong.push(`a new snapshot without an event, ${when}: ${JSON.stringify(resource.status)}`);
  };
  return followed;
}

/** What the type says, and that nobody can change it. */
function judge(status, wrong) {
  const { phase, stale, staleSince } = status;
  if (stale !== (staleSince !== undefined) || (stale && Math.abs(Date.now() - staleSince) > 60_000)) {
    wrong.push(`stale: ${stale}, since ${staleSince}`);
  }
  const troubled = ["loading", "reconnecting", "needs-auth", "failed"].includes(phase);
  for (const name of ["error", "retryAt"]) if (name in status && !troubled) wrong.push(`${phase} with ${name}`);
  if ((phase === "failed" || phase === "needs-auth") && !(status.error instanceof WatchCacheError)) wrong.push(`${phase} without an error`);
  for (const name of Object.keys(status)) if (status[name] === undefined) wrong.push(`${name}: undefined`);
  if (!deeplyFrozen(status)) wrong.push(`${phase} can be changed`);
}

const deeplyFrozen = (value) =>
  typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(deeplyFrozen));

/** The same numbers for the same seed. */
const random = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};

const turn = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));

/** The phases of all sessions. */
const seen = new Set();

for (const seed of [1, 2, 3, 4, 5]) {
  test(`a new snapshot comes with an event and only so, whatever happens (seed ${seed})`, async () => {
    const draw = random(seed);
    const upstream = memorySource({ objects: Array.from({ length: 20 }, (_, i) => pod(`a/p-${i}`)) });
    const { cache, resource, reported } = open(upstream, { linger: 5, pageSize: 7 });
    const followed = follow(resource);
    resource.addEventListener("status", ({ detail }) => seen.add(detail.phase));
    resource.addEventListener("error", ({ detail }) => assert.ok(detail.error instanceof WatchCacheError));
    const view = resource.view();
    view.subscribe(() => followed.look("in a view's subscriber"));
    void resource.watch({ onOverflow: "resync" }).forEach(() => followed.look("in a watcher's handler"));
    const refuse = (code, reason) => () => {
      upstream.fail({ code, reason, message: reason });
      upstream.drop();
    };
    const steps = [
      () => resource.pause(),
      () => resource.resume(),
      () => resource.resume(),
      () => upstream.drop(),
      () => upstream.drop({ error: new TypeError("the cable") }),
      refuse(401, "Unauthorized"),
      refuse(403, "Forbidden"),
      refuse(500, "InternalError"),
      () => upstream.recover(),
      () => upstream.recover(),
      () => (upstream.expire(), upstream.put(pod("a/p-1")), upstream.expire(), upstream.drop()),
      () => void resource.refresh().catch(() => {}),
      () => ((upstream.outgoing = spoils("a/p-3")), upstream.put(pod("a/p-3"))),
      () => ((upstream.outgoing = undefined), upstream.put(pod("a/p-3"))),
      () => upstream.put(pod(`a/p-${Math.floor(draw() * 30)}`, { phase: String(draw()) })),
      () => upstream.bookmark(),
      () => upstream.send("no JSON"),
      () =>
        void resource.synced().then(
          () => followed.look("after synced"),
          () => {},
        ),
      () =>
        void resource.list().then(
          () => {},
          () => {},
        ),
      () => resource.peek("a/p-1"),
      // A subscriber may do anything.
      () => resource.addEventListener("status", () => (draw() < 0.5 ? resource.pause() : resource.resume()), { once: true }),
    ];
    for (let i = 0; i < 150; i++) {
      const step = steps[Math.floor(draw() * steps.length)];
      step();
      followed.look(`after ${step}`);
      for (let rounds = draw() * 6; rounds > 0; rounds--) {
        await Promise.resolve();
        followed.look(`soon after ${step}`);
      }
      if (draw() < 0.5) await turn(draw() * 6);
      followed.look(`a while after ${step}`);
    }
    upstream.recover();
    upstream.outgoing = undefined;
    resource.resume();
    await until(() => (resource.resume(), resource.status.phase === "live"));
    await resource.synced();
    assert.equal(resource.status.stale, false);
    await cache.close();
    assert.equal(resource.status.phase, "closed");
    followed.look("after the end");
    await settle();
    assert.deepEqual(followed.wrong, []);
    assert.deepEqual(reported, []);
    assert.ok(followed.renders > 20, `${followed.renders} snapshots`);
  });
}

test("those sessions went through everything", () => {
  const phases = ["idle", "loading", "listing", "live", "reconnecting", "relisting", "paused", "needs-auth", "failed", "closed"];
  assert.deepEqual([...seen].sort(), phases.sort());
});

test("what changes with each event is no status: it stands on the resource", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = open(upstream);
  assert.deepEqual([resource.resourceVersion, resource.lastEventAt, resource.hasSynced], [undefined, undefined, false]);
  assert.equal(upstream.asked("list").length, 0, "to look opens nothing");
  await resource.synced();
  const { status } = resource;
  assert.deepEqual([resource.resourceVersion, resource.lastEventAt, resource.hasSynced], ["101", undefined, true]);
  const before = Date.now();
  let told = 0;
  resource.addEventListener("status", () => told++);
  for (let i = 0; i < 10; i++) upstream.put(pod("a/x"));
  await until(() => resource.resourceVersion === "111");
  assert.ok(resource.lastEventAt > before - 1_000 && resource.lastEventAt <= Date.now());
  assert.equal(resource.status, status);
  assert.equal(told, 0);
  resource.close();
  assert.deepEqual([resource.resourceVersion, resource.lastEventAt, resource.hasSynced], [undefined, undefined, false]);
});

test("staleSince is when changes ceased to arrive, until they do again", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  let refusal;
  const watch = (request, signal) => {
    // At once, and not when the first frame is read: a watch that was never open.
    if (refusal !== undefined) throw refusal;
    return upstream.watch(request, signal);
  };
  const { resource } = open({ list: (request) => upstream.list(request), watch });
  resource.view().subscribe(() => {});
  await resource.synced();
  assert.deepEqual([resource.status.stale, resource.status.staleSince], [false, undefined]);
  const before = Date.now();
  refusal = { code: 503, reason: "ServiceUnavailable", message: "not now" };
  upstream.fail(refusal);
  upstream.drop();
  await until(() => resource.status.stale);
  const { staleSince } = resource.status;
  // The clock that it is read from is looked at now and then.
  assert.ok(staleSince > before - 1_000 && staleSince <= Date.now(), `${staleSince - before} ms after`);
  await turn(20);
  await until(() => resource.status.attempt >= 3);
  assert.equal(resource.status.staleSince, staleSince, "it has been so since then");
  refusal = undefined;
  upstream.recover();
  await until(() => resource.status.phase === "live");
  assert.deepEqual([resource.status.stale, "staleSince" in resource.status], [false, false]);
});

test("an error that no phase tells comes with its event", async () => {
  const { resource, model } = await openModel();
  const errors = [];
  resource.addEventListener("error", ({ detail }) => errors.push(detail));
  model.set({ error: rawError("internal", "a digest differs") });
  model.signal(16);
  await settle();
  assert.equal("error" in resource.status, false);
  assert.deepEqual([errors[0].phase, errors[0].error.code, errors[0].error.resource], ["live", "internal", "pods"]);
});

/** Node's `ws` as a browser's WebSocket, with an Origin; to another port where that is said. */
const socketTo = (port) =>
  class extends WebSocket {
    constructor(address, protocols) {
      const url = new URL(address);
      if (port !== undefined) url.port = port;
      super(url, protocols, { origin: `http://${url.host}` });
    }
  };

test("after synced the phase is what is really so", async (t) => {
  await t.test("over a source", async () => {
    for (const watchList of [false, true]) {
      const { resource } = open(memorySource({ objects: Array.from({ length: 9 }, (_, i) => pod(`a/p-${i}`)) }), {
        pageSize: 2,
        watchList,
      });
      const stale = [];
      resource.addEventListener("status", ({ detail }) => stale.push(detail.stale));
      await resource.synced();
      assert.equal(resource.status.phase, "live");
      assert.ok(!stale.includes(true), "rows of the first list are never called stale");
    }
  });
  await t.test("over the server", async (t) => {
    const server = await startServer({ port: 0, pods: 700, rate: 0 });
    t.after(() => server.close());
    for (const transport of ["websocket", "fetch"]) {
      const cache = createWatchCache({ server: server.url, transport, WebSocket: socketTo(), pageSize: 300 });
      const pods = cache.resource("pods");
      await pods.synced();
      assert.equal(pods.status.phase, "live", transport);
      await cache.close();
    }
  });
  await t.test("where the watch does not open, or is refused", async (t) => {
    const server = await startServer({ port: 0, pods: 5, rate: 0 });
    t.after(() => server.close());
    // It takes the connection, and says nothing.
    const mute = createServer(() => {}).listen(0, "127.0.0.1");
    t.after(() => mute.close());
    await once(mute, "listening");
    const { port } = /** @type {import("node:net").AddressInfo} */ (mute.address());
    const silent = createWatchCache({ server: server.url, WebSocket: socketTo(port) });
    const began = Date.now();
    await silent.resource("pods").synced();
    assert.ok(Date.now() - began < 10_000, "it is not waited for long");
    const { phase, stale } = silent.resource("pods").status;
    assert.deepEqual([phase, stale, silent.resource("pods").hasSynced], ["listing", false, true]);
    await silent.close();

    for (const [transport, reached] of /** @type {const} */ ([
      ["websocket", "reconnecting"],
      ["auto", "live"],
    ])) {
      const refused = createWatchCache({ server: server.url, transport, WebSocket: socketTo(1), retry: { initialMs: 60_000, jitter: 0 } });
      await refused.resource("pods").synced();
      assert.equal(refused.resource("pods").status.phase, reached);
      await refused.close();
    }
  });
});

test("pause, resume and close tell before they return", async () => {
  const { resource } = open(memorySource({ objects: [pod("a/x")] }));
  await resource.synced();
  const told = [];
  resource.addEventListener("status", ({ detail }) => told.push(detail.phase));
  resource.pause();
  assert.deepEqual([resource.status.phase, told.at(-1)], ["paused", "paused"]);
  resource.resume();
  assert.notEqual(resource.status.phase, "paused");
  resource.close();
  assert.deepEqual([resource.status.phase, told.at(-1)], ["closed", "closed"]);
});

test("what belongs together is told together: a pause makes rows stale at once, and is told once", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  let { resource } = open(upstream);
  const told = [];
  const follow = (event) => void told.push(event.detail);
  for (const state of ["live", "already stale", "empty", "not listed"]) {
    if (state === "already stale") {
      upstream.fail({ code: 503, reason: "ServiceUnavailable", message: "not now" });
      upstream.drop();
      // Between two tries: one that is under way may fail after the pause, and counts.
      await until(() => resource.status.stale && resource.status.retryAt > Date.now());
    } else {
      if (state === "empty") upstream.remove("a/x");
      if (state === "not listed") ({ resource } = open(upstream));
      else await resource.synced();
      await until(() => state === "not listed" || (resource.status.phase === "live" && resource.size === (state === "empty" ? 0 : 1)));
    }
    const { staleSince } = resource.status;
    resource.addEventListener("status", follow);
    const before = Date.now();
    resource.pause();
    await turn(50);
    assert.equal(told.length, 1, `${state}: ${JSON.stringify(told)}`);
    const [status] = told.splice(0);
    assert.deepEqual([status.phase, status.stale], ["paused", state !== "not listed"], state);
    if (state === "live" || state === "empty") assert.ok(status.staleSince >= before && status.staleSince <= Date.now());
    else assert.equal(status.staleSince, staleSince, state);
    resource.removeEventListener("status", follow);
    upstream.recover();
    resource.resume();
    await until(() => resource.status.phase === "live");
  }
});

test("a listener that pauses and resumes without end leaves the page its turns, and the status is what it was told", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = open(upstream);
  await resource.synced();
  const followed = follow(resource);
  let rounds = 0;
  resource.addEventListener("status", () => {
    // A page that starves could not end the test.
    if (rounds++ < 100_000) resource.status.phase === "paused" ? resource.resume() : resource.pause();
  });
  resource.pause();
  const began = performance.now();
  for (let i = 0; i < 20; i++) {
    await turn(10);
    followed.look("in a turn");
  }
  assert.ok(performance.now() - began < 2_000, "timers come in time");
  assert.ok(rounds > 20 && rounds < 200, `${rounds} rounds`);
  assert.deepEqual(followed.wrong, []);
  rounds = Infinity;
});

// ---------------------------------------------------------------------------------------------- listeners

test("listeners are called as the platform calls them, and what they throw is reported", async () => {
  const { cache, resource, reported } = await openModel();
  for (const target of [cache, resource]) {
    const calls = [];
    const say = (word) => (event) => void calls.push(`${word} ${event.type}`);
    const [twice, once, gone, aborted, captured] = ["twice", "once", "gone", "aborted", "captured"].map(say);
    const object = {
      handleEvent(event) {
        assert.equal(this, object);
        calls.push(`object ${event.type}`);
      },
    };
    const abort = new AbortController();
    target.addEventListener("x", function () {
      assert.equal(this, target);
      throw new RangeError("thrown");
    });
    target.addEventListener("x", { handleEvent: () => Promise.reject(new RangeError("rejected")) });
    target.addEventListener("x", { handleEvent: 5 });
    target.addEventListener("x", null);
    target.addEventListener("x", twice);
    target.addEventListener("x", twice);
    target.addEventListener("x", once, { once: true });
    target.addEventListener("x", gone);
    target.addEventListener("y", gone);
    target.removeEventListener("x", gone);
    target.addEventListener("x", aborted, { signal: abort.signal });
    target.addEventListener("x", captured, true);
    target.addEventListener("x", captured, { capture: false });
    target.removeEventListener("x", captured);
    target.addEventListener("x", object);
    await settle();
    reported.length = 0;
    target.dispatchEvent(new Event("x"));
    await settle();
    assert.deepEqual(calls.splice(0).sort(), ["aborted x", "captured x", "object x", "once x", "twice x"]);
    assert.deepEqual(
      reported.map(({ name }) => name),
      ["RangeError", "TypeError", "RangeError"],
    );
    abort.abort();
    target.removeEventListener("x", object);
    target.removeEventListener("x", captured, { capture: true });
    target.dispatchEvent(new Event("x"));
    target.dispatchEvent(new Event("y"));
    assert.deepEqual(calls, ["twice x", "gone y"]);
  }
});

test("a signal that lives longer than a cache holds nothing of it", async () => {
  const { signal } = new AbortController();
  const hooks = new Set();
  const [add, remove] = [signal.addEventListener, signal.removeEventListener];
  signal.addEventListener = (type, hook) => (hooks.add(hook), add.call(signal, type, hook));
  signal.removeEventListener = (type, hook) => (hooks.delete(hook), remove.call(signal, type, hook));
  const { cache, resource } = await openModel();
  for (const target of [cache, resource]) target.addEventListener("x", () => {}, { signal });
  assert.equal(hooks.size, 2);
  let heard = 0;
  resource.addEventListener("status", () => heard++, { signal });
  await cache.close();
  assert.deepEqual([heard, hooks.size], [1, 0], "its end is told first");
  resource.addEventListener("x", () => {}, { signal });
  assert.equal(hooks.size, 0, "nothing happens there any more");
});

test("a listener that throws ends no process, and stops nobody else", async () => {
  const program = `
    import { createWatchCache } from "watchcache";
    import { memorySource } from "watchcache/memory";
    import { pod } from ${JSON.stringify(new URL("lib/pod.mjs", import.meta.url).href)};
    let reported = 0;
    const cache = createWatchCache({ logger: { ...console, error: (_, error) => void (reported += error.message === "mine" ? 1 : 0) } });
    const resource = cache.resource({ source: memorySource({ objects: [pod("a/x")] }), id: "pods" });
    for (const type of ["status", "sync"]) resource.addEventListener(type, () => { throw new Error("mine"); });
    for (const type of ["status", "sync"]) resource.addEventListener(type, async () => { throw new Error("mine"); });
    cache.addEventListener("error", () => { throw new Error("mine"); });
    const phases = [];
    resource.addEventListener("status", ({ detail }) => phases.push(detail.phase));
    await resource.synced();
    cache.dispatchEvent(new CustomEvent("error"));
    resource.pause();
    await new Promise((resolve) => setTimeout(resolve, 50));
    await cache.close();
    await new Promise((resolve) => setTimeout(resolve, 10));
    console.log(phases.at(-1), phases.includes("live"), reported === 2 * phases.length + 2 + 1);
  `;
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { cwd });
  assert.equal(stdout, "closed true true\n");
});
