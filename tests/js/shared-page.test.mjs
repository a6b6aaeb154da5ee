// The page of a shared cache, where the worker refuses what it asks, or is not there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { serveHere } from "../../dist/hub/here.js";
import { runtimeOf } from "../../dist/load/instance.js";
import { address } from "../../dist/wasm/address.js";
import { startServer } from "../../www/server/index.mjs";
import { eventually } from "../e2e/cache.mjs";
import { hub, portTo } from "../e2e/shared.mjs";
import { instead, isSynced, keyOf, opened, shared, tabsOf, waitsForAnswer } from "./lib/tabs.mjs";

async function serving(t, options) {
  const server = await startServer({ port: 0, pods: 3, rate: 0, ...options });
  t.after(() => server.close());
  return server;
}

// The page that all caches of this file are in. Node has none, and its global object hears nothing.
const page = new EventTarget();
const methods = ["addEventListener", "removeEventListener", "dispatchEvent"];
const forwards = methods.map((name) => [name, { value: (...given) => page[name](...given) }]);
Object.setPrototypeOf(globalThis, Object.create(EventTarget.prototype, Object.fromEntries(forwards)));
const happens = (name) => void page.dispatchEvent(new Event(name));

/** The worker is gone, and all that it has. */
function ends(worker) {
  worker.die("it was killed");
  worker.close();
}

/** Starts a worker, and no other until there is a `next`: its script is gone. */
function passing() {
  const first = hub();
  const its = {
    starts: 0,
    next: undefined,
    end: () => ends(first),
    worker: () => {
      if (++its.starts === 1) return portTo(first);
      if (its.next === undefined) throw new Error("its script is gone");
      return portTo(its.next);
    },
  };
  return its;
}

test("a resource that the worker cannot make fails with what is wrong, and so does all that is asked of it", async (t) => {
  const worker = hub();
  const { cache } = opened(t, { ...shared, server: "http://127.0.0.1:1", worker: () => portTo(worker) });
  // No core is there yet that could judge it.
  const pods = cache.resource({ version: "v1", resource: "pods", labelSelector: "app in (" });
  await assert.rejects(pods.synced(), { code: "invalid", message: /unable to parse requirement/ });
  assert.deepEqual([pods.status.phase, pods.status.error.code], ["failed", "invalid"]);
  for (const asked of [pods.refresh(), pods.get("a/b"), pods.create({ metadata: { name: "b", namespace: "a" } })])
    await assert.rejects(asked, { code: "invalid" });
});

test("a page that closes its resource as it is put away opens it again when it is back", async (t) => {
  const server = await serving(t);
  const worker = hub();
  const { cache, pods } = opened(t, { ...shared, server: server.url, worker: () => portTo(worker) });
  await isSynced(pods);
  globalThis.addEventListener("pagehide", () => pods.close(), { once: true });
  happens("pagehide");
  happens("pageshow");
  await isSynced(cache.resource("pods"));
  // Nothing is open, and nothing of it may keep the page from being put away.
  cache.resource("pods").close();
  await eventually(() => cache.stats().worker?.tabs === 1, "the worker knows it");
  const probe = opened(t, { ...shared, server: server.url, worker: () => portTo(worker) });
  await isSynced(probe.pods);
  await eventually(() => probe.cache.stats().worker?.tabs === 2, "both are there");
  // A page of its own would not hear it.
  await probe.cache.close();
  happens("pagehide");
  const next = opened(t, { ...shared, server: server.url, worker: () => portTo(worker) });
  await isSynced(next.pods);
  await eventually(() => next.cache.stats().worker?.tabs === 1, "the one that was put away has gone");
});

test("who asks to try again waits no longer for the next worker, and the status says when it is tried", async (t) => {
  const server = await serving(t);
  const its = passing();
  const { pods } = opened(t, { ...shared, server: server.url, worker: its.worker });
  t.after(pods.view().subscribe(() => {}));
  await isSynced(pods);
  its.end();
  // The first comes at once, and the second and the third after at least 0.8 and 1.6 seconds.
  await eventually(() => its.starts === 4, "it tries");
  const until = () => pods.status.retryAt - Date.now();
  await eventually(
    () => pods.status.phase === "reconnecting" && until() > 2_000,
    () => `the next wait is over three seconds, of which ${until()} ms are left`,
  );
  its.next = hub();
  pods.resume();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(its.starts, 5, "it was tried at once");
  await eventually(() => pods.status.phase === "live", "it is live");
  assert.equal(its.starts, 5);
});

test("who asks to try again in a loop makes none", async (t) => {
  const server = await serving(t);
  const its = passing();
  const { pods } = opened(t, { ...shared, server: server.url, worker: its.worker });
  await isSynced(pods);
  pods.addEventListener("status", () => pods.resume());
  its.end();
  await sleep(700);
  // The next one at once, and three that were asked for.
  assert.ok(its.starts <= 1 + 1 + 3, `${its.starts} starts`);
});

for (const [what, thrown] of [
  ["holds itself", () => Object.assign(new Error("signed out"), { status: circular() })],
  ["cannot be posted", () => Object.assign(new Error("signed out"), { reason: () => {} })],
  ["cannot be written", () => Object.assign(new Error("signed out"), { code: 1n })],
]) {
  test(`an auth that throws what ${what} is told as any other, at once`, async (t) => {
    const { open } = await tabsOf(t);
    const began = Date.now();
    const pods = open("out", () => Promise.reject(thrown())).use("pods");
    await eventually(() => pods.status.error, "it is told");
    assert.match(pods.status.error.message, /signed out/);
    assert.ok(Date.now() - began < 5_000, "it is not taken for a frozen tab");
  });
}

function circular() {
  const status = {};
  return Object.assign(status, { status });
}

/** The time that a silent tab is given passes soon. Answers the clock as it was. */
function impatient(t) {
  const real = globalThis.setTimeout;
  t.mock.method(globalThis, "setTimeout", (call, ms, ...rest) => real(call, waitsForAnswer(ms) ? 50 : ms, ...rest));
  return real;
}

test("an auth that takes longer than a frozen tab is waited for is waited for, where nobody else can be asked", async (t) => {
  const real = impatient(t);
  const { asked, open } = await tabsOf(t);
  const slow = open("slow", () => new Promise((resolve) => real(resolve, 400, "good")));
  await isSynced(slow.use("pods"));
  // For the list, and for the watch.
  assert.ok(asked.length <= 2, `${asked}`);
  assert.equal(slow.cache.resource("pods").status.error, undefined);
});

test("what a tab answers too late is of use to whoever waits for it", async (t) => {
  const real = impatient(t);
  const { open } = await tabsOf(t, { retry: { initialMs: 600_000 } });
  const out = open("out", () => Promise.reject(new Error("not signed in")));
  const slow = open("slow", () => new Promise((resolve) => real(resolve, 1_500, "good")));
  const pods = slow.use("pods");
  out.use("pods");
  await eventually(() => pods.status.error, "the one that answers is told");
  assert.match(pods.status.error.message, /not signed in/);
  await isSynced(pods);
});

test("a page that leaves its own streams while they welcome it is not there twice", async (t) => {
  // It answers nothing for the three seconds that it is waited for, so the welcome takes as long.
  instead(t, "indexedDB", { open: () => ({}) });
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const here = serveHere(runtimeOf({ bundled: address }), { linger: 5_000, logger: quiet });
  t.after(() => here.close());
  const options = { identity: "jane", persist: {}, server: "http://127.0.0.1:1" };
  const enter = () => {
    const [port, heard] = [here.open(), []];
    port.addEventListener("message", ({ data }) => heard.push(data));
    port.start();
    port.postMessage({ hello: "n", options, since: Date.now(), asks: true, lock: undefined });
    return () => heard.findLast(({ stats }) => stats)?.stats.tabs;
  };
  const first = enter();
  await eventually(() => first() === 1, "it is welcome");
  here.leave();
  enter();
  await sleep(50);
  here.leave();
  await sleep(3_500);
  const again = enter();
  await eventually(() => again() !== undefined, "it is welcome again");
  await sleep(500);
  assert.equal(again(), 1);
});

for (const [what, worker] of [
  ["a promise", async () => portTo(hub())],
  ["an object", () => ({})],
  [
    "a port that cannot be posted to",
    () => ({
      addEventListener() {},
      postMessage() {
        throw new Error("no posting");
      },
    }),
  ],
]) {
  test(`an option worker that gives ${what} is told once, and the page holds its streams itself`, async (t) => {
    const server = await serving(t);
    const { cache, pods, warned } = opened(t, { ...shared, server: server.url, worker });
    await isSynced(pods);
    assert.equal(cache.stats().mode, "inline");
    assert.equal(warned.length, 1);
    assert.match(warned[0], /no worker for the mode "shared", so this page holds its streams itself: (the function of|no posting)/);
    await cache.close();
  });
}

for (const [what, refusal] of [
  ["refuses the credentials", { code: "unauthorized", phase: "needs-auth" }],
  ["is away", { code: "network", phase: "reconnecting" }],
]) {
  test(`a server that ${what} when the next worker asks it is told of at once`, async (t) => {
    const server = await serving(t, { tokens: ["good"] });
    const workers = [hub(), hub()];
    let starts = 0;
    let token = "good";
    const { pods } = opened(t, { ...shared, server: server.url, worker: () => portTo(workers[starts++]), auth: () => ({ token }) });
    t.after(pods.view().subscribe(() => {}));
    await isSynced(pods);
    token = "old";
    if (refusal.code === "network") await server.close();
    ends(workers[0]);
    await eventually(
      () => {
        const { phase, error, retryAt } = pods.status;
        const isTold = phase === refusal.phase && error?.code === refusal.code && !/worker/.test(error.message);
        return isTold && retryAt > Date.now() - 1_000;
      },
      () => JSON.stringify(pods.status),
    );
  });
}

test("a write that nobody could be asked for has not happened, and the error does not doubt it", async (t) => {
  const server = await serving(t);
  const its = passing();
  const { pods } = opened(t, { ...shared, server: server.url, worker: its.worker });
  await isSynced(pods);
  const key = await keyOf(pods);
  its.end();
  await eventually(() => its.starts > 1, "there is none");
  await assert.rejects(pods.delete(key), ({ code, message }) => code === "network" && !/not known/.test(message));
});
