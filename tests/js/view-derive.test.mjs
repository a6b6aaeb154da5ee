import assert from "node:assert/strict";
import { test } from "node:test";

import { createWatchCache } from "../../dist/node.js";
import { memorySource } from "../../dist/memory/index.js";
import { opened, pod, settled, until } from "./lib/columns.mjs";

/** A column as kubectl has it, and the keys' values for which its function was called. */
function readiness() {
  const calls = [];
  const value = ([containers]) => {
    calls.push(containers);
    return containers && `${containers.filter(({ ready }) => ready).length}/${containers.length}`;
  };
  return { calls, ready: { paths: ["status.containers"], value } };
}

const keys = (view) =>
  view
    .getSnapshot()
    .keys.map((key) => key.slice(2))
    .join(" ");

test("vd_01 rows show what a function makes of its fields, and undefined where it gives nothing", async (t) => {
  const { calls, ready } = readiness();
  const restarts = { paths: ["status.phase", "no.such"], value: (fields) => fields.length + (fields[1] === undefined ? 0.5 : 0) };
  const flag = { paths: ["status.phase"], value: ([phase]) => phase === "Running" };
  const { resource, view } = await opened(t, [pod("p0", 1), { metadata: { namespace: "a", name: "p1" } }], {
    derive: { ready, restarts, flag, unused: { paths: ["status"], value: () => assert.fail("nobody asked") } },
    select: { state: "ready", phase: "status.phase", count: "restarts", flag: "flag" },
  });
  assert.deepEqual(
    [...view.rows],
    [
      { key: "a/p0", state: "1/2", phase: "Running", count: 2.5, flag: true },
      { key: "a/p1", state: undefined, phase: undefined, count: 2.5, flag: false },
    ],
  );
  assert.ok(Object.isFrozen(view.rows[0]));
  assert.deepEqual(calls, [[{ ready: true }, { ready: false }], undefined]);
  assert.equal(resource.stats().decoded, 0);
});

test("vd_02 a function is called only where one of its own fields differs, and subscribers are told only where its value does", async (t) => {
  const { calls, ready } = readiness();
  let phases = 0;
  const phase = { paths: ["status.phase"], value: ([name]) => (phases++, name.toUpperCase()) };
  const { source, view, told } = await opened(t, [pod("p0", 1), pod("p1", 2)], {
    derive: { ready, phase },
    select: { ready: "ready", phase: "phase" },
  });
  assert.deepEqual([calls.length, phases], [2, 2]);
  const [before, first] = [told(), view.getSnapshot()];
  for (let beat = 1; beat < 5; beat++) source.put(pod("p0", 1, 2, { beat }));
  await settled();
  assert.deepEqual([calls.length, phases, told()], [2, 2, before], "a heartbeat");
  source.put(pod("p0", 1, 2, { phase: "running" }));
  await settled();
  assert.deepEqual([calls.length, phases, told()], [2, 3, before], "another field with the same value");
  assert.equal(view.getSnapshot(), first);
  source.put(pod("p0", 2));
  await settled();
  assert.deepEqual([calls.length, phases, told()], [3, 4, before + 1]);
  assert.deepEqual(view.rows[0], { key: "a/p0", ready: "2/2", phase: "RUNNING" });
  assert.equal(view.rows[1], first.rows[1]);
});

test("vd_03 rows are ordered and counted by what is derived, and none is shown before each was asked for", async (t) => {
  const { calls, ready } = readiness();
  const spec = { derive: { ready }, orderBy: [{ path: "ready", descending: true }], groupBy: "ready" };
  const { source, view } = await opened(t, [pod("p0", 1), pod("p1", 2), pod("p2", 0), { metadata: { namespace: "a", name: "p3" } }], spec);
  assert.deepEqual([keys(view), view.getSnapshot().loaded, calls.length], ["p1 p0 p2 p3", true, 4]);
  assert.deepEqual(
    [...view.counts],
    [
      ["", 1],
      ["0/2", 1],
      ["1/2", 1],
      ["2/2", 1],
    ],
  );
  assert.equal(view.rows[0].metadata.name, "p1", "rows are whole objects");
  source.put(pod("p2", 2));
  source.put(pod("p1", 2, 2, { beat: 1 }));
  await settled();
  assert.deepEqual([keys(view), calls.length, view.counts.get("2/2")], ["p1 p2 p0 p3", 5, 2]);
  assert.equal(view.rows[0].status.beat, 1);
});

test("vd_03 numbers are ordered as numbers, texts behind them, and what has no value last in both directions", async (t) => {
  const values = { a: 10, b: 9, c: "x", d: undefined, e: "10", f: null, g: -1.5, h: true };
  const value = ([name]) => values[name];
  const objects = Object.keys(values).map((name) => pod(name, 1));
  const derive = { mixed: { paths: ["metadata.name"], value } };
  const { resource, view } = await opened(t, objects, { derive, orderBy: [{ path: "mixed" }] });
  assert.equal(keys(view), "g b a e h c d f");
  const down = resource.view({ derive, orderBy: [{ path: "mixed", descending: true }] });
  const text = resource.view({ derive, orderBy: [{ path: "mixed", as: "number" }] });
  down.subscribe(() => {});
  text.subscribe(() => {});
  await settled();
  assert.equal(keys(down), "c h e a b g d f");
  assert.equal(keys(text), "g b a e c d f h", "as something they may not be");
});

test("vd_04 only rows of the window are asked for where rows show a column, and all of them where it orders", async (t) => {
  const objects = Array.from({ length: 300 }, (_, i) => pod(`p${1000 + i}`, i % 3));
  const shown = readiness();
  const window = { offset: 10, limit: 5 };
  const { resource, view, source } = await opened(t, objects, { derive: { ready: shown.ready }, select: { ready: "ready" }, window });
  assert.deepEqual([shown.calls.length, view.rows.map(({ ready }) => ready)], [5, ["1/2", "2/2", "0/2", "1/2", "2/2"]]);
  view.setWindow({ offset: 12, limit: 5 });
  await settled();
  assert.deepEqual([shown.calls.length, view.rows[4].ready], [7, "1/2"]);
  source.put(pod("p1200", 0));
  await settled();
  assert.equal(shown.calls.length, 7, "it is out of sight");
  const { calls, ready } = readiness();
  const ordered = resource.view({
    derive: { ready },
    orderBy: [{ path: "ready" }],
    select: { ready: "ready" },
    window: { offset: 0, limit: 2 },
  });
  ordered.subscribe(() => {});
  await until(() => ordered.getSnapshot().loaded);
  assert.deepEqual([calls.length, ordered.total, ordered.rows.map((row) => row.ready)], [300, 300, ["0/2", "0/2"]]);
  ordered.setWindow({ offset: 290, limit: 2 });
  await settled();
  assert.deepEqual([calls.length, ordered.rows.map((row) => row.ready)], [300, ["2/2", "2/2"]]);
});

test("vd_04 a function that takes long lets others have the thread between its calls", async (t) => {
  const objects = Array.from({ length: 20 }, (_, i) => pod(`p${i}`, i % 3));
  let [calls, longest, last] = [0, 0, 0];
  const value = () => {
    const until = performance.now() + 3;
    while (performance.now() < until);
    return calls++;
  };
  const timer = setInterval(() => ([longest, last] = [Math.max(longest, calls - last), calls]), 0);
  t.after(() => clearInterval(timer));
  const { view } = await opened(t, objects, { derive: { slow: { paths: ["metadata.name"], value } }, orderBy: [{ path: "slow" }] });
  while (!view.getSnapshot().loaded) await settled();
  assert.equal(calls, 20);
  assert.ok(longest <= 8, `${longest} calls at a stretch`);
});

test("vd_05 what throws, or gives what is no scalar, has no value, and is reported once by its column", async (t) => {
  const wrong = { a: {}, b: [1], c: () => 1, d: 5n, e: NaN, f: Infinity, g: Symbol("x"), h: "sound" };
  const objects = Object.keys(wrong).map((name) => pod(name, 1));
  const derive = {
    odd: { paths: ["metadata.name"], value: ([name]) => wrong[name] },
    thrown: {
      paths: ["metadata.name"],
      value: ([name]) => {
        throw new TypeError(`no ${name}`);
      },
    },
  };
  const orderBy = [{ path: "odd" }, { path: "thrown" }];
  const { source, view, errors } = await opened(t, objects, { derive, orderBy, select: { odd: "odd", thrown: "thrown" } });
  assert.equal(keys(view), "h a b c d e f g");
  assert.deepEqual(
    [view.rows[0], view.rows[1]],
    [
      { key: "a/h", odd: "sound", thrown: undefined },
      { key: "a/a", odd: undefined, thrown: undefined },
    ],
  );
  source.put(pod("i", 1));
  await settled();
  assert.deepEqual(errors.map(({ code, message, resource }) => [code, message, resource]).sort(), [
    [
      "invalid",
      "derive.odd gave an object for a/a, where it has no value now: return text, a finite number, true or false, or undefined where there is none",
      "pods",
    ],
    ["invalid", "derive.thrown threw for a/a, where it has no value now: return undefined yourself where there is none", "pods"],
  ]);
  assert.equal(errors.find(({ message }) => message.startsWith("derive.thrown")).cause.message, "no a");
  assert.equal(view.getSnapshot().error, undefined);
  // What was told once is not told again after a search.
  view.setSearch({ text: "a" });
  await settled();
  assert.equal(errors.length, 2);
});

test("vd_05 a promise is no value, and the snapshot says that the function cannot be async", async (t) => {
  for (const spec of [{ orderBy: [{ path: "late" }] }, { select: { late: "late" } }]) {
    const derive = { late: { paths: ["metadata.name"], value: async () => 1 } };
    const { view, errors } = await opened(t, [pod("p0", 1)], { derive, ...spec });
    await settled();
    const { error, keys } = view.getSnapshot();
    assert.deepEqual([error?.code, error?.message], ["invalid", "derive.late answers at once, not by a promise: it cannot be async"]);
    assert.deepEqual([keys, errors.length], [["a/p0"], 1]);
  }
});

test("vd_11 a promise for one object is that object's affair: it is told once, and a later version shows its value", async (t) => {
  for (const spec of [{ orderBy: [{ path: "late" }], select: { late: "late" } }, { select: { late: "late" } }]) {
    const value = ([phase]) => (phase === "odd" ? Promise.resolve(phase) : phase);
    const derive = { late: { paths: ["status.phase"], value } };
    const { source, view, errors } = await opened(t, [pod("p0", 1, 2, { phase: "odd" })], { derive, ...spec });
    const shows = () => Object.fromEntries(view.rows.map(({ key, late }) => [key, late]));
    assert.equal(view.getSnapshot().error?.message, "derive.late answers at once, not by a promise: it cannot be async");
    assert.deepEqual(shows(), { "a/p0": undefined });

    source.put(pod("p1", 1, 2, { phase: "odd" }));
    source.put(pod("p2", 1, 2, { phase: "sound" }));
    await settled();
    assert.deepEqual(shows(), { "a/p0": undefined, "a/p1": undefined, "a/p2": "sound" });
    assert.equal(view.getSnapshot().error, undefined, "it has answered at once, so it is not async");

    source.put(pod("p0", 1, 2, { phase: "better" }));
    source.put(pod("p2", 1, 2, { phase: "odd" }));
    await settled();
    assert.deepEqual(shows(), { "a/p0": "better", "a/p1": undefined, "a/p2": undefined });
    assert.deepEqual([view.getSnapshot().error, errors.length], [undefined, 1]);
  }
});

test("vd_11 an answer to one view ends the error of another that has the same function", async (t) => {
  for (const spec of [{ orderBy: [{ path: "late" }], select: { late: "late" } }, { select: { late: "late" } }]) {
    const value = ([phase]) => (phase === "odd" ? Promise.resolve(phase) : phase);
    const derive = { late: { paths: ["status.phase"], value } };
    const objects = [pod("p0", 1, 2, { phase: "odd" }), pod("p1", 1, 2, { phase: "sound" })];
    const { resource, view, told } = await opened(t, objects, { derive, ...spec, fieldSelector: "metadata.name=p0" });
    assert.equal(view.getSnapshot().error?.code, "invalid");
    const before = told();
    const other = resource.view({ derive, ...spec, fieldSelector: "metadata.name=p1" });
    other.subscribe(() => {});
    await settled();
    assert.deepEqual([other.rows[0].late, other.getSnapshot().error], ["sound", undefined]);
    assert.deepEqual([view.getSnapshot().error, told()], [undefined, before + 1]);
  }
});

test("vd_05 a text with half a pair of surrogates shows as what is read of it", async (t) => {
  const derive = { half: { paths: ["metadata.name"], value: () => "a\ud800b😀" } };
  const { view } = await opened(t, [pod("p0", 1)], { derive, orderBy: [{ path: "half" }], select: { half: "half" } });
  assert.equal(view.rows[0].half, "a\ufffdb😀");
});

test("vd_06 a function may read, search, close and subscribe, and harms nobody", async (t) => {
  for (const orderBy of [[], [{ path: "busy" }]]) {
    const reads = [];
    let act = () => {};
    const value = ([name]) => {
      reads.push(view.getSnapshot().keys.length);
      act();
      return name;
    };
    const derive = { busy: { paths: ["metadata.name"], value } };
    let view;
    const source = memorySource({ objects: [pod("p0", 1), pod("p1", 2)], kind: "Pod" });
    const cache = createWatchCache({ flush: "microtask" });
    t.after(() => cache.close());
    const resource = cache.resource({ source, id: "pods" });
    view = resource.view({ derive, orderBy, select: { busy: "busy" } });
    view.subscribe(() => {});
    await resource.synced();
    await settled();
    assert.deepEqual([keys(view), reads.length], ["p0 p1", 2], "it reads what was there before");

    let heard = 0;
    let second;
    act = () => {
      second ??= resource.view({ derive, orderBy, select: { busy: "busy" } });
      second.subscribe(() => heard++);
    };
    source.put(pod("p2", 0));
    await settled();
    assert.deepEqual([keys(view), keys(second)], ["p0 p1 p2", "p0 p1 p2"]);
    assert.ok(heard > 0);
    second.close();

    act = () => view.setSearch("p3");
    source.put(pod("p3", 0));
    await settled();
    assert.deepEqual([keys(view), [...view.rows]], ["p3", [{ key: "a/p3", busy: "p3" }]]);

    act = () => view.setWindow({ offset: 1, limit: 9 });
    view.setSearch("");
    await settled();
    assert.equal(keys(view), "p0 p1 p2 p3", "after a search nothing is called for them again");
    source.put(pod("p31", 0));
    await settled();
    assert.deepEqual(
      view.rows.map(({ busy }) => busy),
      ["p1", "p2", "p3", "p31"],
    );

    act = () => view.close();
    source.put(pod("p4", 0));
    await settled();
    act = () => {};
    // A later read goes on.
    void view.rows;
    await settled();
    assert.equal(view.rows.at(-1).busy, "p4");

    act = () => resource.close();
    view.subscribe(() => {});
    source.put(pod("p5", 0));
    await settled();
    assert.equal(view.getSnapshot().error.code, "closed");
  }
});

test("vd_06 a function that closes its view amid subscribe ends that subscription, and a later one hears all", async (t) => {
  const { source, resource } = await opened(t, [pod("p0", 1)], {});
  let close = () => {};
  const value = ([phase]) => {
    close();
    close = () => {};
    return phase;
  };
  const view = resource.view({ derive: { phase: { paths: ["status.phase"], value } }, select: { phase: "phase" } });
  const told = [0, 0, 0];
  close = () => view.close();
  view.subscribe(() => told[0]++);
  source.put(pod("p1", 1));
  await settled();
  assert.equal(told[0], 0, "it has ended");
  view.subscribe(() => told[1]++);
  await until(() => view.total === 2);
  source.put(pod("p2", 1));
  await until(() => view.total === 3);
  assert.ok(told[1] > 0);
  assert.equal((await view.keys()).length, 3);
  view.close();

  // The same for `keys`, and for a signal that is aborted then.
  const other = (change) => {
    close = change;
    return resource.view({
      derive: { phase: { paths: ["status.phase"], value: ([phase]) => value([phase]) } },
      select: { phase: "phase" },
    });
  };
  const asked = other(() => asked.close());
  await assert.rejects(asked.keys(), { code: "closed" });
  const controller = new AbortController();
  const aborted = other(() => controller.abort());
  aborted.subscribe(() => told[2]++, { signal: controller.signal });
  await until(() => aborted.total === 3);
  source.put(pod("p3", 1));
  await until(() => aborted.total === 4);
  assert.equal(told[2], 0);
});

test("vd_07 what is told is counted as memory, and goes with its object", async (t) => {
  const objects = Array.from({ length: 200 }, (_, i) => pod(`p${1000 + i}`, i % 3));
  const value = ([name]) => name + "x".repeat(1000);
  const derive = { long: { paths: ["metadata.name"], value } };
  const { source, cache, view } = await opened(t, objects, { derive, groupBy: "long", window: { offset: 0, limit: 0 } });
  const before = cache.stats().resources[0].bytes;
  assert.ok(before > 200 * 1000);
  for (const { metadata } of objects) source.remove(`a/${metadata.name}`);
  while (view.total > 0) await settled();
  const after = cache.stats().resources[0].bytes;
  assert.ok(before - after > 150 * 1000, `${before} bytes, then ${after}`);
});

test("vd_12 values outlive a search: setSearch calls no function for fields that it was called for", async (t) => {
  const objects = Array.from({ length: 300 }, (_, i) => pod(`p${1000 + i}`, i % 3));
  const window = { offset: 0, limit: 5 };
  for (const shape of [{ orderBy: [{ path: "ready" }], window }, { orderBy: [{ path: "ready" }] }, {}]) {
    const { calls, ready } = readiness();
    const { source, resource, view } = await opened(t, objects, { derive: { ready }, select: { ready: "ready" }, ...shape });
    await until(() => view.rows.length > 0);
    assert.equal(calls.length, 300);
    const { bytes } = resource.stats();
    for (const text of ["p10", "p101", "no such", "", "p12", "p1", ""]) {
      view.setSearch(text);
      const found = objects.filter(({ metadata }) => `a/${metadata.name}`.includes(text));
      await until(() => view.getSnapshot().loaded && view.total === found.length);
      const all = await view.keys();
      assert.deepEqual([...all].sort(), found.map(({ metadata }) => `a/${metadata.name}`).sort());
      for (const { key, ready } of view.rows) assert.equal(ready, `${(key.slice(-4) % 1000) % 3}/2`);
    }
    assert.equal(calls.length, 300, "whatever was searched");
    assert.ok(Math.abs(resource.stats().bytes - bytes) < bytes / 10, `${bytes} bytes, then ${resource.stats().bytes}`);

    // What changes while it is not found is asked for when it is: once where its own fields differ, and else never.
    view.setSearch("p10");
    await until(() => view.getSnapshot().loaded && view.total === 100);
    source.put(pod("p1200", 1));
    source.put(pod("p1201", 0, 2, { beat: 1 }));
    source.remove("a/p1202");
    await settled();
    assert.equal(calls.length, 300);
    view.setSearch("");
    await until(() => view.getSnapshot().loaded && view.total === 299);
    assert.equal(calls.length, 301);
    source.put(pod("p1202", 1));
    await until(() => view.total === 300);
    await settled();
    assert.equal(calls.length, 302, "another object of that name");
    view.close();
    await settled();
  }
});

test("vd_12 a search that is set while another handle stays calls no function either", async (t) => {
  const { calls, ready } = readiness();
  const spec = { derive: { ready }, orderBy: [{ path: "ready" }], select: { ready: "ready" } };
  const { source, resource, view } = await opened(t, [pod("p0", 1), pod("p1", 0), pod("q0", 2)], spec);
  const other = resource.view(spec);
  other.subscribe(() => {});
  view.setSearch("q");
  await until(() => keys(view) === "q0");
  source.put(pod("q0", 0));
  await until(() => view.rows[0].ready === "0/2" && keys(other) === "p1 q0 p0");
  const before = calls.length;
  view.setSearch("");
  await until(() => keys(view) === "p1 q0 p0");
  view.setSearch("p");
  await until(() => keys(view) === "p1 p0");
  assert.deepEqual([before, calls.length], [5, 5], "each of two views is told of a change");
});

test("vd_12 another order, selector or grouping calls no function while a view of the same columns is there, and is loaded at once", async (t) => {
  const { calls, ready } = readiness();
  const objects = Array.from({ length: 300 }, (_, i) => pod(`p${1000 + i}`, i % 3));
  const spec = { derive: { ready }, select: { ready: "ready" } };
  // This one asks for what it shows alone.
  const { resource } = await opened(t, objects, { ...spec, window: { offset: 0, limit: 5 } });
  const all = resource.view({ ...spec, orderBy: [{ path: "ready" }] });
  all.subscribe(() => {});
  await until(() => all.getSnapshot().loaded && all.total === 300);
  assert.equal(calls.length, 300, "each object once, for both");
  const shapes = [
    { orderBy: [{ path: "ready", descending: true }] },
    { orderBy: [{ path: "ready" }], fieldSelector: "metadata.name!=p1000" },
    { groupBy: "ready" },
  ];
  // The clock stands still: on a busy machine the time of the first slice would be over before all rows are found.
  const now = performance.now();
  const clock = t.mock.method(performance, "now", () => now);
  for (const shape of shapes) {
    const { loaded, total, counts } = resource.view({ ...spec, ...shape }).getSnapshot();
    assert.deepEqual([loaded, total], [true, shape.fieldSelector ? 299 : 300]);
    if (shape.groupBy) assert.deepEqual(Object.fromEntries(counts), { "0/2": 100, "1/2": 100, "2/2": 100 });
  }
  clock.mock.restore();
  assert.deepEqual(resource.view({ ...spec, orderBy: [{ path: "ready", descending: true }] }).rows[0].ready, "2/2");
  assert.equal(calls.length, 300, "of nothing that was told already");
});

test("vd_08 views of the same functions share their work, and a path of a column's name is written with a dollar", async (t) => {
  const { calls, ready } = readiness();
  const spec = { derive: { ready }, orderBy: [{ path: "ready" }] };
  const { resource, view } = await opened(t, [pod("p0", 1), pod("p1", 0)], spec);
  const other = resource.view({ derive: { ready: { ...ready } }, orderBy: [{ path: "ready" }] });
  other.subscribe(() => {});
  await settled();
  assert.deepEqual([keys(view), keys(other), calls.length], ["p1 p0", "p1 p0", 2]);
  const metadata = { paths: ["metadata.name"], value: ([name]) => `derived ${name}` };
  const select = { path: "$.metadata", derived: "metadata" };
  const orderBy = [{ path: "$.metadata" }, { path: "metadata", descending: true }];
  const both = resource.view({ derive: { metadata }, select, orderBy });
  both.subscribe(() => {});
  await settled();
  assert.deepEqual(
    both.rows.map(({ path, derived }) => [path.name, derived]),
    [
      ["p1", "derived p1"],
      ["p0", "derived p0"],
    ],
  );
});

test("vd_08 what is no column is invalid, by name", async (t) => {
  const { resource } = await opened(t, [pod("p0", 1)], {});
  const value = () => 1;
  for (const [derive, message] of [
    [[], "derive is an object, not an array"],
    [new Map(), "derive is a plain object, with a member for each name, not one of the class Map"],
    [new Map([["ready", { paths: ["a"], value }]]), "derive is a plain object, with a member for each name, not one of the class Map"],
    [new (class Columns {})(), "derive is a plain object, with a member for each name, not one of the class Columns"],
    [new Date(), /^derive is a plain object/],
    [() => {}, "derive is an object, not a function"],
    [{ ready: 5 }, "derive.ready is an object, not 5"],
    [{ ready: { value } }, "derive.ready.paths is missing"],
    [{ ready: { paths: ["a"] } }, "derive.ready.value is missing"],
    [{ ready: { paths: [], value } }, "derive.ready.paths names no field: the function is called where one of these is another"],
    [{ ready: { paths: "a", value } }, "derive.ready.paths is an array, not text"],
    [{ ready: { paths: ["a["], value } }, /^derive\.ready\.paths\[0\]: /],
    [{ ready: { paths: ["a"], value: "a" } }, "derive.ready.value is a function, not text"],
    [{ ready: { paths: ["a"], value, path: "b" } }, /^derive\.ready\.path is no option of derive\.ready/],
    [
      { "a.b": { paths: ["a"], value } },
      "derive.a.b: the name of a column has letters, digits, _ and - alone, because it stands where a path may",
    ],
  ]) {
    assert.throws(() => resource.view({ derive }), { code: "invalid", message }, JSON.stringify(derive));
  }
});

test("vd_09 a column's name where paths are read is invalid, and says where columns have their place", async (t) => {
  const { ready } = readiness();
  const { resource, view } = await opened(t, [pod("p0", 1)], { derive: { ready }, select: { ready: "ready" } });
  const said = (option) =>
    `${option} names the column ready: a column has its place in select, orderBy and groupBy; name the paths that derive.ready reads, ` +
    "or write $.ready for the field of that name";
  const other = { paths: ["status.phase", "ready"], value: () => 1 };
  const specs = [
    [{ derive: { ready }, fieldSelector: "status.phase=Running,ready!=1/2" }, "fieldSelector"],
    [{ derive: { ready }, search: { text: "1/2", paths: ["metadata.name", "ready"] } }, "search.paths"],
    [{ derive: { ready }, search: { text: " ", paths: ["ready"] } }, "search.paths"],
    [{ derive: { ready, other } }, "derive.other.paths"],
  ];
  for (const [spec, option] of specs) {
    const error = { code: "invalid", message: said(option), resource: "pods" };
    assert.throws(() => resource.view(spec), error, option);
  }
  assert.throws(() => view.setSearch({ text: "1/2", paths: ["ready"] }), { code: "invalid", message: said("search.paths") });
  assert.throws(() => view.setSearch({ text: "", paths: ["ready"] }), { code: "invalid" });
  assert.deepEqual([...view.rows], [{ key: "a/p0", ready: "1/2" }], "it stays as it was");
  const own = resource.view({
    derive: { ready: { paths: ["ready", "$.ready"], value: (fields) => fields.join() } },
    select: { ready: "ready" },
    fieldSelector: "$.ready!=x,metadata.name=p0",
    search: { text: "p", paths: ["metadata.name", "$.ready"] },
  });
  own.subscribe(() => {});
  await settled();
  assert.deepEqual([...own.rows], [{ key: "a/p0", ready: "," }], "a field of that name");
});

test("vd_10 a name that is nearly a column's is warned of once where that is wanted, and what is meant never", async (t) => {
  const { ready } = readiness();
  const warnings = [];
  const logger = { debug() {}, info() {}, warn: (message) => warnings.push(message), error() {} };
  const said = (option, entry) =>
    `watchcache: a view of pods: ${option} names the field ${entry}: did you mean the column ready? Write $.${entry} for the field`;
  const spec = { derive: { ready, phase: { paths: ["status.phase"], value: ([phase]) => phase } }, window: { offset: 0, limit: 5 } };
  const { resource } = await opened(t, [pod("p0", 1)], {}, { debug: true, logger });
  for (const [entry, is] of [
    ["Ready", true],
    ["redy", true],
    ["readyy", true],
    ["reads", true],
    ["read", true],
    ["steady", false],
    ["raedy", false],
    ["$.redy", false],
    ["status.ready", false],
    ["ready", false],
    ["spec", false],
  ]) {
    for (const [option, of] of [
      ["select", { select: { a: "metadata.name", b: entry } }],
      ["orderBy", { orderBy: [{ path: "phase" }, { path: entry }] }],
      ["groupBy", { groupBy: entry }],
    ]) {
      for (let again = 0; again < 3; again++) resource.view({ ...spec, ...of });
      assert.deepEqual(warnings.splice(0), is ? [said(option, entry)] : [], `${option} ${entry}`);
    }
  }
  const column = { paths: ["metadata.creationTimestamp"], value: ([time]) => time };
  resource.view({ derive: { date: column, to: column }, select: { data: "data", date: "date", t: "t" } });
  assert.deepEqual(warnings, [], "both are meant, and two letters are too few to tell");
  resource.view({ derive: { to: column }, select: { t: "TO" } });
  assert.equal(warnings.splice(0).length, 1, "the case alone differs");
  const silent = createWatchCache({ logger });
  t.after(() => silent.close());
  silent.resource({ source: memorySource({ kind: "Pod" }), id: "pods" }).view({ derive: { ready }, groupBy: "redy" });
  assert.deepEqual(warnings, [], "without debug");
});
