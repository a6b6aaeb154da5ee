// Runs named steps one after another, whatever becomes of each, and prints at the end what passed, what failed and how long it took.
import { CommandFailed, SetupError } from "./fail.mjs";

/**
 * @param steps { title, run }: `run` resolves to { code } and counts as passed with code 0, or to { code: 0, notRun: "why" }
 * @returns how many failed
 */
export async function summary(steps) {
  const lines = [];
  let failed = 0;
  for (const { title, run } of steps) {
    console.log(`\n──── ${title}`);
    const start = Date.now();
    let why = "";
    let notRun = "";
    try {
      const { code, notRun: reason = "" } = await run();
      notRun = reason;
      if (code === 124) why = "ran out of time";
      else if (code !== 0) why = `code ${code}`;
    } catch (error) {
      if (!(error instanceof CommandFailed || error instanceof SetupError)) throw error;
      why = error.message;
    }
    if (why) failed += 1;
    const seconds = ((Date.now() - start) / 1000).toFixed(1).padStart(7);
    const verdict = why ? "FAILED" : notRun ? "NOT RUN" : "passed";
    lines.push(`${verdict} ${seconds} s  ${title}${why || notRun ? `: ${why || notRun}` : ""}`);
  }
  console.log(`\n──── summary\n${lines.join("\n")}`);
  return failed;
}
