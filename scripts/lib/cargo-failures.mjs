// Finds in the output of `cargo test` what failed. The seed of a law that was broken stands there, and nowhere else.

/** What is kept of one failed test, in characters: a broken law prints what failed, then its seed and its trace. */
const MAX_FAILURE = 8_000;
const FAILURE = /^---- .+ stdout ----$[^]*?(?=^---- .+ stdout ----$|^failures:$)/gm;
/** The compiler's errors, the target that failed, and the signal that ended a process: that one prints no list of its failures. */
const ERROR = /^(?:error(?:\[E\d+\])?: .*|test .+ \.\.\. FAILED| *process didn't exit successfully: .*)$/gm;

/** The words of each failed test without its backtrace, then the lines that name errors. Empty where nothing failed. */
export function failuresOf(output) {
  const tests = (output.match(FAILURE) ?? []).map((text) =>
    text
      .replace(/^stack backtrace:$[^]*/m, "")
      .trim()
      .slice(0, MAX_FAILURE),
  );
  return [...tests, (output.match(ERROR) ?? []).join("\n")].filter(Boolean).join("\n\n");
}
