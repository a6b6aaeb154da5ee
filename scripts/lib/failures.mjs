// Finds in the output of a test runner what failed. Who reads the end of a long log has to find it there: the seed of a law that was broken
// stands nowhere else.

/** What is kept of one failed test, in characters: a broken law prints what failed, then its seed and its trace. */
const MAX_FAILURE = 8_000;
const FAILURE = /^---- .+ stdout ----$[^]*?(?=^---- .+ stdout ----$|^failures:$)/gm;
/** The compiler's errors, the target that failed, and the signal that ended a process: that one prints no list of its failures. */
const ERROR = /^(?:error(?:\[E\d+\])?: .*|test .+ \.\.\. FAILED| *process didn't exit successfully: .*)$/gm;

/** Of `cargo test`: the words of each failed test without its backtrace, then the lines that name errors. Empty where nothing failed. */
export function failuresOf(output) {
  const tests = (output.match(FAILURE) ?? []).map((text) =>
    text
      .replace(/^stack backtrace:$[^]*/m, "")
      .trim()
      .slice(0, MAX_FAILURE),
  );
  return [...tests, (output.match(ERROR) ?? []).join("\n")].filter(Boolean).join("\n\n");
}

/** A failed test of Node, with the block that says how long it took and why it failed. */
const NOT_OK = /^ *not ok \d+ - .*$(?:\n( +)---$[^]*?^\1\.\.\.$)?/gm;
/** What is said of a suite when one of its tests failed: that test tells more. */
const OF_OTHERS = /failureType: 'subtestsFailed'/;

/** Of `node --test` with its reporter "tap": each failed test with its error and its stack. */
export function nodeFailures(output) {
  return (output.match(NOT_OK) ?? [])
    .filter((text) => !OF_OTHERS.test(text))
    .map((text) => text.slice(0, MAX_FAILURE))
    .join("\n");
}

/** Of a runner whose words are not known: its last lines. */
export function lastLines(output, count = 60) {
  return output.trimEnd().split("\n").slice(-count).join("\n");
}
