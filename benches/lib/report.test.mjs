// The reports of the benchmarks also show bad news.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { disagreements, perUnit, quantile, ratioOf, ratioTable, table, timeRow } from "./report.mjs";
import { differentPods } from "../page/different-pods.js";
import { ROWS } from "../rows/index.mjs";
import { root } from "../../scripts/lib/project.mjs";

const harness = (checksum) => ({ ms: [10, 30, 20], cpuMs: [8, 9, 7], checksum });

test("a harness that did other work is named, and so is one that proves nothing", () => {
  assert.deepEqual(disagreements({ harnesses: { ours: harness("a"), theirs: harness("a") } }, "row"), []);
  assert.deepEqual(disagreements({ harnesses: { ours: harness("a"), theirs: harness("b") } }, "row"), ["row: ours gave a, theirs gave b"]);
  assert.equal(disagreements({ harnesses: { ours: harness(undefined), theirs: harness(undefined) } }, "row").length, 1);
  const alike = [["ours"], ["theirs"]];
  assert.deepEqual(disagreements({ alike, harnesses: { ours: harness("a"), theirs: harness("b") } }, "row"), [], "who is not to agree");
});

test("a unit's time is the median round's", () => {
  const { clock, cpu } = perUnit({ units: 10, harnesses: { ours: harness("a") } }, "ours");
  assert.deepEqual({ clock, cpu }, { clock: 2_000, cpu: 800 });
});

test("a ratio is that of the median round: a machine that is slow for some of them is no part of it", () => {
  // Both are half as quick in other rounds than the median of each.
  const scenario = { units: 1, harnesses: { ours: { ms: [1, 2, 1, 2, 2] }, theirs: { ms: [2, 4, 2, 4, 2] } } };
  const [ours, theirs] = ["ours", "theirs"].map((name) => perUnit(scenario, name));
  const { ratio, cpuRatio, ...told } = timeRow("it", "peer", ours, theirs);
  assert.deepEqual([told.ours, told.theirs, ratio, cpuRatio], [2_000, 2_000, 0.5, undefined]);
  assert.equal(ratioOf([1, 2, 9], [2, 8]), 0.375, "rounds in which only one took part say nothing");
  assert.equal(timeRow("it", "peer", { clock: 3 }, { clock: 6 }).ratio, 0.5, "differences of runs have no rounds");
});

test("a part of the values lies below a quantile, between two of them if need be", () => {
  assert.deepEqual(
    [0, 0.25, 0.5, 0.75, 1].map((part) => quantile([5, 1, 3, 2], part)),
    [1, 1.75, 2.5, 3.5, 5],
  );
  assert.equal(quantile([7], 0.25), 7);
});

test("the table marks what is lost", () => {
  const row = (ours, theirs, goal) => ratioTable([timeRow("it", "peer", { clock: ours, cpu: ours }, { clock: theirs, cpu: theirs }, goal)]);
  assert.match(row(10, 100, { ratio: "1/5" }), /\| +0\.1 \| .*≤ 1\/5: met \|$/);
  assert.match(row(30, 100, { ratio: "1/5" }), /\| +0\.3 \| .*≤ 1\/5: missed \|$/);
  assert.match(row(150, 100), /\| +\*\*1\.5\*\* \|/);
  assert.match(row(10, 100, { ratio: "1/5", ours: [5, "5 µs"] }), /≤ 1\/5, ≤ 5 µs: missed \|$/, "all of a goal counts");
  assert.match(row(10, 100, { ratio: "1/5", cpu: "1/20" }), /≤ 1\/5, ≤ 1\/20 of CPU time: missed \|$/, "processor time as well");
  assert.match(row(10, 100, { ratio: "1/5", cpu: "1/5" }), /of CPU time: met \|$/);
  assert.match(row(-1, 100, { ratio: "1/5" }), /missed \|$/, "no ratio, no goal met");
});

test("a table has room for numbers, and for a column in which nothing stands", () => {
  assert.equal(table(["what", "is", ""], [["it", 1234, ""]]), "| what |    is |   |\n| ---- | ----: | : |\n| it   | 1,234 |   |");
});

test("different pods differ, and are the same each time", () => {
  const realPod = JSON.parse(readFileSync(join(root, "tests/data/pod.json"), "utf8"));
  const [text, again] = [differentPods(realPod), differentPods(realPod)];
  const pods = Array.from({ length: 200 }, (_, i) => JSON.parse(text(i, 7)));
  assert.equal(text(123, 7, 4), again(123, 7, 4));
  assert.equal(new Set(pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).size, 200, "names");
  assert.equal(new Set(pods.map(({ metadata }) => metadata.uid)).size, 200, "uids");
  assert.equal(new Set(pods.map(({ metadata }) => metadata.ownerReferences[0].uid)).size, 5, "a workload has 40 pods");
  assert.ok(pods.every(({ metadata }) => metadata.resourceVersion === "7" && metadata.name.startsWith(metadata.generateName)));
  assert.notEqual(text(5, 7, 1), text(5, 7, 2), "heartbeats show");
  const bytes = Buffer.byteLength(text(0, 332_939));
  assert.ok(Math.abs(bytes - JSON.stringify(realPod).length) < 100, `as large as the real pod: ${bytes}`);
});

test("every row has a name of its own and says what it did", () => {
  assert.equal(new Set(ROWS.map(({ name }) => name)).size, ROWS.length);
  for (const row of ROWS)
    for (const part of ["measure", "scenarios", "lines"]) assert.equal(typeof row[part], "function", `${row.name}.${part}`);
});
