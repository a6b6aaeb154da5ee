// How columns that rows only show are computed: some at a time, between which the page has its turn.
import assert from "node:assert/strict";
import { test } from "node:test";

import { opened, pod, settled, until } from "./lib/columns.mjs";

test("vd_13 rows that show a column are asked for some at a time, and shown when all of them are told", async (t) => {
  // The clock goes on by a tenth of a millisecond with each call, whatever the machine does.
  const now = performance.now.bind(performance);
  let [calls, longest, turns, began] = [0, 0, 0, undefined];
  performance.now = () => now() + calls / 10;
  t.after(() => (performance.now = now));
  const value = ([name]) => {
    if (began === undefined) {
      began = calls;
      setTimeout(() => ([longest, turns, began] = [Math.max(longest, calls - began), turns + 1, undefined]), 0);
    }
    calls++;
    return name.toUpperCase();
  };
  const objects = Array.from({ length: 2000 }, (_, i) => pod(`p${1000 + i}`, 1));
  const spec = { derive: { name: { paths: ["metadata.name"], value } }, select: { name: "name" } };
  const { source, resource } = await opened(t, objects, {});
  const view = resource.view(spec);
  let lacking = 0;
  view.subscribe(() => (lacking += view.rows.filter(({ name }) => name === undefined).length));
  await until(() => view.rows.length === 2000);
  assert.deepEqual([lacking, calls, view.rows[7].name, view.getSnapshot().loaded], [0, 2000, "P1007", true]);
  assert.ok(longest <= 62 && turns >= 2000 / 62, `${longest} calls in one of ${turns} turns`);

  for (let i = 0; i < 100; i++) source.put(pod(`q${100 + i}`, 1));
  await until(() => view.rows.length === 2100);
  assert.deepEqual([lacking, calls, view.rows.at(-1).name], [0, 2100, "Q199"]);

  // Whoever only reads now and then has it go on between two reads.
  [calls, longest] = [0, 0];
  const other = resource.view({ ...spec, derive: { name: { ...spec.derive.name, paths: ["metadata.name", "status.phase"] } } });
  assert.deepEqual([other.rows.length, other.getSnapshot().loaded], [0, false]);
  assert.ok(calls <= 62, `${calls} calls in two reads`);
  await until(() => calls === 2100);
  await settled();
  assert.equal(other.rows.length, 2100);
  assert.ok(longest <= 62, `${longest} calls in a turn`);
});

test("vd_13 a turn answers for milliseconds after its question, however long that took", async (t) => {
  // A question takes seven milliseconds, and a call nothing.
  const { now } = performance;
  const { parse } = JSON;
  let [time, questions] = [0, 0];
  performance.now = () => time;
  JSON.parse = (text, ...more) => {
    if (/^\[\[0,"a\/p/.test(text)) {
      time += 7;
      questions++;
    }
    return parse(text, ...more);
  };
  t.after(() => {
    performance.now = now;
    JSON.parse = parse;
  });
  const objects = Array.from({ length: 640 }, (_, i) => pod(`p${1000 + i}`, 1));
  const derive = { name: { paths: ["metadata.name"], value: ([name]) => name.toUpperCase() } };
  for (const spec of [{ select: { name: "name" } }, { orderBy: [{ path: "name" }] }]) {
    questions = 0;
    const { view } = await opened(t, objects, { derive, ...spec });
    await until(() => view.rows.length === 640);
    // The first of a turn is answered for all that it asks, a second for one.
    assert.ok(questions >= 10 && questions <= 20, `${questions} questions`);
    view.close();
  }
});

test("vd_13 error and stale are told while rows wait for their columns", async (t) => {
  const now = performance.now.bind(performance);
  let calls = 0;
  performance.now = () => now() + calls * 10;
  t.after(() => (performance.now = now));
  const value = ([name]) => (calls++, name);
  const spec = { derive: { name: { paths: ["metadata.name"], value } }, select: { name: "name" } };
  const { source, resource, view } = await opened(t, [pod("p0", 1)], spec);
  await until(() => view.rows.length === 1);
  const { rows } = view;
  const heard = [];
  view.subscribe(() => heard.push([view.getSnapshot(), calls]));
  for (let i = 0; i < 400; i++) source.put(pod(`q${100 + i}`, 1));
  await until(() => calls > 5);
  source.fail({ code: 403, reason: "Forbidden" });
  source.drop();
  await until(() => resource.status.phase === "failed" && heard.length > 0);
  const failed = heard.find(([{ error }]) => error !== undefined);
  assert.ok(failed[1] < 400, `rows wait still after ${failed[1]} calls`);
  const { error, stale, loaded, total, rows: held } = failed[0];
  assert.deepEqual([error.code, stale, loaded, total, held.length], ["forbidden", true, true, 1, 1]);
  assert.equal(held, rows);
  await until(() => view.rows.length === 401);
  assert.deepEqual([calls, view.getSnapshot().error.code, view.total], [401, "forbidden", 401]);
});

test("vd_13 after another search, loaded is false until its rows have their columns", async (t) => {
  const now = performance.now.bind(performance);
  let calls = 0;
  performance.now = () => now() + calls * 10;
  t.after(() => (performance.now = now));
  const value = ([name]) => (calls++, name);
  const derive = { name: { paths: ["metadata.name"], value } };
  const objects = [pod("p0", 1), ...Array.from({ length: 100 }, (_, i) => pod(`q${100 + i}`, 1))];
  const search = { text: "p0", paths: ["metadata.name"] };
  const { view } = await opened(t, objects, { derive, select: { name: "name" }, search });
  await until(() => view.rows.length === 1 && view.getSnapshot().loaded);
  const heard = [];
  view.subscribe(() => heard.push(view.getSnapshot()));

  view.setSearch({ ...search, text: "q" });
  await until(() => view.rows.length === 100);
  assert.equal(calls, 101);
  // The rows of the search before are shown as what they are, not as what is found.
  assert.deepEqual(
    heard.map(({ rows, loaded }) => [rows.length, loaded]),
    [
      [1, false],
      [100, true],
    ],
  );
});
