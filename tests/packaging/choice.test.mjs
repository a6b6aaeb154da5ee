// Who of the matrix runs when.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bundlers, runners } from "./matrix/apps.mjs";
import { choose, turnNow } from "./matrix/choice.mjs";

const kinds = [Object.keys(bundlers), Object.keys(runners)];

test("a run takes one bundler and one runner, and in turn each has its run", () => {
  const seen = new Set();
  for (let turn = 1_000; turn < 1_000 + kinds[0].length; turn++) {
    const [bundler, runner, ...more] = choose(kinds, undefined, turn);
    assert.deepEqual([kinds[0].includes(bundler), kinds[1].includes(runner), more], [true, true, []]);
    seen.add(bundler).add(runner);
  }
  assert.deepEqual([...seen].sort(), kinds.flat().sort());
  assert.ok(Number.isSafeInteger(turnNow()) && turnNow() > 0);
});

test("MATRIX selects all, or by name, and knows its names", () => {
  assert.deepEqual(choose(kinds, "all", 0), kinds.flat());
  assert.deepEqual(choose(kinds, "jest,vite7", 0), ["jest", "vite7"]);
  assert.throws(() => choose(kinds, "vite6", 0), /MATRIX names vite6: choose from all, vite7/);
});
