// Runs named steps one after another, whatever becomes of each, and prints at the end what passed, what failed and how long it took.
import { CommandFailed, SetupError } from "./fail.mjs";

/**
 * @param steps { title, run }: `run` resolves to { code } and counts as passed with code 0
 * @returns how many failed
 */
export async function summary(steps) {
  const lines = [];
  let failed = 0;
  for (const { title, run } of steps) {
    console.log(`\n──── ${title}`);
    const start = Date.now();
    let why = "";
    try {
      const { code } = await run();
      if (code === 124) why = "ran out of time";
      else if (code !== 0) why = `code ${code}`;
    } catch (error) {
      if (!(error instanceof CommandFailed || error instanceof SetupError)) throw error;
      why = error.message;
    }
    if (why) failed += 1;
    const seconds = ((Date.now() - start) / 1000).toFixed(1).padStart(7);
    lines.push(`${why ? "FAILED" : "passed"} ${seconds} s  ${title}${why ? `: ${why}` : ""}`);
  }
  console.log(`\n──── summary\n${lines.join("\n")}`);
  return failed;
}
