// Finds in the output of `cargo test` what failed. The seed of a law that was broken stands there, and nowhere else.

/** What is kept of one failed test, in characters: a law prints its trace, and the seed stands before it. */
const MAX_FAILURE = 4_000;

/** The words of each failed test, or the compiler's errors. Empty where nothing failed. */
export function failuresOf(output) {
  const tests = [...output.matchAll(/^---- (.+) stdout ----$[^]*?(?=^---- .+ stdout ----$|^failures:$)/gm)];
  if (tests.length > 0) return tests.map(([text]) => text.trim().slice(0, MAX_FAILURE)).join("\n\n");
  return [...output.matchAll(/^(?:error(?:\[E\d+\])?: .*|test .+ \.\.\. FAILED)$/gm)].map(([line]) => line).join("\n");
}
