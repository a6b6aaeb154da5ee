import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { turned } from "./lib/clock.mjs";
import { openModel, settle } from "./lib/open.mjs";
import { pod } from "./lib/model.mjs";

const pods = (count) =>
  Array.from({ length: count }, (_, i) => pod(`a/p${String(i).padStart(2, "0")}`, i + 1, { phase: i % 2 ? "Running" : "Pending" }));
const names = (view) => view.getSnapshot().rows.map(({ metadata }) => metadata.name);
const opened = (model) => model.calls.filter(([name]) => name === "view").length;
const closed = (model) => model.calls.filter(([name]) => name === "viewClose").length;

test("a view filters, orders, windows and counts", async () => {
  const { resource } = await openModel({ objects: [...pods(5), pod("b/q", 9)] });
  const view = resource.view({
    namespaces: ["a"],
    orderBy: [{ path: "metadata.name", descending: true }],
    window: { offset: 1, limit: 2 },
    groupBy: "status.phase",
  });
  const { rows, ...rest } = view.getSnapshot();
  assert.deepEqual(names(view), ["p03", "p02"]);
  assert.deepEqual(
    { ...rest, counts: Object.fromEntries(rest.counts) },
    {
      keys: ["a/p03", "a/p02"],
      offset: 1,
      total: 5,
      counts: { Pending: 3, Running: 2 },
      loaded: true,
      stale: false,
    },
  );
  assert.equal(view.rows, rows);
  assert.equal(view.total, 5);
  assert.equal(view.counts, rest.counts);
  assert.equal(view.indexOf("a/p04"), 0);
  assert.equal(view.indexOf("b/q"), -1);
  assert.deepEqual(await view.keys(), ["a/p04", "a/p03", "a/p02", "a/p01", "a/p00"]);
  assert.throws(() => view.indexOf(5), { code: "invalid" });
});

test("r11_a_snapshot_is_one_object_that_changes_only_with_a_call", async () => {
  const { resource, model } = await openModel({ objects: pods(3) });
  const view = resource.view({ groupBy: "status.phase" });
  let calls = 0;
  view.subscribe(() => calls++);
  const first = view.getSnapshot();
  await settle();
  assert.equal(calls, 0, "what was read already is no news");
  model.put(pod("a/p01", 11, { phase: "Running" }));
  assert.equal(view.getSnapshot(), first, "the core is ahead; the snapshot waits for the flush");
  await settle();
  assert.equal(calls, 1);
  const second = view.getSnapshot();
  assert.notEqual(second, first);
  assert.notEqual(second.rows, first.rows);
  assert.equal(second.rows[0], first.rows[0]);
  assert.notEqual(second.rows[1], first.rows[1]);
  assert.equal(second.keys, first.keys, "the rows have the keys they had");
  assert.equal(second.counts, first.counts, "no count has changed");
  model.signal(1);
  model.bookmark("12");
  await settle();
  assert.equal(calls, 1, "nothing that it shows has changed");
  assert.equal(view.getSnapshot(), second);
  model.put(pod("b/q", 13));
  await settle();
  assert.equal(view.total, 4);
  assert.equal(calls, 2);
});

test("r12_what_a_snapshot_holds_cannot_be_changed", async () => {
  const { resource } = await openModel({ objects: pods(2) });
  const view = resource.view({ groupBy: "status.phase" });
  const snapshot = view.getSnapshot();
  for (const part of [snapshot, snapshot.rows, snapshot.keys]) assert.ok(Object.isFrozen(part));
  assert.throws(() => snapshot.rows.reverse(), TypeError);
  assert.equal(snapshot.counts.set, undefined);
  assert.throws(() => Map.prototype.clear.call(snapshot.counts), TypeError);
  assert.deepEqual([...snapshot.counts.keys()], ["Pending", "Running"]);
  assert.equal(snapshot.counts.get("Pending"), 1);
});

test("r10_methods_work_detached_and_handles_cost_nothing_before_they_are_used", async () => {
  const { resource, model } = await openModel({ objects: pods(2) });
  const view = resource.view();
  assert.equal(opened(model), 0);
  const { subscribe, getSnapshot, getServerSnapshot, indexOf, keys, setWindow, close } = view;
  const off = subscribe(() => {});
  assert.equal(getSnapshot().total, 2);
  assert.equal(getSnapshot, view.getSnapshot, "the same function each time: an effect that depends on it runs once");
  assert.equal(getServerSnapshot().total, 0);
  assert.equal(indexOf("a/p01"), 1);
  assert.equal((await keys()).length, 2);
  setWindow({ offset: 1, limit: 1 });
  await settle();
  assert.deepEqual(getSnapshot().keys, ["a/p01"]);
  off();
  close();
  assert.equal(opened(model), 1);
  assert.equal(closed(model), 1);
});

test("r10_handles_of_equal_specs_share_one_view_of_the_core_and_each_has_its_window", async () => {
  const { resource, model } = await openModel({ objects: pods(4) });
  const where = () => true;
  const spec = { labelSelector: "app", orderBy: [{ path: "metadata.name" }], where };
  const one = resource.view({ ...spec, namespaces: ["b", "a"], window: { offset: 0, limit: 1 } });
  const two = resource.view({
    where,
    orderBy: [{ path: "metadata.name", as: "text", descending: false }],
    namespaces: ["a", "b", "a"],
    labelSelector: " app ",
    window: { offset: 2, limit: 2 },
  });
  const other = resource.view({ ...spec, namespaces: ["a", "b"], where: () => true });
  for (const view of [one, two, other]) view.getSnapshot();
  assert.equal(opened(model), 2, "another function is another view");
  one.close();
  assert.equal(closed(model), 0, "two still needs it");
  two.close();
  assert.equal(closed(model), 1);
});

test("r11_all_views_of_a_flush_have_their_snapshots_before_anybody_is_told", async () => {
  const { resource, model } = await openModel({ objects: pods(4) });
  const [running, pending] = ["Running", "Pending"].map((phase) => resource.view({ where: ({ status }) => status.phase === phase }));
  const unheard = resource.view();
  const sums = [];
  for (const view of [running, pending]) view.subscribe(() => sums.push([running.total + pending.total, unheard.total]));
  await settle(60);
  assert.equal(running.total + pending.total, unheard.total);
  sums.length = 0;
  model.put(pod("a/p00", 11, { phase: "Running" }));
  await settle(60);
  assert.ok(sums.length >= 2);
  for (const sum of sums) assert.deepEqual(sum, [4, 4]);
});

test("indexOf answers for the snapshot, whatever has arrived since", async () => {
  const { resource, model } = await openModel({ objects: pods(3), options: { flush: "frame" } });
  const view = resource.view();
  view.subscribe(() => {});
  assert.equal(view.indexOf("a/p02"), 2);
  await settle();
  model.put(pod("a/a", 11));
  await settle();
  assert.equal(view.rows[2].metadata.name, "p02");
  assert.equal(view.indexOf("a/p02"), 2);
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.equal(view.indexOf("a/p02"), 3);
  assert.equal(view.rows[3].metadata.name, "p02");
});

test("without subscribers a read brings the snapshot up to the last flush", async () => {
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

test("an aborted signal ends the subscription, and an ended subscription lets go of its signal", async () => {
  const { resource, model } = await openModel({ objects: pods(1) });
  const view = resource.view();
  const controller = new AbortController();
  const listening = new Set();
  for (const name of ["addEventListener", "removeEventListener"]) {
    const original = controller.signal[name].bind(controller.signal);
    controller.signal[name] = (type, listener, options) => {
      if (name === "addEventListener") listening.add(listener);
      else listening.delete(listener);
      original(type, listener, options);
    };
  }
  let calls = 0;
  view.subscribe(() => calls++, { signal: controller.signal });
  view.subscribe(() => calls++, { signal: AbortSignal.abort() });
  model.put(pod("a/p01", 11));
  await settle();
  controller.abort();
  model.put(pod("a/p01", 12));
  await settle();
  assert.equal(calls, 1);
  assert.equal(listening.size, 0);

  const other = new AbortController();
  let removed = 0;
  const remove = other.signal.removeEventListener.bind(other.signal);
  other.signal.removeEventListener = (...given) => {
    removed++;
    remove(...given);
  };
  view.subscribe(() => {}, { signal: other.signal });
  view.close();
  assert.equal(removed, 1, "closing the view forgets it, too");
});

test("setWindow shows other rows in the next microtask, also with the flush of frames", async () => {
  const { resource } = await openModel({ objects: pods(6), options: { flush: "frame" } });
  const view = resource.view({ window: { offset: 0, limit: 2 } });
  let calls = 0;
  view.subscribe(() => calls++);
  assert.deepEqual(names(view), ["p00", "p01"]);
  view.setWindow({ offset: 3, limit: 2 });
  assert.deepEqual(names(view), ["p00", "p01"]);
  assert.equal(view.getSnapshot().offset, 0);
  await settle();
  assert.equal(calls, 1);
  assert.deepEqual(names(view), ["p03", "p04"]);
  assert.equal(view.getSnapshot().offset, 3);
  view.setWindow({ offset: 3, limit: 2 });
  await settle();
  assert.equal(calls, 1, "where it is already");
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
  await settle();
  await change(11);
  await change(12);
  assert.equal(calls, 0);
  assert.equal(frames.size, 1);
  frame();
  assert.equal(calls, 1);
  assert.equal(view.rows[0].metadata.resourceVersion, "12");

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

test("where judges decoded objects, a failure is reported and is no row", async (t) => {
  // However slow the machine is, one slice.
  mock.method(performance, "now", () => 0);
  t.after(() => mock.restoreAll());
  const { resource, model, reported } = await openModel({ objects: pods(4) });
  const view = resource.view({
    where: (object) => {
      if (object.metadata.name === "p03") throw new Error("cannot judge p03");
      return object.status.phase === "Pending";
    },
  });
  view.subscribe(() => {});
  assert.equal(view.getSnapshot().loaded, false, "nothing was asked yet");
  await settle(60);
  assert.equal(view.getSnapshot().loaded, true);
  assert.deepEqual(names(view), ["p00", "p02"]);
  assert.deepEqual(
    reported.map(({ message }) => message),
    ["cannot judge p03"],
  );
  model.put(pod("a/p01", 11, { phase: "Pending" }));
  await settle(60);
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
  for (let i = 0; i < 5; i++) {
    await settle();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
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
  assert.equal(model.pinsOf("a/p02"), 1);
  assert.equal(closed(model), 1);
});

test("r13_a_spec_that_the_core_refuses_is_told_once_by_the_snapshot_and_asked_once", async () => {
  const early = await openModel({ ready: false });
  const view = early.resource.view({ labelSelector: "a!!b" });
  let calls = 0;
  view.subscribe(() => {
    calls++;
    view.getSnapshot();
  });
  assert.deepEqual(view.rows, []);
  assert.equal(view.getSnapshot().error, undefined);
  early.runtime.arrive();
  await settle();
  assert.equal(view.getSnapshot().error.code, "invalid");
  assert.equal(calls, 1);
  for (let i = 0; i < 10; i++) view.getSnapshot();
  assert.equal(opened(early.models[0]), 1);
  await assert.rejects(view.keys(), { code: "invalid" });
});

test("r10_close_is_not_final_and_rows_stay", async () => {
  const { resource, model } = await openModel({ objects: pods(2) });
  const view = resource.view();
  let calls = 0;
  const off = view.subscribe(() => calls++);
  const { rows } = view.getSnapshot();
  view.close();
  view.close();
  off();
  assert.equal(closed(model), 1);
  model.put(pod("a/p00", 11));
  await settle();
  assert.equal(calls, 0);
  // As StrictMode does: an effect that closes, and one that subscribes again.
  view.subscribe(() => calls++);
  assert.notEqual(view.rows, rows);
  assert.equal(view.rows[1], rows[1], "the row that did not change");
  model.put(pod("a/p01", 12));
  await settle();
  assert.equal(calls, 1);
});

test("subscribers hear that their resource or cache was closed, and keep the rows", async () => {
  for (const end of ["resource", "cache"]) {
    const opened = await openModel({ objects: pods(2) });
    const view = opened.resource.view();
    let calls = 0;
    view.subscribe(() => calls++);
    const { rows } = view.getSnapshot();
    opened[end].close();
    await settle();
    assert.equal(calls, 1);
    const snapshot = view.getSnapshot();
    assert.equal(snapshot.rows, rows);
    assert.equal(snapshot.error.code, "closed");
    assert.equal(snapshot.stale, true);
    assert.throws(() => opened.resource.view(), { code: "closed" });
  }
});

test("r10_a_view_ends_linger_after_its_last_use_also_beside_others", async (t) => {
  t.after(turned({ now: 1_000 }));
  const { resource, model } = await openModel({ objects: pods(2), options: { linger: 1_000 } });
  // As somebody types: every letter leaves a view behind.
  for (const labelSelector of ["a", "ap", "app"]) {
    resource.view({ labelSelector }).subscribe(() => {})();
    mock.timers.tick(400);
  }
  assert.equal(closed(model), 1, "they were left 1,200, 800 and 400 ms ago");
  mock.timers.tick(201);
  assert.equal(closed(model), 2);
  mock.timers.tick(400);
  assert.equal(closed(model), 3);
});

test("r10_a_view_ends_linger_after_its_last_read_or_subscriber", async (t) => {
  t.after(turned({ now: 1_000 }));
  const { resource, model } = await openModel({ objects: pods(2), options: { linger: 1_000 } });
  const read = resource.view({ namespaces: ["a"] });
  const heard = resource.view({ namespaces: ["b"] });
  read.getSnapshot();
  const off = heard.subscribe(() => {});
  mock.timers.tick(900);
  read.getSnapshot();
  mock.timers.tick(900);
  assert.equal(closed(model), 0, "it was read meanwhile");
  mock.timers.tick(1_200);
  assert.equal(closed(model), 1);
  mock.timers.tick(60_000);
  assert.equal(closed(model), 1, "somebody subscribes");
  off();
  mock.timers.tick(2_500);
  assert.equal(closed(model), 2);
  assert.equal(read.total, 2, "and a later read goes on");
});

test("r10_a_clock_that_is_set_back_keeps_nothing_longer", async (t) => {
  let [passed, set] = [0, 0];
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(Date, "now", () => 1_000_000_000 + passed + set);
  mock.method(performance, "now", () => passed);
  t.after(() => {
    mock.restoreAll();
    mock.timers.reset();
  });
  const pass = (ms) => {
    passed += ms;
    mock.timers.tick(ms);
  };
  const { resource, model } = await openModel({ objects: pods(2), options: { linger: 1_000 } });
  resource.view().subscribe(() => {})();
  pass(900);
  assert.equal(closed(model), 0);
  set -= 3_600_000;
  pass(200);
  assert.equal(closed(model), 1, "the view");
  assert.equal(model.calls.filter(([name]) => name === "pause").length, 1, "its stream");
  pass(301_000);
  assert.equal(model.closed, true, "and what was held");
});

test("a server renders views without opening anything", async () => {
  const { resource, models } = await openModel({ ready: true });
  resource.close();
  const { cache, source, models: fresh } = await openModel({ ready: false });
  const view = cache.resource({ source, id: "ssr" }).view();
  assert.equal(view.total, 0);
  assert.equal(view.getSnapshot(), view.getServerSnapshot());
  await settle();
  assert.equal(fresh.length, 0);
  assert.equal(models.length, 1);
});

test("r11_a_subscriber_is_told_once_in_a_flush_and_never_of_what_it_has", async () => {
  const { resource, model } = await openModel({ objects: pods(3) });
  const view = resource.view({ window: { offset: 0, limit: 1 } });
  const seen = [view.getSnapshot()];
  view.subscribe(() => seen.push(view.getSnapshot()));
  await settle();
  model.put(pod("a/a", 11));
  view.setWindow({ offset: 1, limit: 1 });
  view.setWindow({ offset: 2, limit: 1 });
  await settle();
  assert.equal(seen.length, 2, "an event and two moves of the window are one flush");
  assert.deepEqual(seen[1].keys, ["a/p01"]);

  view.setWindow({ offset: 0, limit: 1 });
  view.setWindow({ offset: 2, limit: 1 });
  await settle();
  assert.equal(seen.length, 2, "it is where it was");
});

test("r11_a_subscriber_that_joins_in_a_callback_of_another_view_hears_of_the_next_change", async () => {
  const { resource, model } = await openModel({ objects: pods(1) });
  const [first, second] = [resource.view(), resource.view({ groupBy: "status.phase" })];
  const late = [];
  first.subscribe(() => second.subscribe(() => late.push(second.total)));
  second.subscribe(() => {});
  model.put(pod("a/p01", 11));
  await settle();
  assert.deepEqual(late, []);
  model.put(pod("a/p02", 12));
  await settle();
  assert.deepEqual(late, [3]);
});
