// A page whose worker has ended, and that cannot have another one. After a rollout its script may be gone, and what ended one may end the next.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startServer } from "../../www/server/index.mjs";
import { eventually } from "../e2e/cache.mjs";
import { hub, portTo } from "../e2e/shared.mjs";
import { instead, isSynced, opened, shared } from "./lib/tabs.mjs";

/** So many tries fail before the page holds its streams itself. */
const TRIES = 6;
/** A worker that lived so long is no failure when it ends. */
const STEADY_MS = 10_000;

/**
 * A tab behind a worker. Once that ends, the tab fails to start another one so many times, and waits for a part of its `waits` between them. `blanks` counts how
 * often its view was empty since it was not.
 */
async function tab(t, failures = Infinity, start = () => portTo(hub()), options = {}) {
  const set = globalThis.setTimeout;
  const [waits, pace] = [[], { times: 100 }];
  t.mock.method(globalThis, "setTimeout", (call, ms, ...rest) => {
    if (ms === STEADY_MS || !new Error().stack?.includes("/link/link.js")) return set(call, ms, ...rest);
    waits.push(ms);
    return set(call, ms / pace.times, ...rest);
  });
  instead(t, "document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
  const wake = () => void globalThis.document.dispatchEvent(new Event("visibilitychange"));
  const server = await startServer({ port: 0, pods: 3, rate: 0, tokens: ["good"] });
  t.after(() => server.close());
  const first = hub();
  let starts = 0;
  const worker = () => {
    if (++starts === 1) return portTo(first);
    if (starts - 1 <= failures) throw new Error("its script is gone");
    return start();
  };
  const auth = () => ({ token: "good" });
  const its = opened(t, { ...shared, server: server.url, auth, worker, ...options });
  const view = its.pods.view();
  const seen = { blanks: 0 };
  t.after(view.subscribe(() => void (view.rows.length === 0 && its.pods.hasSynced && seen.blanks++)));
  await isSynced(its.pods);
  const end = () => {
    first.die("it was killed");
    first.close();
  };
  const streams = () => server.control.status().streams.length;
  return { ...its, server, view, seen, waits, pace, wake, end, streams, starts: () => starts };
}

/** Until the page shows what the server holds after a change. */
async function goesOn({ server, view, pods }) {
  server.control.step(5);
  const due = () => server.control.digest("pods", "").items.map(([, version]) => version);
  const held = () => view.rows.map(({ metadata }) => metadata.resourceVersion);
  await eventually(
    () => held().sort().join() === due().sort().join(),
    () => `${pods.status.phase}: ${held()} is ${due()}`,
  );
}

test("a page that cannot have the next worker holds its streams itself, says so once, and loses nothing", async (t) => {
  const its = await tab(t);
  const { cache, warned, pods } = its;
  await goesOn(its);
  its.end();
  await eventually(() => cache.stats().mode === "inline", "it is inline");
  assert.equal(its.starts(), 1 + TRIES);
  await goesOn(its);
  assert.equal(its.seen.blanks, 0);
  await eventually(() => pods.status.phase === "live", "it is live");
  assert.deepEqual([warned.length, cache.stats().worker], [1, undefined]);
  assert.match(warned[0], /no worker for the mode "shared", so this page holds its streams itself: its script is gone$/);

  // What is opened later, lists and writes go the same way, with the page's own credentials.
  const nodes = cache.resource("nodes");
  await isSynced(nodes);
  await eventually(() => its.streams() === 2, "each has a stream");
  const [{ metadata }] = its.view.rows;
  const key = `${metadata.namespace}/${metadata.name}`;
  await pods.delete(key);
  await eventually(() => pods.peek(key) === undefined, "it is deleted");
  await pods.refresh();
  await cache.close();
  // A worker would wait for five seconds in case that somebody comes.
  await sleep(2_000);
  assert.equal(its.streams(), 0, "a closed cache has no stream");
});

test("a page that has the next worker at last holds nothing itself", async (t) => {
  const its = await tab(t, TRIES - 1);
  its.end();
  await eventually(() => its.starts() === 1 + TRIES, "it tries");
  await goesOn(its);
  await eventually(() => its.cache.stats().worker?.tabs === 1, "the next one is there");
  // Its list may be there before its watch.
  await eventually(() => its.streams() > 0, "its stream is open");
  assert.deepEqual([its.cache.stats().mode, its.warned, its.seen.blanks, its.streams()], ["shared", [], 0, 1]);
});

test("workers that begin and end again and again are waited for longer and longer, and end no page: what ends them may be what they hold", async (t) => {
  const its = await tab(t, 0, () => {
    const next = hub();
    const port = portTo(next);
    port.addEventListener("message", ({ data }) => "welcome" in data && next.die("it fails"));
    return port;
  });
  its.end();
  await eventually(() => its.waits.length === TRIES + 1, "it tries");
  // The first try comes at once. Each wait is twice the one before, and up to as much again.
  const least = [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000];
  assert.ok(
    its.waits.every((ms, at) => ms >= least[at] && ms <= 2 * least[at]),
    `${its.waits}`,
  );
  assert.deepEqual([its.cache.stats().mode, its.warned, its.seen.blanks, its.pods.status.phase], ["shared", [], 0, "reconnecting"]);
});

test("tries that a page brings forward when it wakes do not count: its network may come later", async (t) => {
  const its = await tab(t);
  its.pace.times = 1;
  its.end();
  for (let wakes = 0; wakes < 3 * TRIES; wakes++) {
    const before = its.starts();
    its.wake();
    await eventually(() => its.starts() > before, "it tries at once");
  }
  assert.deepEqual([its.cache.stats().mode, its.warned], ["shared", []]);
  its.pace.times = 100;
  await eventually(() => its.cache.stats().mode === "inline", "it is inline when its own tries have failed");
});

const ports = () => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;

test("a cache that is closed when it says that it is inline holds nothing", async (t) => {
  const closes = { warn: () => its.cache.close(), error() {}, info() {}, debug() {} };
  const its = await tab(t, Infinity, undefined, { logger: closes });
  its.end();
  await eventually(() => its.starts() === 1 + TRIES, "it tries");
  await sleep(1_000);
  assert.deepEqual([its.streams(), its.cache.stats().resources], [0, []]);
  await eventually(() => ports() === 0, "no port is open");
});

test("what is said where the page holds its streams itself is said to its own logger", async (t) => {
  const said = t.mock.method(console, "warn", () => {});
  const its = await tab(t, Infinity, undefined, { persist: {} });
  its.end();
  await eventually(() => its.cache.stats().mode === "inline" && its.pods.status.phase === "live", "it is inline and live");
  const own = () => said.mock.calls.map(({ arguments: [text] }) => text).filter((text) => text.includes("IndexedDB"));
  await eventually(() => its.warned.some((text) => text.includes("IndexedDB")), "it says that nothing is kept");
  assert.equal(own().length, 1, "of the worker that has ended");
});
