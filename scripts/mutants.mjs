#!/usr/bin/env node
// A random sample of mutants of the core: which faults in src would no native test notice?
//   node scripts/mutants.mjs [--seed=15] [--count=300]    needs cargo-mutants (cargo install --locked cargo-mutants)
//   --part=2/3    only the second third of the sample, for more machines than one
//   --list        only print the sample
// A mutant's name holds its line, so a seed draws the same sample again only at the same commit. It takes hours, so it is no part of CI.
// tests/MUTANTS.md tells what the last sample found. Everything is written to target/mutants. Nothing in the checkout is changed, and its
// sources may not change meanwhile.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nativeEnvironment } from "./lib/env.mjs";
import { CommandFailed, main, say, SetupError } from "./lib/fail.mjs";
import { root } from "./lib/project.mjs";
import { run } from "./lib/run.mjs";

/** What is not the core: src/web has its tests in a browser, and the other two are for tests themselves. */
const NOT_CORE = ["src/web/**", "src/testing.rs", "src/runtime/virtual_time.rs"];
const CORE = NOT_CORE.flatMap((glob) => ["--exclude", glob]);

/** Tests that take over half a second without optimization. They wait until the quick ones have killed what they can. */
const SLOW = [
  "a_leap_ends_where_the_strict_reader_does",
  "it_finds_and_leaves_what_a_replacement_at_once_does",
  "kinds_that_alternate_do_not_challenge_for_ever",
  "law_01_replay_every_covered_version_reads_as_it_stood",
  "law_08_bounded_an_event_visits_those_it_may_concern_however_many_there_are",
  "what_is_stored_is_read_whatever_is_dropped_and_moved",
];

/**
 * From the quickest tests to all. A stage has only the mutants that survived the one before. The limits are several times what the tests
 * take on two busy cores, so a mutant that reaches one loops.
 */
const STAGES = [
  { name: "lib", seconds: 60, programs: ["--lib"], args: ["--", ...SLOW.flatMap((test) => ["--skip", test])] },
  { name: "conformance", seconds: 90, programs: ["--test=conformance"], args: [] },
  { name: "all", seconds: 900, programs: ["--lib", "--tests"], args: [] },
];

/** No debug information, and dependencies optimized: it halves the time for a mutant. */
const PROFILE = { CARGO_PROFILE_DEV_DEBUG: "0", CARGO_INCREMENTAL: "1" };
const CARGO_ARGS = ['--config=profile.dev.package."*".opt-level=2'];

/** A mutant that allocates in a loop must fail before it takes the machine with it. In KiB. */
const MAX_MEMORY = 8 << 20;

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` of the mutants: the first ones of a shuffle. */
function sample(names, count, seed) {
  const next = random(seed);
  const drawn = [...names].sort();
  for (let at = 0; at < Math.min(count, drawn.length); at++) {
    const other = at + Math.floor(next() * (drawn.length - at));
    [drawn[at], drawn[other]] = [drawn[other], drawn[at]];
  }
  return drawn.slice(0, count);
}

function allMutants(env) {
  const args = ["mutants", "--no-config", "--list", "--json", ...CORE];
  const listed = spawnSync("cargo", args, { cwd: root, env, encoding: "utf8", maxBuffer: 1 << 28 });
  if (listed.status !== 0) throw new SetupError("cargo-mutants is missing: run `cargo install --locked cargo-mutants`, then this again.");
  return JSON.parse(listed.stdout).map(({ name }) => name);
}

const lines = (file) => (existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []);

/** Runs one stage and gives what it found, by name. */
async function runStage(stage, mutants, all, folder, env) {
  const out = join(folder, stage.name);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(join(out, "mutants.out"), { recursive: true });
  // No filter of cargo-mutants selects exactly these, as none applies to deleted fields. So all others are marked as caught already.
  const wanted = new Set(mutants);
  const others = all.filter((name) => !wanted.has(name));
  writeFileSync(join(out, "mutants.out/caught.txt"), others.map((name) => `${name}\n`).join(""));
  const config = join(out, "mutants.toml");
  writeFileSync(config, `additional_cargo_args = ${JSON.stringify([...CARGO_ARGS, ...stage.programs])}\n`);
  const limits = ["--iterate", "--jobs=1", `--timeout=${stage.seconds}`, "--build-timeout=900", "--no-times", "--colors=never"];
  const command = ["cargo", "mutants", "--config", config, "--output", out, ...CORE, ...limits, "--", ...stage.args];
  const { code } = await run("sh", ["-c", `ulimit -v ${MAX_MEMORY}; exec "$@"`, "sh", ...command], { cwd: root, env });
  // 2: some survived; 3: some timed out. Anything else is a mistake, as when the tests fail without a mutant.
  if (![0, 2, 3].includes(code)) throw new CommandFailed(`cargo-mutants ended with code ${code}: see ${out}.`);
  const found = {};
  for (const kind of ["caught", "missed", "timeout", "unviable"]) found[kind] = lines(join(out, "mutants.out", `${kind}.txt`));
  const told = Object.values(found).flat().length;
  if (told !== mutants.length) throw new CommandFailed(`${mutants.length} mutants were asked for, ${told} were told of: see ${out}.`);
  return found;
}

await main(async () => {
  const given = process.argv.slice(2);
  const option = (name, otherwise) => {
    const at = given.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
    if (at < 0) return otherwise;
    return given[at].includes("=") ? given[at].slice(name.length + 3) : (given[at + 1] ?? "");
  };
  const seed = Number(option("seed", 15));
  const count = Number(option("count", 300));
  const [part, parts] = option("part", "1/1").split("/").map(Number);
  if (!Number.isInteger(seed) || !(count > 0)) throw new SetupError("--seed and --count take whole numbers.");
  if (!(part >= 1 && part <= parts)) throw new SetupError("--part takes a part and how many there are, as 2/3.");

  const folder = join(root, "target/mutants", `${seed}-${part}-of-${parts}`);
  const env = { CARGO_TARGET_DIR: join(root, "target/mutants/build"), ...nativeEnvironment(), ...PROFILE };
  const names = allMutants(env);
  let left = sample(names, count, seed).filter((_, index) => index % parts === part - 1);
  if (given.includes("--list")) return console.log(left.join("\n"));

  say(`${left.length} of ${names.length} mutants, seed ${seed}`);
  const totals = { caught: 0, timeout: 0, unviable: 0 };
  for (const stage of STAGES) {
    if (left.length === 0) break;
    // Each stage reads the sources anew. A mutant's name holds its line, so others would be run, and hundreds of them.
    if (allMutants(env).join() !== names.join()) throw new CommandFailed("The sources have changed since the sample was drawn.");
    say(`stage ${stage.name}: ${left.length} mutants`);
    const found = await runStage(stage, left, names, folder, env);
    for (const kind of Object.keys(totals)) totals[kind] += found[kind].length;
    left = found.missed;
  }
  writeFileSync(join(folder, "survivors.txt"), left.map((name) => `${name}\n`).join(""));
  say(`${totals.caught} caught, ${totals.timeout} ran into the time limit, ${totals.unviable} did not compile, ${left.length} survived`);
  for (const name of left) console.log(name);
});
