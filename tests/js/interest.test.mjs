// Interest in fields, in the built package: `changesOf` of watches and handlers, and `changed` of what they are told.
import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "watchcache/memory";

import { open, relist, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const KEY = "a/x";

/** A cache over one pod, and a way to write it until the cache has it. */
async function live() {
  const upstream = memorySource({ objects: [pod(KEY)] });
  const opened = open(upstream);
  const { resource } = opened;
  await resource.synced();
  await until(() => resource.status.phase === "live");
  const put = async (change = {}) => {
    upstream.put(pod(KEY, change));
    await until(() => resource.resourceVersion === upstream.resourceVersion);
  };
  return { ...opened, upstream, put };
}

const summary = ({ type, resourceVersion }) => `${type} ${resourceVersion}`;

test("chg_03_a_watch_hears_of_those_updates_that_change_what_it_asked_for", async () => {
  const { resource, put, upstream } = await live();
  const heard = { phase: [], labels: [], all: [] };
  const resourceVersion = resource.resourceVersion;
  const hear = (to, options) => resource.watch({ resourceVersion, ...options }).forEach((event) => void to.push(summary(event)));
  void hear(heard.phase, { changesOf: ["status.phase"] });
  void hear(heard.labels, { changesOf: ["metadata.labels"] });
  void hear(heard.all, {});
  await put();
  await put({ phase: "Failed" });
  await put({ phase: "Failed", labels: { app: "web", tier: "front" } });
  await put({ phase: "Failed", labels: { app: "web", tier: "front" } });
  upstream.remove(KEY);
  await until(() => heard.all.length === 5);
  assert.deepEqual(heard.phase, ["MODIFIED 103", "DELETED 106"]);
  assert.deepEqual(heard.labels, ["MODIFIED 104", "DELETED 106"]);
});

test("chg_04_a_watch_that_stops_goes_on_behind_what_was_held_back", async () => {
  const { resource, put } = await live();
  const changesOf = ["status.phase"];
  const watcher = resource.watch({ changesOf, resourceVersion: resource.resourceVersion });
  const heard = [];
  void watcher.forEach((event) => void heard.push(summary(event)));
  await put({ phase: "Failed" });
  await put({ phase: "Failed", node: "other" });
  watcher.stop();
  const { lastResourceVersion } = await watcher.ended;
  assert.deepEqual([heard, lastResourceVersion], [["MODIFIED 102"], "103"]);
  await put({ phase: "Failed", node: "third" });
  await put({ phase: "Running" });
  const resumed = resource.watch({ changesOf, resourceVersion: lastResourceVersion });
  assert.equal(summary((await resumed.next()).value), "MODIFIED 105");
});

test("chg_07_a_handler_hears_of_those_updates_that_change_what_it_asked_for", async () => {
  const { resource, put, upstream } = await live();
  const informer = resource.informer();
  const heard = { some: [], all: [] };
  const hear = (to, options) => informer.addEventHandler((event) => void to.push(summary(event)), options).synced;
  await Promise.all([hear(heard.some, { changesOf: ["status.phase"] }), hear(heard.all)]);
  await put();
  await put({ phase: "Failed" });
  upstream.remove(KEY);
  await until(() => heard.all.length === 4);
  assert.deepEqual(heard.some, ["add 101", "update 103", "delete 104"]);
});

test("chg_07_what_a_filter_lets_in_or_out_is_told_whatever_changes", async () => {
  const { resource, put } = await live();
  const informer = resource.informer();
  const heard = { some: [], all: [] };
  const filter = ({ spec }) => spec.nodeName !== "hidden";
  await informer.addEventHandler((event) => void heard.some.push(summary(event)), { changesOf: ["status.phase"], filter }).synced;
  await informer.addEventHandler((event) => void heard.all.push(summary(event))).synced;
  await put({ node: "hidden" });
  await put({ node: "shown" });
  await put({ node: "other" });
  await put({ node: "other", phase: "Failed" });
  await until(() => heard.all.length === 5);
  assert.deepEqual(heard.some, ["add 101", "delete 101", "add 103", "update 105"]);
});

test("chg_02_another_object_of_the_name_is_told_to_who_has_a_filter_too", async () => {
  const { resource, upstream } = await live();
  const informer = resource.informer();
  const heard = { core: [], facade: [], all: [] };
  const changesOf = ["status.phase"];
  const hear = (to, options) =>
    informer.addEventHandler((event) => void to.push(`${event.type} ${event.get("metadata.uid")}`), options).synced;
  await Promise.all([hear(heard.core, { changesOf }), hear(heard.facade, { changesOf, filter: () => true }), hear(heard.all)]);
  await relist(upstream, resource, () => {
    upstream.remove(KEY);
    const again = pod(KEY);
    upstream.put({ ...again, metadata: { ...again.metadata, uid: "another" } });
  });
  await until(() => heard.all.length === 2);
  for (const told of Object.values(heard)) assert.deepEqual(told, [`add ${KEY}`, "update another"]);
});

test("chg_07_a_version_that_a_transform_threw_at_is_made_up_for", async () => {
  const { resource, put, reported } = await live();
  const transform = (object) => {
    if (object.spec.nodeName === "broken") throw new Error("no such node");
    return object;
  };
  const informer = resource.informer({ transform });
  const heard = [];
  const all = [];
  const told = (event) => void heard.push(`${summary(event)} ${event.changed("status.phase")}`);
  await informer.addEventHandler(told, { changesOf: ["status.phase"] }).synced;
  await resource.informer().addEventHandler((event) => void all.push(summary(event))).synced;
  await put({ phase: "Failed", node: "broken" });
  await put({ phase: "Failed", node: "mended" });
  await put({ phase: "Failed", node: "mended" });
  await until(() => all.length === 4);
  assert.deepEqual(heard, ["add 101 true", "update 103 true"]);
  assert.ok(reported.length > 0);
});

test("chg_07_a_resync_is_told_though_a_filter_threw_at_an_update_without_news", async () => {
  const { resource, put, upstream, reported } = await live();
  upstream.put(pod("a/other"));
  await until(() => resource.resourceVersion === upstream.resourceVersion);
  const informer = resource.informer({ resyncPeriod: 1_000 });
  await informer.synced;
  let throws = false;
  const filter = () => {
    if (throws) throw new RangeError("no");
    return true;
  };
  const resyncs = [];
  const tell = ({ key, resync }) => void (resync && resyncs.push(key));
  await informer.addEventHandler(tell, { changesOf: ["status.phase"], filter }).synced;
  throws = true;
  await put({ node: "node-2" });
  await until(() => reported.length > 0);
  throws = false;
  // A resync tells of all objects at once, so of both as often.
  await until(() => resyncs.includes("a/other"));
  assert.deepEqual(resyncs.sort(), ["a/other", KEY]);
});

test("chg_10_an_event_says_whether_a_value_changed_while_the_window_reaches_it_and_decodes_nothing", async () => {
  const { resource, cache, put, upstream } = await live();
  const events = [];
  void resource.watch({ allowWatchBookmarks: true }).forEach((event) => void events.push(event));
  await put();
  await put({ phase: "Failed", labels: { app: "db" } });
  upstream.remove(KEY);
  await until(() => events.length === 4);
  // The versions are packed by then.
  for (let i = 0; i < 300; i++) upstream.put(pod(`a/p${i % 7}`));
  await until(() => resource.resourceVersion === upstream.resourceVersion);
  const [added, beat, failed, deleted] = events;
  const paths = ["status.phase", "metadata.labels", "metadata.labels.app", "spec", "spec.none", "metadata.resourceVersion"];
  const changed = (event) => paths.filter((path) => event.changed(path));
  assert.deepEqual(changed(beat), ["metadata.resourceVersion"]);
  assert.deepEqual(changed(failed), ["status.phase", "metadata.labels", "metadata.labels.app", "metadata.resourceVersion"]);
  assert.deepEqual([changed(added), changed(deleted)], [paths, paths]);
  assert.deepEqual(changed(failed), changed(failed), "asked again");
  assert.equal(cache.stats().resources[0].decoded, 0);
  for (const event of [added, failed]) assert.throws(() => event.changed("spec..x"), { code: "invalid", message: /^path: / });
  assert.throws(() => failed.changed(5), { code: "invalid", message: /path/ });
  // After a list nobody knows what was before.
  await relist(upstream, resource);
  assert.deepEqual([failed.changed("status.phase"), failed.changed("status.restarts")], [true, true]);
  assert.equal(failed.changed("spec"), false, "asked in time");
});

test("chg_10_of_changes_that_came_as_one_event_all_count", async () => {
  const { resource, put, upstream } = await live();
  const slow = resource.watch({ resourceVersion: resource.resourceVersion, bufferSize: 1, onOverflow: "coalesce" });
  const quick = [];
  void resource.watch({ resourceVersion: resource.resourceVersion }).forEach((event) => void quick.push(event));
  upstream.put(pod("a/y")); // fills the buffer
  await put({ phase: "Failed" });
  await put({ phase: "Failed", node: "other" });
  await slow.next();
  const { value: merged } = await slow.next();
  assert.equal(merged.resourceVersion, quick.at(-1).resourceVersion);
  const changed = (event) => ["status.phase", "spec.nodeName"].map((path) => event.changed(path));
  assert.deepEqual(changed(merged), [true, true]);
  assert.deepEqual(changed(quick.at(-1)), [false, true], "the same version, for who heard of each");
  assert.deepEqual([merged.changed("status.restarts"), merged.changed("metadata.labels")], [false, false]);
});

test("chg_10_an_event_keeps_no_version_but_its_own", async () => {
  const { cache, resource, put } = await live();
  const events = [];
  void resource.watch({ resourceVersion: resource.resourceVersion }).forEach((event) => void events.push(event));
  for (let restarts = 0; restarts < 5; restarts++) await put({ phase: `${restarts}` });
  await until(() => events.length === 5);
  assert.equal(cache.stats().resources[0].pinned, 5);
  assert.ok(events.every((event) => event.changed("status.phase")));
  assert.equal(cache.stats().resources[0].pinned, 5);
});

test("chg_10_a_notification_says_whether_a_value_changed", async () => {
  const { resource, put, upstream } = await live();
  const informer = resource.informer({ resyncPeriod: 1000 });
  const told = [];
  const event = (event) => void told.push(`${event.type} ${event.changed("status.phase")} ${event.changed("spec")}`);
  await informer.addEventHandler({
    onAdd: (_object, _initial, added) => event(added),
    onUpdate: (_old, _object, update) => event(update),
    onDelete: (_deleted, deletion) => event(deletion),
  }).synced;
  await put({ phase: "Failed" });
  await until(() => told.length === 3); // a resync
  upstream.remove(KEY);
  await until(() => told.some((text) => text.startsWith("delete")));
  assert.deepEqual(
    [told[0], told[1], told[2], told.at(-1)],
    ["add true true", "update true false", "update false false", "delete true true"],
  );
});

test("chg_09_what_is_no_list_of_paths_is_refused_in_the_same_words_before_and_after_the_core_is_there", async () => {
  const { resource } = await live();
  const informer = resource.informer();
  await informer.synced;
  for (const call of [(changesOf) => resource.watch({ changesOf }), (changesOf) => informer.addEventHandler(() => {}, { changesOf })]) {
    assert.throws(() => call([]), { code: "invalid", message: "changesOf names at least one path; leave it out to hear of every change" });
    assert.throws(() => call("spec"), { code: "invalid", message: "changesOf is an array, not text" });
    assert.throws(() => call([5]), { code: "invalid", message: "changesOf[0] is text, not 5" });
    assert.throws(() => call(["spec..x"]), { code: "invalid", message: /^changesOf\[0\]: / });
  }
});
