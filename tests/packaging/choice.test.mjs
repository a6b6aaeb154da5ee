// Who of the matrix runs when.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bundlers, hosts, runners } from "./matrix/apps.mjs";
import { turnNow } from "../../scripts/lib/turn.mjs";
import { choose } from "./matrix/choice.mjs";

const kinds = [bundlers, runners, hosts].map((apps) => Object.keys(apps));

test("a run takes one of each kind, and in turn each has its run", () => {
  const seen = new Set();
  for (let turn = 1_000; turn < 1_000 + Math.max(...kinds.map((names) => names.length)); turn++) {
    const chosen = choose(kinds, undefined, turn);
    assert.equal(chosen.length, kinds.length);
    chosen.forEach((name, kind) => assert.ok(kinds[kind].includes(name), name));
    for (const name of chosen) seen.add(name);
  }
  assert.deepEqual([...seen].sort(), kinds.flat().sort());
});

test("each commit has the next turn, and always the same; without a history it is the day's", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "turns-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const git = (...args) => execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.com", ...args]);
  const commit = () => git("commit", "--quiet", "--allow-empty", "--message", "another");
  git("init", "--quiet");
  const today = () => Math.floor(Date.now() / 86_400_000);
  const before = today();
  const turn = turnNow(folder);
  assert.ok(turn >= before && turn <= today());
  for (const expected of [1, 2, 3]) {
    commit();
    assert.deepEqual([turnNow(folder), turnNow(folder)], [expected, expected]);
  }
  git("clone", "--quiet", "--depth", "1", `file://${folder}`, join(folder, "shallow"));
  assert.ok(turnNow(join(folder, "shallow")) >= before);
});

test("MATRIX selects all, or by name, and knows its names", () => {
  assert.deepEqual(choose(kinds, "all", 0), kinds.flat());
  assert.deepEqual(choose(kinds, "jest,vite7", 0), ["jest", "vite7"]);
  assert.throws(() => choose(kinds, "vite6", 0), /MATRIX names vite6: choose from all, vite7/);
});
