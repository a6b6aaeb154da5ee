import assert from "node:assert/strict";
import { test } from "node:test";

import { createWatchCache } from "../../dist/node.js";
import { memorySource } from "../../dist/memory/index.js";

const pod = (name, phase, more = {}) => ({ metadata: { namespace: "a", name }, status: { phase, beat: 0 }, ...more });

/** A resource over an upstream in memory, with a view that selects fields. */
async function opened(t, objects, spec, options = {}) {
  const source = memorySource({ objects, kind: "Pod" });
  const cache = createWatchCache({ flush: "microtask", ...options });
  t.after(() => cache.close());
  const resource = cache.resource({ source, id: "pods" });
  const view = resource.view(spec);
  let calls = 0;
  view.subscribe(() => calls++);
  await resource.synced();
  await settled();
  return { source, cache, resource, view, calls: () => calls };
}
const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

test("vf_01 rows show the selected fields, and what is missing is undefined", async (t) => {
  const objects = [pod("p0", "Running", { spec: { nodeName: null, list: [1, { x: "ü" }] } }), pod("p1", "Failed")];
  const select = { phase: "status.phase", node: "spec.nodeName", list: "spec.list", twice: "status.phase", __proto__: null };
  const { view } = await opened(t, objects, { select: Object.assign(select, { ["7"]: "metadata.name" }) });
  const rows = [...view.rows];
  assert.deepEqual(rows, [
    { key: "a/p0", 7: "p0", phase: "Running", node: null, list: [1, { x: "ü" }], twice: "Running" },
    { key: "a/p1", 7: "p1", phase: "Failed", node: undefined, list: undefined, twice: "Failed" },
  ]);
  assert.deepEqual(Object.keys(rows[1]), Object.keys(rows[0]), "all rows have all fields");
  assert.ok(Object.isFrozen(rows[0]) && Object.isFrozen(rows[0].list[1]) && Object.isFrozen(view.rows));
  assert.deepEqual(view.getSnapshot().keys, ["a/p0", "a/p1"]);
});

test("vf_02 a row is another, and subscribers are told, where a selected field differs and only there", async (t) => {
  const { source, view, calls } = await opened(t, [pod("p0", "Running"), pod("p1", "Running")], { select: { phase: "status.phase" } });
  const [before, first] = [calls(), view.getSnapshot()];
  for (let beat = 1; beat < 5; beat++) source.put(pod("p0", "Running", { status: { phase: "Running", beat } }));
  await settled();
  assert.equal(calls(), before, "a heartbeat shows nowhere");
  assert.equal(view.getSnapshot(), first);
  source.put(pod("p1", "Failed"));
  await settled();
  const second = view.getSnapshot();
  assert.equal(calls(), before + 1);
  assert.equal(second.rows[0], first.rows[0]);
  assert.deepEqual(second.rows[1], { key: "a/p1", phase: "Failed" });
  assert.equal(second.keys, first.keys);
});

test("vf_02 rows of nothing are one frozen array, before they are loaded and after", async (t) => {
  const { resource, view } = await opened(t, [], { select: { phase: "status.phase" } });
  const other = resource.view({ select: { name: "metadata.name" } });
  const before = other.getServerSnapshot().rows;
  assert.ok(view.getSnapshot().loaded && Object.isFrozen(view.rows));
  assert.equal(view.rows, before);
});

test("vf_03 a row stays the same object where it moves, and where the window does", async (t) => {
  const objects = ["b", "c", "d", "e"].map((name) => pod(name, "Running"));
  const { source, view } = await opened(t, objects, { select: { phase: "status.phase" }, window: { offset: 0, limit: 3 } });
  const [b, c] = view.rows;
  source.put(pod("a", "Running"));
  await settled();
  const moved = view.rows;
  assert.deepEqual(view.getSnapshot().keys, ["a/a", "a/b", "a/c"]);
  assert.ok(moved[1] === b && moved[2] === c);
  view.setWindow({ offset: 2, limit: 3 });
  await settled();
  assert.deepEqual(view.getSnapshot().keys, ["a/c", "a/d", "a/e"]);
  assert.equal(view.rows[0], c);
});

test("vf_04 nothing is decoded for it, whatever is ordered, grouped or counted", async (t) => {
  const objects = Array.from({ length: 200 }, (_, i) => pod(`p${i}`, i % 2 ? "Running" : "Failed"));
  const spec = { select: { phase: "status.phase" }, orderBy: [{ path: "metadata.name", as: "natural" }], groupBy: "status.phase" };
  const { resource, view } = await opened(t, objects, { ...spec, window: { offset: 2, limit: 2 } });
  assert.deepEqual(
    [...view.rows],
    [
      { key: "a/p2", phase: "Failed" },
      { key: "a/p3", phase: "Running" },
    ],
  );
  assert.deepEqual([view.total, view.counts.get("Failed"), view.indexOf("a/p3")], [200, 100, 3]);
  assert.equal(resource.stats().decoded, 0);
});

test("where decides over whole objects, and rows show fields of those that pass", async (t) => {
  const objects = [pod("p0", "Running"), pod("p1", "Failed"), pod("p2", "Running")];
  const where = (object) => object.metadata.name !== "p0";
  const { source, view } = await opened(t, objects, { select: { phase: "status.phase" }, where });
  assert.deepEqual(view.getSnapshot().keys, ["a/p1", "a/p2"]);
  source.put(pod("p2", "Failed"));
  await settled();
  assert.deepEqual(
    [...view.rows],
    [
      { key: "a/p1", phase: "Failed" },
      { key: "a/p2", phase: "Failed" },
    ],
  );
});

test("vf_03 a row that another search finds again is the same object", async (t) => {
  const { view } = await opened(t, [pod("web", "Running"), pod("db", "Running")], { select: { phase: "status.phase" } });
  const [db, web] = view.rows;
  view.setSearch("web");
  await settled();
  assert.deepEqual(view.getSnapshot().keys, ["a/web"]);
  assert.equal(view.rows[0], web);
  view.setSearch("");
  await settled();
  assert.deepEqual([...view.rows], [{ key: "a/db", phase: "Running" }, web]);
  assert.deepEqual(view.rows[0], db);
});

test("vf_02 another search that finds the same rows tells nobody, also where fields are objects", async (t) => {
  const objects = [pod("web-1", "Running"), pod("web-2", "Running")].map((one) => ({ ...one, spec: { list: [1, { x: 1 }] } }));
  const { view, calls } = await opened(t, objects, { select: { phase: "status.phase", list: "spec.list" } });
  const [before, first] = [calls(), view.getSnapshot()];
  view.setSearch("web");
  await settled();
  assert.equal(view.getSnapshot(), first);
  assert.equal(calls(), before);
});

test("vf_06 a field that is the same stays the same object where another one of its row differs", async (t) => {
  const labels = { app: "web", tier: { deep: [1] } };
  const { source, view } = await opened(t, [pod("p0", "Running", { labels })], { select: { phase: "status.phase", labels: "labels" } });
  const [first] = view.rows;
  source.put(pod("p0", "Failed", { labels }));
  await settled();
  const [second] = view.rows;
  assert.deepEqual(second, { key: "a/p0", phase: "Failed", labels });
  assert.equal(second.labels, first.labels);
  source.put(pod("p0", "Failed", { labels: { ...labels, app: "db" } }));
  await settled();
  const [third] = view.rows;
  assert.deepEqual(third.labels, { app: "db", tier: { deep: [1] } });
  assert.equal(third.labels.tier, first.labels.tier);
  assert.deepEqual(first.labels, labels, "what was handed out stays as it was");
  assert.ok(Object.isFrozen(third.labels) && Object.isFrozen(third.labels.tier.deep));
});

test("views of the same paths share their work under names of their own, and go on after they were let go of", async (t) => {
  const { resource, source, view } = await opened(t, [pod("p0", "Running")], { select: { phase: "status.phase" } });
  const other = resource.view({ select: { state: "status.phase" } });
  assert.deepEqual([...other.rows], [{ key: "a/p0", state: "Running" }]);
  other.close();
  source.put(pod("p0", "Failed"));
  await settled();
  assert.deepEqual([...view.rows], [{ key: "a/p0", phase: "Failed" }]);
  assert.deepEqual([...other.rows], [{ key: "a/p0", state: "Failed" }]);
});

test("vf_05 what cannot be selected is invalid, by name", async (t) => {
  const { resource } = await opened(t, [pod("p0", "Running")], {});
  for (const [select, message] of [
    [[], "select is an object, not an array"],
    ["status.phase", "select is an object, not text"],
    [new Map([["phase", "status.phase"]]), "select is a plain object, with a member for each name, not one of the class Map"],
    [{}, "select names no field: give a path for each, or leave it out for whole objects"],
    [{ key: "metadata.name" }, "select.key: every row has its object's key under this name: call the field something else"],
    [{ phase: 5 }, "select.phase is text, not 5"],
    [{ phase: "status[" }, /^select\.phase: /],
    [{ nodeSelector: "spec[" }, /^select\.nodeSelector: /],
  ]) {
    assert.throws(() => resource.view({ select }), { code: "invalid", message }, JSON.stringify(select));
  }
  assert.deepEqual([...resource.view({ select: { nodeSelector: "spec.nodeSelector" } }).rows], [{ key: "a/p0", nodeSelector: undefined }]);
});
