// Runs files of `node --test`, as each group of tests does.
import { browserEnvironment } from "./env.mjs";
import { nodeFailures } from "./failures.mjs";
import { CommandFailed } from "./fail.mjs";
import { root } from "./project.mjs";
import { run } from "./run.mjs";

/**
 * Resolves to { code, details }, as a step of `summary`. Files with browsers run one after another: they share two browsers' worth of memory and
 * the same few cores.
 * @param options.args       more arguments of `node --test`
 * @param options.atATime    how many files run at a time
 * @param options.timeoutMs  see `run`
 */
export async function nodeTest(files, { args = [], atATime = 1, env = browserEnvironment(), timeoutMs } = {}) {
  if (files.length === 0) throw new CommandFailed("there are no test files to run.");
  // Who watches sees the colours, and a list of what failed at the end; who reads a log later finds that list in the summary.
  const isWatched = Boolean(process.stdout.isTTY);
  const reporter = isWatched ? "spec" : "tap";
  const all = ["--test", `--test-concurrency=${atATime}`, `--test-reporter=${reporter}`, ...args, ...files];
  const { code, output } = await run(process.execPath, all, { cwd: root, env, collect: !isWatched, timeoutMs });
  return { code, details: nodeFailures(output) };
}
