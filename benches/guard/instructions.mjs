// Instructions that a program runs inside of one function, counted by callgrind: the same in every run, whatever else the machine does.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { CommandFailed } from "../../scripts/lib/fail.mjs";
import { run, which } from "../../scripts/lib/run.mjs";

/** The function of `benches/guard/counted/mod.rs` that is counted. */
const FUNCTION = "*guarded_work*";
const LIMIT_MS = 10 * 60_000;

/** Instructions of one run with these arguments. */
export async function instructions(binary, args) {
  const folder = mkdtempSync(join(tmpdir(), "watchcache-guard-"));
  try {
    const out = join(folder, "callgrind.out");
    const options = ["-q", "--tool=callgrind", `--callgrind-out-file=${out}`, `--toggle-collect=${FUNCTION}`];
    // The environment is empty, because its size moves the stack, and copies depend on alignment.
    const { code, output } = await run(which("valgrind"), [...options, binary, ...args], {
      cwd: folder,
      env: {},
      quiet: true,
      timeoutMs: LIMIT_MS,
    });
    const counted = code === 0 && Number(readFileSync(out, "utf8").match(/^summary: (\d+)/m)?.[1]);
    if (!counted)
      throw new CommandFailed(`the instructions of \`${args.join(" ")}\` could not be counted: ${output.trim().split("\n").at(-1)}`);
    return counted;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Does the work for every item, as many at a time as the machine has processors; the results are in the order of the items. */
export async function forEach(items, work) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(items.length, availableParallelism()) }, worker));
  return results;
}
