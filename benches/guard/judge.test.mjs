// What the guard lets pass, what it fails, and what it records.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, judge, judgeGrowth } from "./judge.mjs";
import { sentenceOf, machine, node } from "../../tests/setup/harness.mjs";

const figure = (kind, value) => ({ kind, unit: "units", value });
const recorded = {
  compiler: "rustc 1",
  figures: {
    "instructions-scan": { ...figure("instructions", 1000), reason: "first", date: "2026-01-01" },
    "held-pod": { ...figure("held", 500), reason: "first", date: "2026-01-01" },
  },
};
const measured = (scan, pod, compiler = "rustc 1") => ({
  compiler,
  figures: { "instructions-scan": figure("instructions", scan), "held-pod": figure("held", pod) },
});

test("what stays within 5 % passes, up and down", () => {
  for (const [scan, pod] of [
    [1000, 500],
    [1050, 475],
    [950, 525],
  ]) {
    assert.deepEqual(judge(recorded, measured(scan, pod)).failed, []);
  }
});

test("what changes by more fails, whether it is worse or better", () => {
  assert.deepEqual(judge(recorded, measured(1051, 500)).failed, ["instructions-scan: 1051 units instead of 1000"]);
  assert.deepEqual(judge(recorded, measured(1000, 474)).failed, ["held-pod: 474 units instead of 500"]);
  assert.equal(judge(recorded, measured(NaN, 500)).failed.length, 1, "what was not counted is no figure");
});

test("a figure that is new, or gone, fails", () => {
  const more = measured(1000, 500);
  more.figures["size-wasm"] = figure("size", 1);
  assert.deepEqual(judge(recorded, more).failed, ["size-wasm is not recorded yet"]);
  const less = measured(1000, 500);
  delete less.figures["held-pod"];
  assert.deepEqual(judge(recorded, less).failed, ["held-pod is recorded but no longer measured"]);
});

test("another compiler is said, and excuses what it changes and nothing else", () => {
  const { failed, said, lines } = judge(recorded, measured(2000, 600, "rustc 2"));
  assert.deepEqual(failed, ["held-pod: 600 units instead of 500"]);
  assert.match(said[0], /recorded with rustc 1; this is rustc 2/);
  assert.deepEqual(lines[0].slice(-2), ["+100.0 %", "another compiler"]);
});

test("what is accepted is written down with its reason; small changes keep the old figure, so that they cannot add up", () => {
  const { compiler, figures } = accept(recorded, measured(1040, 600), "pods hold more", "2026-02-02");
  assert.equal(compiler, "rustc 1");
  assert.deepEqual(figures["instructions-scan"], recorded.figures["instructions-scan"]);
  assert.deepEqual(figures["held-pod"], { kind: "held", unit: "units", value: 600, reason: "pods hold more", date: "2026-02-02" });
  const other = accept(recorded, measured(1001, 500, "rustc 2"), "a new compiler", "2026-02-02");
  assert.equal(other.figures["instructions-scan"].value, 1001);
  assert.equal(other.figures["held-pod"].reason, "first");
});

test("a path that grows faster than its input fails, and so does one that costs more than its peer allows", () => {
  const path = (once, twice, peer) => ({ name: "path", size: 10, once, twice, peer });
  assert.deepEqual(judgeGrowth([path(100, 200), path(100, 220, 220), path(100, 250)]).failed, []);
  assert.deepEqual(judgeGrowth([path(100, 400)]).failed, ["path: 4.00 times the work at twice the size 10"]);
  assert.deepEqual(judgeGrowth([path(100, 200, 100)]).failed, ["path: 2.00 times the work of serde_json"]);
});

test("no valgrind is one sentence with the remedy", (t) => {
  const { env } = machine(t, { links: ["node"] });
  assert.match(sentenceOf(node(["benches/guard.mjs"], env)), /^valgrind was not found: install it with your system's package manager/);
});

test("a reason has to be given", (t) => {
  const { env } = machine(t, { links: ["node"] });
  assert.match(sentenceOf(node(["benches/guard.mjs", "--accept"], env)), /^--accept needs the reason in quotes/);
  assert.match(sentenceOf(node(["benches/guard.mjs", "--why"], env)), /^--why is no option of the guard/);
});
