import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { openModel, settle } from "./lib/open.mjs";
import { pod } from "./lib/model.mjs";

const pods = (count) =>
  Array.from({ length: count }, (_, i) => pod(`a/p${String(i).padStart(2, "0")}`, i + 1, { phase: i % 2 ? "Running" : "Pending" }));
const names = (view) => view.getSnapshot().map(({ metadata }) => metadata.name);

test("a view filters, orders, windows and counts", async () => {
  const { resource } = await openModel({ objects: [...pods(5), pod("b/q", 9)] });
  const view = resource.view({
    namespaces: ["a"],
    orderBy: [{ path: "metadata.name", descending: true }],
    window: { offset: 1, limit: 2 },
    groupBy: "status.phase",
  });
  assert.deepEqual(names(view), ["p03", "p02"]);
  assert.equal(view.total, 5);
  assert.deepEqual(Object.fromEntries(view.counts), { Pending: 3, Running: 2 });
  assert.equal(view.indexOf("a/p04"), 0);
  assert.equal(view.indexOf("b/q"), -1);
  assert.deepEqual(view.getServerSnapshot(), []);
});

test("snapshots are the same array until a flush changes them, and rows keep their identity", async () => {
  const { resource, model } = await openModel({ objects: pods(3) });
  const view = resource.view({ groupBy: "status.phase" });
  let calls = 0;
  view.subscribe(() => calls++);
  const [first, counts] = [view.getSnapshot(), view.counts];
  await settle();
  assert.equal(calls, 0, "the first flush brings what was read already");
  model.put(pod("a/p01", 11, { phase: "Running" }));
  assert.equal(view.getSnapshot(), first, "the core is ahead; the snapshot waits for the flush");
  await settle();
  assert.equal(calls, 1);
  const second = view.getSnapshot();
  assert.notEqual(second, first);
  assert.equal(second[0], first[0]);
  assert.notEqual(second[1], first[1]);
  assert.equal(view.counts, counts, "no count has changed");
  model.signal(1);
  model.bookmark("12");
  await settle();
  assert.equal(calls, 1, "nothing that it shows has changed");
  assert.equal(view.getSnapshot(), second);
});

test("without subscribers a read brings the snapshot up to date", async () => {
  const { resource, model } = await openModel({ objects: pods(1) });
  const view = resource.view();
  const first = view.getSnapshot();
  assert.equal(view.getSnapshot(), first);
  model.put(pod("a/p01", 11));
  await settle();
  assert.equal(view.total, 2);
});

test("a change is told once however often it is read, and subscribers may come, go and throw", async () => {
  const { resource, model, reported } = await openModel({ objects: pods(1) });
  const view = resource.view();
  const log = [];
  const offs = [];
  offs.push(
    view.subscribe(() => {
      log.push("a");
      offs[1]();
      view.subscribe(() => log.push("late"));
      throw new Error("from a");
    }),
  );
  offs.push(view.subscribe(() => log.push("b")));
  view.subscribe(() => log.push("c"));
  model.put(pod("a/p01", 11));
  await settle();
  assert.deepEqual(log, ["a", "c"]);
  assert.deepEqual(
    reported.map(({ message }) => message),
    ["from a"],
  );
  offs[0]();
  model.put(pod("a/p01", 12));
  await settle();
  assert.deepEqual(log, ["a", "c", "c", "late"]);
});

test("an aborted signal ends the subscription", async () => {
  const { resource, model } = await openModel({ objects: pods(1) });
  const view = resource.view();
  const controller = new AbortController();
  let calls = 0;
  view.subscribe(() => calls++, { signal: controller.signal });
  view.subscribe(() => calls++, { signal: AbortSignal.abort() });
  model.put(pod("a/p01", 11));
  await settle();
  controller.abort();
  model.put(pod("a/p01", 12));
  await settle();
  assert.equal(calls, 1);
});

test("setWindow shows other rows in the next microtask, also with the flush of frames", async () => {
  const { resource } = await openModel({ objects: pods(6), options: { flush: "frame" } });
  const view = resource.view({ window: { offset: 0, limit: 2 } });
  let calls = 0;
  view.subscribe(() => calls++);
  assert.deepEqual(names(view), ["p00", "p01"]);
  view.setWindow({ offset: 3, limit: 2 });
  assert.deepEqual(names(view), ["p00", "p01"]);
  await settle();
  assert.equal(calls, 1);
  assert.deepEqual(names(view), ["p03", "p04"]);
  for (const window of [
    { offset: -1, limit: 1 },
    { offset: 0, limit: 1.5 },
    { offset: 0, limit: 2 ** 32 },
  ]) {
    assert.throws(() => view.setWindow(window), { code: "invalid" });
  }
  assert.throws(() => resource.view({ window: { offset: Number.NaN, limit: 1 } }), { code: "invalid" });
});

test("frames: one flush a frame, by a timer when the page is hidden or the frame does not come", async (t) => {
  t.after(() => {
    mock.timers.reset();
    delete globalThis.requestAnimationFrame;
    delete globalThis.cancelAnimationFrame;
    delete globalThis.document;
  });
  mock.timers.enable({ apis: ["setTimeout"] });
  const frames = new Map();
  globalThis.requestAnimationFrame = (call) => frames.set(frames.size + 1, call).size;
  globalThis.cancelAnimationFrame = (id) => frames.delete(id);
  globalThis.document = Object.assign(new EventTarget(), { visibilityState: "visible" });
  const { resource, model } = await openModel({ objects: pods(1), options: { flush: "frame" } });
  const view = resource.view();
  let calls = 0;
  view.subscribe(() => calls++);
  const change = async (version) => {
    model.put(pod("a/p00", version));
    await settle();
  };
  const frame = () => {
    const [id] = frames.keys();
    const call = frames.get(id);
    frames.delete(id);
    call();
  };
  view.getSnapshot();
  frame();
  await change(11);
  await change(12);
  assert.equal(calls, 0);
  assert.equal(frames.size, 1);
  frame();
  assert.equal(calls, 1);
  assert.equal(view.getSnapshot()[0].metadata.resourceVersion, "12");

  await change(13);
  mock.timers.tick(250);
  assert.equal(calls, 2, "the frame was overdue");
  assert.equal(frames.size, 0, "and is not waited for any more");

  globalThis.document.visibilityState = "hidden";
  await change(14);
  assert.equal(frames.size, 0);
  mock.timers.tick(16);
  assert.equal(calls, 3);
});

test("where judges decoded objects, a failure is reported and is no row", async () => {
  const { resource, model, reported } = await openModel({ objects: pods(4) });
  const view = resource.view({
    where: (object) => {
      if (object.metadata.name === "p03") throw new Error("cannot judge p03");
      return object.status.phase === "Pending";
    },
  });
  view.subscribe(() => {});
  await settle();
  assert.deepEqual(names(view), ["p00", "p02"]);
  assert.deepEqual(
    reported.map(({ message }) => message),
    ["cannot judge p03"],
  );
  model.put(pod("a/p01", 11, { phase: "Pending" }));
  await settle();
  assert.deepEqual(names(view), ["p00", "p01", "p02"]);
});

test("a slow where lets others have the thread between slices", async (t) => {
  t.after(() => mock.restoreAll());
  let now = 0;
  mock.method(performance, "now", () => now);
  const { resource, model } = await openModel({ objects: pods(5) });
  const view = resource.view({
    where: () => {
      now += 4;
      return true;
    },
  });
  view.subscribe(() => {});
  await settle(60);
  assert.equal(view.total, 5);
  const slices = model.calls.filter(([name]) => name === "decide").map(([, count]) => count);
  assert.deepEqual(slices, [2, 2, 1]);
});

test("where may close its own view: what was pinned for it goes back", async () => {
  const { resource, model } = await openModel({ objects: pods(3) });
  const view = resource.view({
    where: () => {
      view.close();
      return true;
    },
  });
  view.subscribe(() => {});
  await settle();
  assert.deepEqual(view.getSnapshot(), []);
  assert.equal(model.pinsOf("a/p02"), 1);
  assert.ok(model.calls.some(([name]) => name === "viewClose"));
});

test("a wrong selector is told by view() when the core is there, else by the first read", async () => {
  const { resource } = await openModel();
  assert.throws(() => resource.view({ labelSelector: "a!!b" }), { name: "WatchCacheError", code: "invalid" });
  const early = await openModel({ ready: false });
  const view = early.resource.view({ labelSelector: "a!!b" });
  assert.deepEqual(view.getSnapshot(), []);
  early.runtime.arrive();
  await settle();
  assert.throws(() => view.getSnapshot(), { code: "invalid" });
});

test("a closed view keeps its last snapshot and hears nothing more", async () => {
  const { resource, model } = await openModel({ objects: pods(2) });
  const view = resource.view();
  let calls = 0;
  view.subscribe(() => calls++);
  const rows = view.getSnapshot();
  view.close();
  view.close();
  model.put(pod("a/p00", 11));
  await settle();
  assert.equal(calls, 0);
  assert.equal(view.getSnapshot(), rows);
  assert.equal(view.indexOf("a/p00"), -1);
});
