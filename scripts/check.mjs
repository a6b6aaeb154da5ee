#!/usr/bin/env node
// `npm run check`: what a release needs beside green tests. Runs everything, then says what failed.
import { build } from "./build.mjs";
import { checkLayers } from "./check-layers.mjs";
import { checkSources } from "./check-sources.mjs";
import { nativeEnvironment, wasmEnvironment } from "./lib/env.mjs";
import { format } from "./format.mjs";
import { CommandFailed, main } from "./lib/fail.mjs";
import { root, versions } from "./lib/project.mjs";
import { run } from "./lib/run.mjs";
import { summary } from "./lib/summary.mjs";
import { setup } from "./setup.mjs";

const native = (command, ...args) => run(command, args, { cwd: root, env: nativeEnvironment() });
const wasm = (command, ...args) => run(command, args, { cwd: root, env: wasmEnvironment() });
const docs = (tools, ...args) =>
  run("cargo", ["doc", "--locked", "--no-deps", "--document-private-items", ...args], {
    cwd: root,
    env: { ...tools(), RUSTDOCFLAGS: "-D warnings" },
  });
const typeCheck = (config) => native("tsc", "--noEmit", "-p", config);

/** Entry points that are files for a loader: they have no types to be right or wrong. */
const NOT_SCRIPTS = ["./watchcache_bg.wasm"];

const steps = [
  { title: "the project's own rules", run: async () => (checkSources(), { code: 0 }) },
  { title: "who imports whom", run: async () => (checkLayers(), { code: 0 }) },
  { title: "formatting: rustfmt and prettier", run: () => format({ check: true }) },
  {
    title: "clippy, native",
    run: () => native("cargo", "clippy", "--locked", "--all-targets", "--", "-D", "warnings"),
  },
  {
    title: `clippy, ${versions.target}`,
    run: () => wasm("cargo", "clippy", "--locked", "--target", versions.target, "--all-targets", "--", "-D", "warnings"),
  },
  { title: "rustdoc, native", run: () => docs(nativeEnvironment) },
  { title: `rustdoc, ${versions.target}`, run: () => docs(wasmEnvironment, "--target", versions.target) },
  { title: "types of the facade", run: () => typeCheck("src/js/tsconfig.json") },
  { title: "types of the page", run: () => typeCheck("www/tsconfig.json") },
  { title: "publint", run: () => native("publint", "--strict") },
  { title: "attw", run: () => native("attw", "--pack", ".", "--profile", "esm-only", "--exclude-entrypoints", ...NOT_SCRIPTS) },
];

await main(async () => {
  await setup({ browser: false });
  await build();
  const failed = await summary(steps);
  if (failed > 0) throw new CommandFailed(`${failed} of ${steps.length} checks failed.`);
});
