// What a resource answers that is paused before it holds anything.
import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "watchcache/memory";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const soon = () => new Promise((resolve) => setTimeout(resolve, 20));

/** Whoever waits for the first list. */
const asks = {
  list: (resource) => resource.list(),
  "list at a version": (resource) => resource.list({ resourceVersion: "0" }),
  get: (resource) => resource.get("ns/a"),
  synced: (resource) => resource.synced(),
};

for (const [name, ask] of Object.entries(asks)) {
  test(`paused before its first use, ${name} rejects with what to do, asks nobody, and works after resume()`, async () => {
    const upstream = memorySource({ objects: [pod("ns/a")] });
    const { resource } = open(upstream);
    resource.pause();
    await assert.rejects(ask(resource), { code: "unavailable", retryable: true, resource: "pods", message: /paused.*resume\(\)/ });
    await until(() => resource.status.phase === "paused"); // and no longer loading the WebAssembly
    await soon();
    assert.deepEqual([upstream.asked("list").length, upstream.asked("watch").length], [0, 0]);
    resource.resume();
    await ask(resource);
    assert.ok(upstream.asked("list").length > 0);
  });
}

for (const [name, ask] of Object.entries(asks)) {
  test(`paused while it waits for the first list, ${name} rejects with what to do`, async () => {
    const upstream = memorySource({ objects: [pod("ns/a")] });
    upstream.before = () => new Promise(() => {});
    const { resource } = open(upstream);
    const waits = ask(resource);
    const refreshed = resource.refresh();
    await until(() => upstream.asked("list").length > 0);
    resource.pause();
    await assert.rejects(waits, { code: "unavailable", retryable: true, resource: "pods", message: /paused.*resume\(\)/ });
    assert.equal(await Promise.race([refreshed, soon().then(() => "waits")]), "waits", "its list comes when the pause ends");
    upstream.before = undefined;
    resource.resume();
    await refreshed;
    await ask(resource);
  });
}

test("paused before its first use, watches, views and informers wait for resume()", async () => {
  const upstream = memorySource({ objects: [pod("ns/a")] });
  const { resource } = open(upstream);
  resource.pause();
  const next = resource.watch().next();
  const keys = [];
  void resource.watch().forEach(({ key }) => void keys.push(key));
  const view = resource.view();
  let told = 0;
  const unsubscribe = view.subscribe(() => void told++);
  const informer = resource.informer();
  await soon();
  assert.deepEqual([keys, view.getSnapshot().rows, informer.hasSynced, upstream.asked("list").length], [[], [], false, 0]);
  assert.equal(await Promise.race([next, soon().then(() => "waits")]), "waits");
  resource.resume();
  assert.equal((await next).value.key, "ns/a");
  await informer.synced;
  await until(() => keys.length === 1 && told > 0 && view.getSnapshot().rows.length === 1);
  unsubscribe();
});

test("paused later, it answers from what it holds", async () => {
  const { resource } = open(memorySource({ objects: [pod("ns/a")] }));
  await resource.synced();
  await until(() => resource.status.phase === "live");
  resource.pause();
  await resource.synced();
  assert.equal((await resource.list({ resourceVersion: "0" })).items.length, 1);
  assert.equal((await resource.get("ns/a", { resourceVersion: "0" })).metadata.name, "a");
});
