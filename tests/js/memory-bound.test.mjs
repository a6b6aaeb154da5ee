// What users hear of when more is held than `memory.maxBytes`. The one that grows ends with `out-of-memory`, and no other.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import v8 from "node:v8";
import vm from "node:vm";

import { memorySource } from "watchcache/memory";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

/** Collects all that nobody holds, and lets finalizers run. */
async function collect(times) {
  v8.setFlagsFromString("--expose-gc");
  const gc = vm.runInNewContext("gc");
  for (let i = 0; i < times; i++) {
    gc();
    for (let j = 0; j < 5; j++) await turn();
  }
}

/** Text that nothing is like, so that packing wins nothing. */
function noise(length) {
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";
  let text = "";
  while (text.length < length) text += letters[Math.floor(Math.random() * 64)];
  return text;
}

const large = (key, length = 10_000) => ({ ...pod(key), data: noise(length) });
const many = (count, make = pod) => Array.from({ length: count }, (_, i) => make(`a/p-${String(i).padStart(5, "0")}`));
const ordered = { orderBy: [{ path: "metadata.name" }, { path: "spec.nodeName" }, { path: "metadata.name" }] };
const bytes = (cache) => cache.stats().resources[0].bytes;

/** What these objects take, and what one view over them takes beside. */
async function measured(objects, spec = ordered) {
  const { cache, resource } = open(memorySource({ objects }));
  await resource.synced();
  const view = resource.view(spec);
  const before = bytes(cache);
  view.subscribe(() => {});
  await until(() => view.getSnapshot().loaded);
  const row = bytes(cache) - before;
  await cache.close();
  return { all: before, row };
}

for (const count of [900, 5_000]) {
  test(`r11_a_view_of_${count}_that_there_is_no_memory_for_tells_so_and_comes_back_with_resume`, async () => {
    const { all, row } = await measured(many(count));
    const maxBytes = 2 * all + 4 * row;
    const upstream = memorySource({ objects: many(count) });
    const { cache, resource } = open(upstream, { memory: { maxBytes } });
    await resource.synced();
    const room = () => maxBytes - cache.stats().resources.reduce((sum, { bytes }) => sum + bytes, 0);
    // What arrived is packed when its turn comes.
    const isSteady = async () => {
      for (let last = -1; last !== room(); await sleep(100)) last = room();
    };
    /** Another resource takes what is there but for so much. */
    const leave = async (bytes) => {
      const ballast = memorySource();
      const its = cache.resource({ source: ballast, id: "ballast" });
      its.view({ window: { offset: 0, limit: 1 } }).subscribe(() => {});
      await its.synced();
      for (let i = 0; room() > bytes; i++) {
        ballast.put(large(`a/${i}`, Math.min(100_000, Math.ceil((room() - bytes) / 2) + 100)));
        await until(() => its.size > i);
        await isSteady();
      }
    };
    const spec = (i) => ({ ...ordered, labelSelector: `app!=db-${i}`, window: { offset: 0, limit: 3 } });
    const opened = [];
    const show = async (i) => {
      const view = resource.view(spec(i));
      const held = { view, told: [] };
      view.subscribe(() => held.told.push(view.getSnapshot()));
      opened.push(held);
      await until(() => view.getSnapshot().loaded || view.getSnapshot().error !== undefined);
      return held;
    };
    await isSteady();
    const before = room();
    const first = await show(0);
    await isSteady();
    await leave((before - room()) * 1.5);
    const second = await show(1);
    assert.equal(second.view.getSnapshot().error, undefined);
    const last = await show(2);
    // Whoever has grown most lately: on a busy machine that may be the one before.
    const [third, other] = last.view.getSnapshot().loaded ? [second, last] : [last, second];
    const ended = third.view.getSnapshot();
    assert.deepEqual([ended.error?.code, ended.loaded], ["out-of-memory", false]);
    assert.equal(third.told.at(-1) ?? ended, ended, "whoever subscribed was called for what a render shows");
    await assert.rejects(third.view.keys(), { code: "out-of-memory" });
    for (const { view } of [first, other]) assert.deepEqual([view.getSnapshot().loaded, view.total], [true, count]);
    assert.equal(resource.status.error, undefined);

    // Nothing is repeated as long as there is no room, whatever a listener does.
    third.told.length = 0;
    for (let i = 0; i < 20; i++) {
      resource.resume();
      await turn();
    }
    assert.deepEqual(third.told, []);

    other.view.close();
    upstream.put(pod("a/0"));
    resource.resume();
    await until(() => third.view.getSnapshot().loaded);
    const back = third.view.getSnapshot();
    assert.deepEqual([back.error, back.total, back.keys[0], back.stale], [undefined, count + 1, "a/0", false]);
    assert.equal(third.told.at(-1), back);
    await cache.close();
  });
}

test("r11_a_view_that_loses_its_rows_while_it_is_shown_says_so_and_keeps_what_it_showed", async () => {
  // Its rows weigh more than the objects do.
  const heavy = { orderBy: Array.from({ length: 20 }, () => ({ path: "metadata.name" })), window: { offset: 0, limit: 3 } };
  const name = "x".repeat(150);
  const objects = many(300, (key) => pod(`${key}-${name}`));
  const { all, row } = await measured(objects, heavy);
  const upstream = memorySource({ objects });
  const { cache, resource } = open(upstream, {
    memory: { maxBytes: Math.round(all + row * 1.5) },
    history: { minEvents: 1, maxEvents: 1 },
  });
  await resource.synced();
  const view = resource.view(heavy);
  const told = [];
  view.subscribe(() => told.push(view.getSnapshot()));
  await until(() => view.getSnapshot().loaded);
  // The view grows row by row, until there is no room for one more.
  for (let i = 0; i < 2_000 && view.getSnapshot().error === undefined && resource.status.error === undefined; i++) {
    upstream.put(pod(`b/more-${i}-${name}`));
    if (i % 20 === 0) await turn();
  }
  await until(() => view.getSnapshot().error !== undefined);
  const ended = view.getSnapshot();
  assert.equal(resource.status.error, undefined, "its resource lives");
  const before = told.at(-2);
  assert.equal(told.at(-1), ended);
  assert.deepEqual([ended.error.code, ended.loaded, ended.stale], ["out-of-memory", false, true]);
  assert.deepEqual(ended.keys, before.keys, "the rows stay");
  upstream.remove(ended.keys[0]);
  await turn();
  assert.equal(view.getSnapshot(), ended);
  await cache.close();
});

const readers = {
  "a handler that reads nothing": (resource) => void resource.informer().addEventHandler(() => {}),
  "a watch that reads nothing": (resource) => void resource.watch().forEach(() => {}),
  "a watch that reads and forgets": (resource) => void resource.watch().forEach((event) => void event.object?.data.length),
};
for (const [name, read] of Object.entries(readers)) {
  test(`law_05_${name.replaceAll(" ", "_")}_never_ends_the_stream`, async () => {
    const upstream = memorySource({ objects: many(20, large) });
    const { cache, resource } = open(upstream, { memory: { maxBytes: 1_500_000 }, history: { minEvents: 1, maxEvents: 1 } });
    read(resource);
    await resource.synced();
    await until(() => resource.status.phase === "live");
    for (let i = 0; i < 1_500; i++) {
      upstream.put(large(`a/p-${String(i % 20).padStart(5, "0")}`));
      if (i % 10 === 0) await turn();
      assert.equal(resource.status.error, undefined, `after ${i} events`);
    }
    await until(() => resource.resourceVersion === upstream.resourceVersion);
    assert.equal(resource.status.phase, "live");
    await cache.close();
  });
}

test("law_08_bounded_what_a_reader_keeps_for_good_counts_when_it_has_outlived_collections", { timeout: 60_000 }, async () => {
  const upstream = memorySource({ objects: many(20, large) });
  const { cache, resource } = open(upstream, { memory: { maxBytes: 1_500_000 }, history: { minEvents: 1, maxEvents: 1 } });
  const kept = [];
  resource.watch().forEach((event) => void kept.push(event));
  await resource.synced();
  await until(() => resource.status.phase === "live");
  for (let i = 0; i < 500 && resource.status.error === undefined; i++) {
    upstream.put(large(`a/p-${String(i % 20).padStart(5, "0")}`));
    await turn();
    if (i % 50 === 0) await collect(2);
  }
  await until(() => resource.status.phase === "failed");
  assert.equal(resource.status.error.code, "out-of-memory");
  assert.equal(kept[0].object.data.length, 10_000, "what it keeps can be read");
  // It lets go, and there is room.
  kept.length = 0;
  await collect(6);
  resource.resume();
  await until(() => resource.status.phase === "live");
  await cache.close();
});

test("an informer whose handler keeps too much waiting ends and says so; the large ones beside it stay", async () => {
  const upstream = memorySource({ objects: many(20, large) });
  const { cache, resource } = open(upstream, { memory: { maxBytes: 2_500_000 }, history: { minEvents: 1, maxEvents: 1 } });
  const view = resource.view(ordered);
  view.subscribe(() => {});
  const quick = resource.informer();
  let seen = 0;
  quick.addEventHandler(() => void seen++);
  const [heard, never] = [[], new Promise(() => {})];
  const slow = resource.informer({
    indexers: { node: "spec.nodeName" },
    onWatchError: ({ error, phase }) => heard.push([error.code, phase]),
  });
  const registration = slow.addEventHandler(() => never, { bufferSize: 100_000 });
  await slow.synced;
  await until(() => resource.status.phase === "live");
  assert.equal(slow.byIndex("node", "node-1").length, 20);
  for (let i = 0; i < 1_000 && !slow.isStopped; i++) {
    upstream.put(large(`a/p-${String(i % 20).padStart(5, "0")}`));
    if (i % 5 === 0) await turn();
  }
  await until(() => slow.isStopped);
  assert.deepEqual(heard, [["out-of-memory", "live"]]);
  await assert.rejects(registration.synced, { code: "out-of-memory" });
  assert.throws(() => slow.byIndex("node", "node-1"), { code: "out-of-memory" });
  assert.throws(() => slow.addEventHandler(() => {}), { code: "out-of-memory" });
  assert.equal(slow.list().length, 20, "what the resource holds can be read");

  const before = seen;
  upstream.put(pod("a/one-more"));
  await until(() => view.total === 21 && seen > before);
  assert.deepEqual([resource.status.phase, resource.status.error, view.getSnapshot().error], ["live", undefined, undefined]);
  assert.equal(quick.isStopped, false);
  await cache.close();
});
