// A page whose worker has ended, and that cannot have another one. After a rollout its script may be gone, and what ended one may end the next.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startServer } from "../../www/server/index.mjs";
import { eventually } from "../e2e/cache.mjs";
import { hub, portTo } from "../e2e/shared.mjs";
import { isSynced, opened, shared } from "./lib/tabs.mjs";

/** So many tries fail before the page holds its streams itself. */
const TRIES = 5;
/** A worker that lived so long is no failure when it ends. */
const STEADY_MS = 10_000;

/**
 * A tab behind a worker. Once that ends, the tab fails to start another one so many times, and waits for a part of its `waits` between them. `blanks` counts how
 * often its view was empty since it was not.
 */
async function tab(t, failures = Infinity, start = () => portTo(hub())) {
  const set = globalThis.setTimeout;
  const waits = [];
  t.mock.method(globalThis, "setTimeout", (call, ms, ...rest) => {
    if (ms === STEADY_MS || !new Error().stack?.includes("/link/link.js")) return set(call, ms, ...rest);
    waits.push(ms);
    return set(call, ms / 100, ...rest);
  });
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
  const its = opened(t, { ...shared, server: server.url, auth, worker });
  const view = its.pods.view();
  const seen = { blanks: 0 };
  t.after(view.subscribe(() => void (view.rows.length === 0 && its.pods.hasSynced && seen.blanks++)));
  await isSynced(its.pods);
  const end = () => {
    first.die("it was killed");
    first.close();
  };
  const streams = () => server.control.status().streams.length;
  return { ...its, server, view, seen, waits, end, streams, starts: () => starts };
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
  assert.deepEqual([its.cache.stats().mode, its.warned, its.seen.blanks, its.streams()], ["shared", [], 0, 1]);
});

test("workers that end again and again are failed tries, with waits between them: what ends them may be what they hold", async (t) => {
  const its = await tab(t, 0, () => {
    const next = hub();
    const port = portTo(next);
    port.addEventListener("message", ({ data }) => "welcome" in data && next.die("it fails"));
    return port;
  });
  its.end();
  await eventually(() => its.cache.stats().mode === "inline", "it is inline");
  assert.equal(its.starts(), 1 + TRIES);
  // The first of them comes at once. Each wait is twice the one before, and up to as much again.
  const least = [800, 1_600, 3_200, 6_400];
  assert.ok(its.waits.length === least.length && its.waits.every((ms, at) => ms >= least[at] && ms <= 2 * least[at]), `${its.waits}`);
  await goesOn(its);
  assert.deepEqual([its.seen.blanks, its.warned.length], [0, 1]);
});
