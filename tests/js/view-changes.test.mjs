// What grids take from a view: the changes from snapshot to snapshot, and keys, over the real core.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { init } from "watchcache";
import { memorySource } from "watchcache/memory";

import { rowDifference } from "../../dist/view/row-difference.js";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

await init();
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const order = [{ path: "status.phase" }];

async function opened(keys, spec = {}) {
  const upstream = memorySource({ objects: keys.map((key) => pod(key)) });
  const { resource, cache } = open(upstream);
  await resource.synced();
  return { upstream, resource, cache, view: resource.view({ orderBy: order, ...spec }) };
}

/** What a change says, in short: keys with their places. */
const told = ({ added, updated, moved, removed }) =>
  Object.fromEntries(
    Object.entries({ added, updated, moved, removed })
      .filter(([, rows]) => rows.length > 0)
      .map(([what, rows]) => [what, rows.map(({ key, index }) => `${key} ${index}`).join(", ")]),
  );

/** Applies a change as its documentation says. */
function apply(rows, { added, updated, moved, removed }) {
  const renewed = new Map(updated.map(({ key, row }) => [key, row]));
  const out = new Set([...removed, ...moved].map(({ key }) => key));
  const next = rows.filter(({ key }) => !out.has(key)).map(({ key, row }) => ({ key, row: renewed.get(key) ?? row }));
  for (const { key, row, index } of [...added, ...moved].sort((a, b) => a.index - b.index)) next.splice(index, 0, { key, row });
  return next;
}

test("vc_01 the first change adds all rows, and each later one leads from the last that was taken to the newest snapshot", async () => {
  const { view, upstream } = await opened(["a/p", "a/q", "a/r"]);
  const changes = view.changes();
  const { value: first } = await changes.next();
  assert.deepEqual(told(first), { added: "a/p 0, a/q 1, a/r 2" });
  assert.equal(first.snapshot, view.getSnapshot());
  assert.ok([first, first.added, first.updated, first.moved, first.removed].every(Object.isFrozen));
  assert.equal(first.added[1].row, view.rows[1]);

  const next = changes.next();
  const old = view.rows[0];
  upstream.put(pod("a/p", { phase: "Zero" }));
  const { value: second } = await next;
  assert.deepEqual(told(second), { updated: "a/p 2", moved: "a/p 2" });
  assert.equal(second.updated[0].row, view.rows[2]);

  upstream.remove("a/q");
  await until(() => view.total === 2);
  upstream.put(pod("a/o", { phase: "Zero" }));
  await until(() => view.total === 3);
  upstream.put(pod("a/x"));
  upstream.remove("a/x");
  upstream.put(pod("a/r", { node: "other" }));
  await until(() => view.rows[0].spec.nodeName === "other");
  const { value: third } = await changes.next();
  assert.deepEqual(told(third), { added: "a/o 1", updated: "a/r 0", removed: "a/q 0" }, "all that came meanwhile is one");
  assert.notEqual(third.removed[0].row, old);
  assert.equal(third.removed[0].row.metadata.name, "q");
});

test("vc_02 what is no row is told with empty lists, and the end by the last change", async () => {
  const { view, upstream, resource, cache } = await opened([]);
  const changes = view.changes();
  assert.deepEqual(told((await changes.next()).value), {}, "there are no rows, and that is told at once");
  const errors = new Set();
  upstream.fail({ code: 403, reason: "Forbidden" });
  upstream.drop();
  upstream.expire();
  for (let next = changes.next(); ; next = changes.next()) {
    const { value, done } = await next;
    if (done) break;
    assert.deepEqual(told(value), {});
    const { error } = value.snapshot;
    if (error !== undefined) errors.add(error.code);
    if (error?.code === "forbidden") resource.close();
  }
  assert.deepEqual([...errors], ["forbidden", "closed"]);
  assert.deepEqual(await changes.next(), { value: undefined, done: true });
  await cache.close();
});

test("vc_03 it ends by leaving the loop, its signal and the close of its view, and whoever waits hears of it", async () => {
  const { view, cache } = await opened(["a/p"], { window: { offset: 0, limit: 1 } });
  const controller = new AbortController();
  const [left, aborted, closed] = [view.changes(), view.changes({ signal: controller.signal }), view.changes()];
  for await (const { added } of left) {
    assert.equal(added.length, 1);
    break;
  }
  const over = { value: undefined, done: true };
  assert.deepEqual(await left.next(), over);
  for (const [changes, end] of [
    [aborted, () => controller.abort()],
    [closed, () => view.close()],
  ]) {
    await changes.next();
    const waiting = [changes.next(), changes.next()];
    end();
    assert.deepEqual(await Promise.all(waiting), [over, over]);
    assert.deepEqual([await changes.next(), await changes.return()], [over, over]);
  }
  assert.deepEqual(await view.changes({ signal: controller.signal }).next(), over, "aborted before");
  const after = view.changes();
  assert.equal((await after.next()).value.added.length, 1, "a view that was closed goes on");
  await (after[Symbol.asyncDispose] ?? after.return).call(after);
  assert.deepEqual(await after.next(), over);
  await cache.close();
});

test("vc_03 one that is never read costs nothing, and one that nobody holds ends", async () => {
  const { resource, cache } = await opened(["a/p"]);
  const view = resource.view({ labelSelector: "app" });
  view.changes();
  assert.equal(cache.stats().resources[0].views, 0);
  await view.changes().next();
  assert.equal(cache.stats().resources[0].views, 1);
  const views = () => (collect(), cache.stats().resources[0].views);
  const early = open(memorySource(), { linger: 0 });
  await early.resource.synced();
  await early.resource.view().changes().next();
  await until(() => (collect(), early.cache.stats().resources.every(({ views }) => views === 0)));
  assert.equal(views(), 1, "the other lingers");
});

test("vc_04 rows that leave the window or the search are removed, and a slow reader loses nothing", async () => {
  const keys = Array.from({ length: 30 }, (_, i) => `a/${i % 3 ? "web" : "db"}-${String(i).padStart(2, "0")}`);
  const { view, upstream } = await opened(keys, { orderBy: [{ path: "metadata.name" }], window: { offset: 0, limit: 8 } });
  let state = 11;
  const draw = (bound) => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) % bound;
  let rows = [];
  let taken = 0;
  let newest;
  const changes = view.changes();
  for (let round = 0; round < 300; round++) {
    const key = keys[draw(keys.length)];
    if (draw(3) === 0) upstream.remove(key);
    else upstream.put(pod(key, { phase: ["Running", "Failed"][draw(2)] }));
    if (draw(8) === 0) view.setWindow({ offset: draw(12), limit: 8 });
    if (draw(12) === 0) view.setSearch(["web", "db", null][draw(3)]);
    if (draw(4) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    if (draw(5) > 0 || view.getSnapshot() === newest) continue;
    const { value } = await changes.next();
    newest = value.snapshot;
    taken++;
    rows = apply(rows, value);
    assert.deepEqual(
      rows.map(({ key }) => key),
      value.snapshot.keys,
    );
    assert.ok(rows.every(({ row }, i) => row === value.snapshot.rows[i]));
  }
  assert.ok(taken > 20);
});

test("vc_05 any rows become any others by what is told, with as few moves as can be", () => {
  let state = 3;
  const draw = (bound) => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 9) % bound;
  const some = () => {
    const keys = Array.from({ length: 9 }, (_, i) => `k${i}`).filter(() => draw(4) > 0);
    for (let swaps = draw(4); swaps > 0; swaps--) {
      const [from, to] = [draw(keys.length + 1), draw(keys.length + 1)];
      keys.splice(to, 0, ...keys.splice(from, 1));
    }
    return { keys, rows: keys.map((key) => `${key}@${draw(2)}`) };
  };
  /** The longest selection that stands in the same order in both, by trying all. */
  const longest = (keys, order) => {
    let best = 0;
    for (let chosen = 0; chosen < 1 << keys.length; chosen++) {
      const places = keys.filter((_, i) => chosen & (1 << i)).map((key) => order.indexOf(key));
      if (places.every((place, i) => place >= 0 && (i === 0 || place > places[i - 1]))) best = Math.max(best, places.length);
    }
    return best;
  };
  for (let round = 0; round < 300; round++) {
    const [before, after] = [some(), some()];
    const difference = rowDifference(before, after);
    const rows = apply(
      before.keys.map((key, i) => ({ key, row: before.rows[i] })),
      difference,
    );
    const now = after.keys.map((key, i) => ({ key, row: after.rows[i] }));
    assert.deepEqual(rows, now, JSON.stringify([before, after]));
    const stayed = after.keys.filter((key) => before.keys.includes(key)).length;
    assert.equal(difference.moved.length, stayed - longest(after.keys, before.keys), JSON.stringify([before, after]));
    for (const { key, row } of difference.updated) assert.notEqual(before.rows[before.keys.indexOf(key)], row);
    for (const { key, row, index } of difference.removed) assert.deepEqual([before.keys[index], before.rows[index]], [key, row]);
    const { added, updated, moved, removed } = rowDifference(after, { ...after });
    assert.deepEqual([added, updated, moved, removed], [[], [], [], []]);
  }
});

test("vk_01 keys are those of all rows in order, and nothing is decoded for them", async () => {
  const keys = Array.from({ length: 3_000 }, (_, i) => `a/web-${i}`);
  const { view, cache } = await opened(keys, { orderBy: [{ path: "metadata.name", as: "natural" }], window: { offset: 0, limit: 0 } });
  const decodes = () => cache.stats().resources[0].decoded;
  assert.deepEqual(await view.keys(), keys);
  view.setSearch("WEB-29");
  assert.deepEqual(
    await view.keys(),
    keys.filter((key) => key.includes("web-29")),
  );
  assert.equal(decodes(), 0);
  view.subscribe(() => {});
  view.setWindow({ offset: 0, limit: 5 });
  await until(() => view.rows.length === 5);
  assert.equal(decodes(), 5, "as rows are");
});

test("vc_03 changes that a function which derives ends amid their first snapshot hear nothing, and leave nothing behind", async () => {
  const upstream = memorySource({ objects: [pod("a/p")] });
  const { resource, cache } = open(upstream, { linger: 5 });
  await resource.synced();
  const ends = {
    signal: (controller) => controller.abort(),
    view: (_, view) => view.close(),
    leaving: (_, __, changes) => void changes.return(),
  };
  for (const [how, end] of Object.entries(ends)) {
    const controller = new AbortController();
    let called = 0;
    const value = ([phase]) => {
      called++;
      end(controller, view, changes);
      return phase;
    };
    const view = resource.view({ derive: { phase: { paths: ["status.phase"], value } }, select: { phase: "phase" } });
    const changes = view.changes({ signal: controller.signal });
    assert.deepEqual(await changes.next(), { value: undefined, done: true }, how);
    assert.ok(called > 0, how);
    await until(() => cache.stats().resources[0].views === 0);
  }

  // One that such a function reads then has one subscription.
  let read = () => {};
  const value = ([phase]) => {
    read();
    return phase;
  };
  const changes = resource.view({ derive: { phase: { paths: ["status.phase"], value } }, select: { phase: "phase" } }).changes();
  const given = [];
  read = () => void changes.next().then(({ value }) => given.push(value.snapshot.total));
  given.push((await changes.next()).value.snapshot.total);
  assert.deepEqual(given, [0, 1], "it sees what was there before");
  await changes.return();
  await until(() => cache.stats().resources[0].views === 0);
});
