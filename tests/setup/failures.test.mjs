// What `npm test` says at its end of what failed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { failuresOf, lastLines, nodeFailures } from "../../scripts/lib/failures.mjs";
import { summary } from "../../scripts/lib/summary.mjs";

const OUTPUT = `test a ... ok
test b ... FAILED
test c ... FAILED

failures:

---- b stdout ----
thread 'b' panicked at tests/laws/runner.rs:97:9:
WATCHCACHE_SEED=7 finds it again
stack backtrace:
   0: rust_begin_unwind

---- c stdout ----
left: 1

failures:
    b
    c

test result: FAILED. 1 passed; 2 failed
error: test failed, to rerun pass \`--test laws\`
     Running tests/flat.rs
error: test failed, to rerun pass \`--test flat\`

Caused by:
  process didn't exit successfully: \`flat\` (signal: 6, SIGABRT: process abort signal)
`;

const TOLD = `---- b stdout ----
thread 'b' panicked at tests/laws/runner.rs:97:9:
WATCHCACHE_SEED=7 finds it again

---- c stdout ----
left: 1

test b ... FAILED
test c ... FAILED
error: test failed, to rerun pass \`--test laws\`
error: test failed, to rerun pass \`--test flat\`
  process didn't exit successfully: \`flat\` (signal: 6, SIGABRT: process abort signal)`;

test("each failed test is told with its words, a process that died with its signal, and none that passed", () => {
  assert.equal(failuresOf(OUTPUT), TOLD);
  assert.equal(failuresOf("test a ... ok\n\ntest result: ok. 1 passed\n"), "");
  assert.equal(failuresOf("error[E0308]: mismatched types\n --> src/lib.rs\n"), "error[E0308]: mismatched types");
});

const TAP = `# Subtest: good
ok 1 - good
  ---
  duration_ms: 1
  ...
# Subtest: s
    # Subtest: inner
    not ok 1 - inner
      ---
      error: |-
        x
        ---
        ...
        y
      stack: |-
        s.test.mjs:2
      ...
    1..1
not ok 2 - s
  ---
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
# Subtest: bare
not ok 3 - bare
ok 4 - fine
  ---
  duration_ms: 1
  ...
not ok 5 - hooked
  ---
  failureType: 'hookFailed'
  error: 'in after'
  ...
1..5
`;

const TOLD_OF_TAP = `    not ok 1 - inner
      ---
      error: |-
        x
        ---
        ...
        y
      stack: |-
        s.test.mjs:2
      ...
not ok 3 - bare
not ok 5 - hooked
  ---
  failureType: 'hookFailed'
  error: 'in after'
  ...`;

test("each failed test of Node is told with its error, once, and none that passed", () => {
  assert.equal(nodeFailures(TAP), TOLD_OF_TAP);
  assert.equal(nodeFailures("ok 1 - good\n1..1\n"), "");
});

test("of a runner whose words are not known, the last lines are told", () => {
  assert.equal(lastLines("a\nb\nc\n\n", 2), "b\nc");
});

test("the summary ends with what failed, of failed steps alone", async (t) => {
  const lines = [];
  t.mock.method(console, "log", (line) => lines.push(line));
  const failed = await summary([
    { title: "red", run: async () => ({ code: 101, details: "the words" }) },
    { title: "green", run: async () => ({ code: 0, details: "nothing of this" }) },
  ]);
  assert.equal(failed, 1);
  assert.match(lines.at(-1), /FAILED .* red: code 101\npassed .* green\n\n──── what failed in red\nthe words$/);
});
