// What an informer's `onWatchError` is told: of every interruption, and of objects that had to be set apart.
import assert from "node:assert/strict";
import { test } from "node:test";

import { listener } from "./lib/listener.mjs";
import { open, until } from "./lib/package.mjs";
import { pod, Upstream } from "./lib/upstream.mjs";

const version = ({ metadata }) => metadata.resourceVersion;

test("interruptions are told with phase, error, delay and staleness, the healing ones included", async () => {
  const upstream = new Upstream([pod("a/x")]);
  upstream.refusal = { code: 403, reason: "Forbidden", message: "not for you" };
  const { resource } = open(upstream);
  const told = [];
  const informer = resource.informer({ onWatchError: (interruption) => void told.push(interruption) });
  await until(() => told.length > 0);
  const [{ phase, error, delayMs, stale, retryAt }] = told.splice(0);
  assert.deepEqual([phase, error.code, error.status.code, stale], ["failed", "forbidden", 403, false]);
  assert.ok(delayMs >= 0 && retryAt > 0);
  assert.equal(informer.hasSynced, false);
  upstream.refusal = undefined;
  await informer.synced;
  await until(() => resource.status.phase === "live");
  told.length = 0;
  upstream.send(JSON.stringify({ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "gone" } }));
  await until(() => told.length > 0);
  assert.deepEqual([told[0].error.code, told[0].delayMs, told[0].stale], ["expired", 0, true]);
});

test("a stream that breaks after it has brought events is told, too; one that its server ends is no news", async () => {
  const upstream = new Upstream([pod("a/x")]);
  const { resource } = open(upstream);
  const told = [];
  const informer = resource.informer({ onWatchError: (interruption) => void told.push(interruption) });
  const handler = listener();
  await informer.addEventHandler(handler).synced;
  await until(() => resource.status.phase === "live");
  upstream.put(pod("a/y"));
  await until(() => handler.heard.length === 2);
  upstream.break("socket hang up");
  await until(() => told.length > 0);
  await until(() => upstream.open === 1 && resource.status.phase === "live");
  const [{ phase, error, delayMs, stale, ...rest }] = told.splice(0);
  assert.deepEqual([phase, error.code, delayMs, stale, rest], ["reconnecting", "network", 0, true, {}]);
  assert.match(error.message, /socket hang up/);
  upstream.put(pod("a/y"));
  await until(() => handler.heard.length === 3);
  upstream.drop();
  await until(() => upstream.watches.length === 3 && resource.status.phase === "live");
  upstream.put(pod("a/y"));
  await until(() => handler.heard.length === 4);
  assert.deepEqual(told, []);
  assert.equal(upstream.lists.length, 1, "neither needs a list");
});

test("an object that no list cures is told by its key, and everything else goes on", async () => {
  const upstream = new Upstream([pod("a/x"), pod("a/y")]);
  const { resource } = open(upstream);
  const told = [];
  const informer = resource.informer({ onWatchError: (interruption) => void told.push(interruption) });
  const handler = listener();
  await informer.addEventHandler(handler).synced;
  await until(() => resource.status.phase === "live");
  upstream.spoiled = "a/x";
  upstream.put(pod("a/x"));
  await until(() => told.some(({ key }) => key !== undefined));
  upstream.put(pod("a/y"));
  await until(() => handler.heard.length === 3);
  const { key, error, stale, delayMs } = told.at(-1);
  assert.deepEqual([key, error.code, stale, delayMs], ["a/x", "protocol", true, 0]);
  assert.match(error.message, /^a\/x cannot be taken: /);
  assert.deepEqual(resource.status.quarantined, ["a/x"]);
  assert.deepEqual([told.filter(({ key }) => key !== undefined).length, informer.list().map(version)], [1, ["101", "104"]]);
  upstream.spoiled = undefined;
  upstream.put(pod("a/x"));
  await until(() => handler.heard.length === 4);
  assert.equal(resource.status.quarantined, undefined);
  assert.deepEqual(handler.heard, ["A! x@101", "A! y@102", "U y@102->104", "U x@101->105"]);
});
