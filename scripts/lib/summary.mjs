// Runs named steps one after another, whatever becomes of each, and prints at the end what passed, what failed and how long it took.
import { CommandFailed, SetupError } from "./fail.mjs";

/**
 * @param steps { title, run }: `run` resolves to { code } and counts as passed with code 0, or to { code: 0, notRun: "why" }. A failed
 *   step may add { details }, which stand in the summary: who reads the end of a long log finds there what failed.
 * @returns how many failed
 */
export async function summary(steps) {
  const lines = [];
  const told = [];
  let failed = 0;
  for (const { title, run } of steps) {
    console.log(`\n──── ${title}`);
    const start = Date.now();
    let why = "";
    let notRun = "";
    try {
      const { code, notRun: reason = "", details = "" } = await run();
      notRun = reason;
      if (code === 124) why = "ran out of time";
      else if (code !== 0) why = `code ${code}`;
      if (why && details) told.push(`\n──── what failed in ${title}\n${details}`);
    } catch (error) {
      if (!(error instanceof CommandFailed || error instanceof SetupError)) throw error;
      why = error.message;
    }
    if (why) failed += 1;
    const seconds = ((Date.now() - start) / 1000).toFixed(1).padStart(7);
    const verdict = why ? "FAILED" : notRun ? "NOT RUN" : "passed";
    lines.push(`${verdict} ${seconds} s  ${title}${why || notRun ? `: ${why || notRun}` : ""}`);
  }
  console.log(`\n──── summary\n${[...lines, ...told].join("\n")}`);
  return failed;
}
