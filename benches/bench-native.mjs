#!/usr/bin/env node
// `npm run bench:native`: the cacher as native code beside the apiserver's own (Go), in turn and on one thread each. It asserts that both
// delivered the same events, and nothing about time. Without Go it says so and measures ours alone.
//   quick   fewer rounds and events, to see that it works; the result is kept in artifacts/
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { format } from "prettier";
import { commit, machine } from "./lib/machine.mjs";
import { memoryLine, nativeTable, readTable, unequal } from "./lib/native.mjs";
import { buildProgram, linesOf } from "./lib/program.mjs";
import { intoReadme } from "./lib/readme.mjs";
import { CommandFailed, SetupError, main, say } from "../scripts/lib/fail.mjs";
import { requireGo } from "../scripts/lib/go.mjs";
import { root } from "../scripts/lib/project.mjs";
import { run } from "../scripts/lib/run.mjs";

const PLANS = { full: { rounds: 7, scale: 1 }, quick: { rounds: 2, scale: 0.1 } };

/** Builds the Go module into a folder, or says why not. */
async function buildTheirs(folder) {
  try {
    requireGo();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(`ours alone: ${error.message}`);
    return undefined;
  }
  const binary = join(folder, "cacher-go");
  const args = ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-o", binary, "."];
  const { code } = await run("go", args, { cwd: join(root, "benches/go"), quiet: true });
  if (code !== 0) throw new CommandFailed("the Go benchmark could not be built: see what it says above.");
  return binary;
}

await main(async () => {
  const quick = process.argv.includes("quick");
  const { rounds, scale } = PLANS[quick ? "quick" : "full"];
  const about = { date: new Date().toISOString(), commit: commit(root), machine: machine() };
  const folder = mkdtempSync(join(tmpdir(), "watchcache-bench-"));
  const results = { ours: [], theirs: [] };
  try {
    say("building the benchmarks");
    const ours = await buildProgram("native");
    const theirs = await buildTheirs(folder);
    for (let i = 0; i < rounds; i++) {
      say(`round ${i + 1} of ${rounds}`);
      const pod = join(root, "tests/data/pod.json");
      results.ours.push(await linesOf(ours, ["--pod", pod, "--scale", String(scale)]));
      if (theirs) results.theirs.push(await linesOf(theirs, ["-pod", pod, "-scale", String(scale)], { GOMAXPROCS: "1" }));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { machine: on } = about;
  const where = `Commit ${about.commit}, ${about.date.slice(0, 10)}: ${on.cores} cores of ${on.cpu}, load at start ${on.loadAtStart[0]}, ${rounds} rounds.`;
  const text = [where, nativeTable(results), readTable(results), memoryLine(results)].join("\n\n");
  console.log(`\n${text}`);
  if (quick) console.log("Rounds as short as these prove that it works; their times say nothing.");
  const file = join(root, quick ? "artifacts/bench-native-quick.json" : "benches/results/native.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await format(JSON.stringify({ ...about, results }), { parser: "json", printWidth: 140 }));
  if (!quick) intoReadme(root, "native", text);
  const wrong = unequal(results);
  if (wrong.length > 0) throw new CommandFailed(`not everybody did the same work: ${wrong.join("; ")}`);
});
