// A run takes a part of each matrix. Here it is held that no part is left out for ever.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SHARES } from "../../scripts/lib/browser-suites.mjs";
import { filesUnder } from "../../scripts/lib/hash.mjs";
import { WAYS } from "../e2e/turn.mjs";
import { shareOf } from "../servers/shares.mjs";

const files = filesUnder(["tests/servers"], (path) => path.endsWith(".test.mjs"));
const TURNS = [0, 1, 2];

test("three turns take every file against real servers once", () => {
  const taken = TURNS.flatMap((turn) => shareOf(files, turn).files);
  assert.deepEqual(taken.toSorted(), files.toSorted());
});

test("a suite that goes one way is in the share of the turn in which it is gone", () => {
  for (const [way, file] of Object.entries({
    "relay, real": "tests/servers/relay.scenarios.test.mjs",
    "worker, real": "tests/servers/kube-apiserver.shared.test.mjs",
  })) {
    assert.ok(shareOf(files, WAYS.indexOf(way)).files.includes(file), `${file} would never run`);
  }
  assert.equal(WAYS.length, TURNS.length);
});

test("the shares of an engine have every file of the browser suites once", () => {
  const suites = filesUnder(["tests/browser", "tests/page", "tests/react/hooks.test.mjs"], (path) => path.endsWith(".test.mjs"));
  const taken = Object.values(SHARES).flatMap((filesOf) => filesOf());
  assert.deepEqual(taken.toSorted(), suites.toSorted());
});

test("a file of no share is told", () => {
  assert.throws(() => shareOf([...files, "tests/servers/new.test.mjs"], 0), /not in one share .*: tests\/servers\/new\.test\.mjs\./);
});
