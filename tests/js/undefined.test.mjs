// To give `undefined` is to leave an option out, wherever options go.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createInformerFactory, createWatchCache, waitForSync } from "watchcache";
import { memorySource } from "watchcache/memory";
import { pod } from "./lib/pod.mjs";

/** An object with all of these names, and nothing under them. */
const nothing = (names) => Object.fromEntries(names.split(" ").map((name) => [name, undefined]));

const CACHE =
  "server transport auth fetch WebSocket credentials strip trigger indexes history memory pageSize watchList linger idleTimeout retry flush debug checkConsistency logger signal";

test("a cache, a resource, reads, watches, views, informers and writes take options that are undefined", async () => {
  const cache = createWatchCache({
    ...nothing(CACHE),
    history: nothing("minMs minEvents maxEvents maxBytes"),
    memory: nothing("maxBytes"),
    retry: nothing("initialMs factor capMs jitter resetAfterMs"),
    flush: "microtask",
  });
  try {
    const upstream = memorySource({ objects: [pod("a/p1"), pod("b/p2")] });
    const pods = cache.resource({ source: upstream, id: "pods" });
    await pods.synced(nothing("signal"));
    await pods.refresh(nothing("reset"));
    const selection = "namespace labelSelector fieldSelector shardSelector resourceVersion resourceVersionMatch";
    assert.equal((await pods.list({ ...nothing(`${selection} limit continue wait signal`), resourceVersion: "0" })).items.length, 2);
    assert.equal((await pods.get("a/p1", { ...nothing("signal"), resourceVersion: "0" })).metadata.name, "p1");
    const watching = `${selection} changesOf name sendInitialEvents allowWatchBookmarks timeoutSeconds bufferSize onOverflow wait signal`;
    const watcher = pods.watch(nothing(watching));
    assert.equal((await watcher.next()).value.type, "ADDED");
    watcher.stop();
    const view = pods.view(nothing("namespaces labelSelector fieldSelector where orderBy window groupBy"));
    const off = view.subscribe(() => {}, nothing("signal"));
    assert.equal(view.getSnapshot().total, 2);
    const ordered = pods.view({ orderBy: [{ path: "metadata.name", descending: undefined, as: undefined }] });
    assert.equal(ordered.getSnapshot().total, 2);
    off();
    const informer = pods.informer(nothing("resyncPeriod transform indexers relistUpdates readYourWrites onWatchError start"));
    const told = [];
    const handler = { onAdd: ({ metadata }) => told.push(metadata.name), ...nothing("onUpdate onDelete onOverflow") };
    const registration = informer.addEventHandler(
      handler,
      nothing("resyncPeriod coalesce bufferSize timeSlice namespace labelSelector fieldSelector changesOf filter"),
    );
    await waitForSync({ informer, registration }, nothing("timeoutMs signal"));
    assert.deepEqual(told, ["p1", "p2"]);
    informer.stop();
    createInformerFactory(cache, nothing("resyncPeriod transform namespace labelSelector fieldSelector onWatchError"));
    cache.resource({ version: "v1", resource: "pods", ...nothing("group namespace labelSelector fieldSelector") });
  } finally {
    await cache.close();
  }
});
