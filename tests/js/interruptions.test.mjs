// What an informer's `onWatchError` is told: of every interruption, and of objects that had to be set apart.
import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "watchcache/memory";
import { listener } from "./lib/listener.mjs";
import { open, until } from "./lib/package.mjs";
import { pod, spoils } from "./lib/pod.mjs";

const version = ({ metadata }) => metadata.resourceVersion;

/** An informer with a handler, both live, and what it was told. */
async function live(objects) {
  const upstream = memorySource({ objects });
  const { resource } = open(upstream);
  const told = [];
  const informer = resource.informer({ onWatchError: (interruption) => void told.push(interruption) });
  const handler = listener();
  await informer.addEventHandler(handler).synced;
  await until(() => resource.status.phase === "live");
  return { upstream, resource, told, informer, handler };
}

test("interruptions are told with phase, error, delay and staleness, the healing ones included", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  upstream.fail({ code: 403, reason: "Forbidden", message: "not for you" });
  const { resource } = open(upstream);
  const told = [];
  const informer = resource.informer({ onWatchError: (interruption) => void told.push(interruption) });
  await until(() => told.length > 0);
  const [{ phase, error, delayMs, stale, retryAt }] = told.splice(0);
  assert.deepEqual([phase, error.code, error.status.code, stale], ["failed", "forbidden", 403, false]);
  assert.ok(delayMs >= 0 && retryAt > 0);
  assert.equal(informer.hasSynced, false);
  upstream.recover();
  await informer.synced;
  await until(() => resource.status.phase === "live");
  told.length = 0;
  upstream.send(JSON.stringify({ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "gone" } }));
  await until(() => told.length > 0);
  assert.deepEqual([told[0].error.code, told[0].delayMs, told[0].stale], ["expired", 0, true]);
});

test("a stream that breaks after it has brought events is told, too; one that its server ends is no news", async () => {
  const { upstream, resource, told, handler } = await live([pod("a/x")]);
  upstream.put(pod("a/y"));
  await until(() => handler.heard.length === 2);
  upstream.drop({ error: new TypeError("socket hang up") });
  await until(() => told.length > 0);
  await until(() => upstream.streams === 1 && resource.status.phase === "live");
  const [{ phase, error, delayMs, stale, ...rest }] = told.splice(0);
  assert.deepEqual([phase, error.code, delayMs, stale, rest], ["reconnecting", "network", 0, true, {}]);
  assert.match(error.message, /socket hang up/);
  upstream.put(pod("a/y"));
  await until(() => handler.heard.length === 3);
  upstream.drop();
  await until(() => upstream.asked("watch").length === 3 && resource.status.phase === "live");
  upstream.put(pod("a/y"));
  await until(() => handler.heard.length === 4);
  assert.deepEqual(told, []);
  assert.equal(upstream.asked("list").length, 1, "neither needs a list");
});

test("an object that no list cures is told by its key, and everything else goes on", async () => {
  const { upstream, resource, told, informer, handler } = await live([pod("a/x"), pod("a/y")]);
  upstream.outgoing = spoils("a/x");
  upstream.put(pod("a/x"));
  await until(() => told.some(({ key }) => key !== undefined));
  upstream.put(pod("a/y"));
  await until(() => handler.heard.length === 3);
  // Behind a worker one more may follow: its new list ends the watch of a tab.
  const { key, error, stale, delayMs } = told.find((one) => one.key !== undefined);
  assert.deepEqual([key, error.code, stale, delayMs], ["a/x", "protocol", true, 0]);
  assert.match(error.message, /^a\/x cannot be taken: /);
  assert.deepEqual(resource.status.quarantined, ["a/x"]);
  assert.deepEqual([told.filter(({ key }) => key !== undefined).length, informer.list().map(version)], [1, ["101", "104"]]);
  upstream.outgoing = undefined;
  upstream.put(pod("a/x"));
  await until(() => handler.heard.length === 4);
  assert.equal(resource.status.quarantined, undefined);
  assert.deepEqual(handler.heard, ["A! x@101", "A! y@102", "U y@102->104", "U x@101->105"]);
});
