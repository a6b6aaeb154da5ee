#!/usr/bin/env node
// `npm run fuzz`: every target in fuzz/ for a minute, as many at a time as there are cores.
//   --seconds=600   longer
//   selectors …     only these targets
// Input that breaks a target is kept in fuzz/artifacts. Input that reached new code lies in fuzz/corpus, where the next run begins.
import { mkdirSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { nativeEnvironment } from "./lib/env.mjs";
import { CommandFailed, main, say, SetupError } from "./lib/fail.mjs";
import { root } from "./lib/project.mjs";
import { must, run } from "./lib/run.mjs";
import { setupFuzz } from "./setup-fuzz.mjs";

/** The longest input, in bytes: what goes wrong does so in less, and longer ones only slow the search down. */
const LONGEST = 4096;

/** No sanitizer: the crate has next to no unsafe code, and they need a nightly compiler. A panic is what is looked for. */
const OPTIONS = ["--sanitizer", "none"];

const targets = readdirSync(join(root, "fuzz/fuzz_targets")).map((file) => file.replace(/\.rs$/, ""));

async function fuzz(target, seconds) {
  const corpus = join(root, "fuzz/corpus", target);
  mkdirSync(corpus, { recursive: true });
  const limits = [`-max_total_time=${seconds}`, `-max_len=${LONGEST}`, "-timeout=10", "-print_final_stats=1", "-verbosity=0"];
  const args = ["fuzz", "run", ...OPTIONS, target, corpus, join(root, "fuzz/seeds", target), "--", ...limits];
  const { code, output } = await run("cargo", args, {
    cwd: root,
    env: nativeEnvironment(),
    quiet: true,
    timeoutMs: (seconds + 300) * 1000,
  });
  const runs = Number(/stat::number_of_executed_units:\s+(\d+)/.exec(output)?.[1] ?? 0);
  // A target that ran nothing has proved nothing.
  if (code === 0 && runs === 0) throw new CommandFailed(`the target ${target} executed nothing: ${output}`);
  say(code === 0 ? `${target}: ${runs.toLocaleString("en")} inputs in ${seconds} s, none of them broke it` : `${target}: BROKEN`);
  return { target, code };
}

await main(async () => {
  const given = process.argv.slice(2);
  const seconds = Number(given.find((argument) => argument.startsWith("--seconds="))?.slice("--seconds=".length) ?? 60);
  const asked = given.filter((argument) => !argument.startsWith("--"));
  for (const name of asked) {
    if (!targets.includes(name)) throw new SetupError(`there is no fuzz target ${name}: choose from ${targets.join(", ")}.`);
  }
  if (!(seconds > 0)) throw new SetupError("--seconds takes a number of seconds.");
  await setupFuzz();
  say("compiling the fuzz targets");
  await must("cargo", ["fuzz", "build", ...OPTIONS], { cwd: root, env: nativeEnvironment() });

  const waiting = asked.length > 0 ? asked : [...targets];
  const done = [];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) done.push(await fuzz(next, seconds));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  const broken = done.filter(({ code }) => code !== 0).map(({ target }) => target);
  if (broken.length > 0) throw new CommandFailed(`broken by input that is kept in fuzz/artifacts: ${broken.join(", ")}.`);
});
