#!/usr/bin/env node
// `npm run bench:native`: the cacher as native code beside the apiserver's own (Go), in turn and on one thread each. Nothing is asserted
// about time; that both delivered the same events is. Without Go it says so and measures ours alone.
//   quick   fewer rounds and events: whether it works, not how fast it is; kept in artifacts/
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { format } from "prettier";
import { commit, machine } from "../benches/lib/machine.mjs";
import { memoryLine, nativeTable, readTable, unequal } from "../benches/lib/native.mjs";
import { intoReadme } from "../benches/lib/readme.mjs";
import { nativeEnvironment } from "./lib/env.mjs";
import { CommandFailed, SetupError, main, say } from "./lib/fail.mjs";
import { root } from "./lib/project.mjs";
import { run } from "./lib/run.mjs";
import { requireGo } from "../tests/servers/harness/build.mjs";

const PLANS = { full: { rounds: 7, scale: 1 }, quick: { rounds: 2, scale: 0.1 } };

/** Builds the bench target and says where it is. */
async function buildOurs() {
  const args = ["bench", "--locked", "--bench", "native", "--no-run", "--message-format=json-render-diagnostics"];
  const { code, output } = await run("cargo", args, { cwd: root, env: nativeEnvironment(), quiet: true });
  const built = output.split("\n").flatMap((line) => {
    if (!line.startsWith("{")) return [];
    const { target, executable } = JSON.parse(line);
    return target?.kind?.includes("bench") && executable ? [executable] : [];
  });
  if (code !== 0 || built.length === 0) throw new CommandFailed("the native benchmark could not be built.");
  return built[0];
}

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

/** One round of one program: its lines. */
async function round(command, args, env) {
  const { code, output } = await run(command, args, { cwd: root, env: { ...process.env, ...env }, quiet: true });
  if (code !== 0) throw new CommandFailed(`${command} failed: ${output}`);
  return output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
}

await main(async () => {
  const quick = process.argv.includes("quick");
  const { rounds, scale } = PLANS[quick ? "quick" : "full"];
  const about = { date: new Date().toISOString(), commit: commit(root), machine: machine() };
  const folder = mkdtempSync(join(tmpdir(), "watchcache-bench-"));
  const results = { ours: [], theirs: [] };
  try {
    say("building the benchmarks");
    const ours = await buildOurs();
    const theirs = await buildTheirs(folder);
    for (let i = 0; i < rounds; i++) {
      say(`round ${i + 1} of ${rounds}`);
      const pod = join(root, "tests/data/pod.json");
      results.ours.push(await round(ours, ["--pod", pod, "--scale", String(scale)]));
      if (theirs) results.theirs.push(await round(theirs, ["-pod", pod, "-scale", String(scale)], { GOMAXPROCS: "1" }));
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
