#!/usr/bin/env node
// `npm run guard`: compares figures that noise does not move with those recorded in benches/guard/figures.json.
// - instructions of the native hot paths, and how they grow with the input
// - bytes held, and bytes that a session leaves behind
// - crossings between JavaScript and WebAssembly
// - sizes of the package
//
// A figure fails if it differs by more than its tolerance, up or down. It passes once the new value is recorded with a reason.
//   --accept "why it changed"   records the new values
//   --only=TEXT                 measures only the figures with this in their name, and does not report the others as missing
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { forEach, instructions } from "./guard/instructions.mjs";
import { accept, judge, judgeGrowth } from "./guard/judge.mjs";
import { buildProgram, linesOf } from "./lib/program.mjs";
import { table } from "./lib/report.mjs";
import { build } from "../scripts/build.mjs";
import { nativeEnvironment, wasmEnvironment } from "../scripts/lib/env.mjs";
import { CommandFailed, SetupError, main, say } from "../scripts/lib/fail.mjs";
import { root } from "../scripts/lib/project.mjs";
import { answer } from "../scripts/lib/run.mjs";
import { setup } from "../scripts/setup.mjs";
import { setupValgrind } from "../scripts/setup-valgrind.mjs";

const FILE = join(root, "benches/guard/figures.json");

/** Compilers for the machine and for wasm, and what they compile for: another gives other code. */
function compilers() {
  const of = (env) =>
    answer("rustc", ["-vV"], env)
      ?.match(/^(rustc .*)[^]*?^host: (.*)$/m)
      ?.slice(1)
      .join(", ");
  const [native, wasm] = [of(nativeEnvironment()), of(wasmEnvironment())];
  return native === wasm ? native : `${native}; for wasm ${wasm}`;
}

async function hotPaths(binary, paths) {
  const counted = await forEach(paths, async ({ name, units }) => Math.round((await instructions(binary, ["hot", name])) / units));
  return paths.map(({ name }, i) => [`instructions-${name}`, { kind: "instructions", unit: "instructions", value: counted[i] }]);
}

async function heldBytes(binary) {
  const lines = await linesOf(binary, ["held"]);
  return lines.map(({ name, bytes }) => [name, { kind: "held", unit: "bytes", value: Math.round(bytes) }]);
}

async function crossings() {
  const lines = await linesOf(process.execPath, [join(root, "benches/guard/crossings.mjs")]);
  return lines.map(({ name, value }) => [name, { kind: "crossings", unit: "calls", value: Math.round(value * 1000) / 1000 }]);
}

/** What a session of a thousand mounts leaves behind, most of it as a multiple of what was held before. */
async function sessionBytes() {
  // Code that is thrown away now and then would be counted now and then.
  const flags = ["--expose-gc", "--no-flush-bytecode", "--single-threaded"];
  const lines = await linesOf(process.execPath, [...flags, join(root, "benches/guard/session.mjs")]);
  if (lines.length === 0) throw new CommandFailed("the session has counted nothing.");
  return lines.map(({ name, unit, value }) => [name, { kind: "session", unit, value: Math.round(value * 1000) / 1000 }]);
}

async function sizes() {
  const { default: size } = await import("./rows/size.mjs"); // its packages may just have been installed
  const { wasm, javascript, entries } = await size.measure({ root, say: () => {} });
  const packed = (name, size) => [`size-${name}`, { kind: "size", unit: "bytes, brotli", value: size.brotli }];
  // What an entry adds is the difference of two bundles. Packed, each of them moves by a hundred bytes with a name in the code.
  const added = ([name, size]) => [`size-${name}`, { kind: "size", unit: "bytes, minified", value: size.raw }];
  return [packed("wasm", wasm), packed("javascript", javascript), ...Object.entries(entries).map(added)];
}

async function growth(binary, paths) {
  return forEach(paths, async ({ name, size, peer }) => {
    const count = (kind, times) => instructions(binary, [kind, name, String(times * size)]);
    return { name, size, once: await count("grow", 1), twice: await count("grow", 2), ...(peer && { peer: await count("peer", 2) }) };
  });
}

/** The options of the command line. */
function options() {
  const args = process.argv.slice(2);
  const at = args.indexOf("--accept");
  const reason = at < 0 ? undefined : args[at + 1]?.trim();
  if (at >= 0 && !reason) throw new SetupError('--accept needs the reason in quotes: npm run guard -- --accept "why it changed".');
  const only = args.find((arg) => arg.startsWith("--only="))?.slice("--only=".length);
  if (reason && only) throw new SetupError("--accept writes down every figure, so it does not go with --only.");
  const known = args.filter((arg, i) => arg === "--accept" || arg.startsWith("--only=") || (at >= 0 && i === at + 1));
  const unknown = args.find((arg) => !known.includes(arg));
  if (unknown) throw new SetupError(`${unknown} is no option of the guard: there are --accept "reason" and --only=TEXT.`);
  return { reason, only };
}

await main(async () => {
  const { reason, only } = options();
  const wanted = ({ name }) => only === undefined || name.includes(only);
  const valgrind = await setupValgrind();
  await setup({ browser: false });
  await build();
  say(`building the program that is counted, with ${valgrind}`);
  const binary = await buildProgram("guard");
  const [names] = await linesOf(binary, ["names"]);
  say("counting");
  const all = [
    ...(await hotPaths(binary, names.hot.filter(wanted))),
    ...[...(await heldBytes(binary)), ...(await crossings()), ...(await sessionBytes()), ...(await sizes())].filter(([name]) =>
      wanted({ name }),
    ),
  ];
  const measured = { compiler: compilers(), figures: Object.fromEntries(all) };
  const recorded = existsSync(FILE) ? JSON.parse(readFileSync(FILE, "utf8")) : { figures: {} };
  if (only !== undefined) {
    recorded.figures = Object.fromEntries(Object.entries(recorded.figures).filter(([name]) => name in measured.figures));
  }
  const figures = judge(recorded, measured);
  console.log(`\n${table(["figure", "is", "", "recorded", "change", ""], figures.lines)}\n`);
  figures.said.forEach(say);
  if (reason) {
    const { format } = await import("prettier");
    const text = JSON.stringify(accept(recorded, measured, reason, new Date().toISOString().slice(0, 10)));
    writeFileSync(FILE, await format(text, { parser: "json", printWidth: 140 }));
    say(`wrote down what changed: ${FILE}`);
    figures.failed.length = 0;
  }
  const grown = judgeGrowth(await growth(binary, names.grow.filter(wanted)));
  console.log(`${table(["path", "size", "instructions", "at twice the size", "of serde_json's"], grown.lines)}\n`);
  for (const line of [...figures.failed, ...grown.failed]) console.log(line);
  if (figures.failed.length > 0) {
    throw new CommandFailed('figures have changed: mend what made them worse, or write them down with `npm run guard -- --accept "why"`.');
  }
  if (grown.failed.length > 0) throw new CommandFailed("work grows faster than its input, or costs more than serde_json's, see above.");
});
