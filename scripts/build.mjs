#!/usr/bin/env node
// The package's dist: the crate as WebAssembly (dist/wasm) and the TypeScript facade (dist/*.js, dist/*.d.ts).
// Each half is built only when its inputs have changed.
//   --force   builds both in any case
//   --dev     compiles the WebAssembly unoptimised, which is quicker (never for publishing)
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { markBuild } from "./lib/build-mark.mjs";
import { nativeEnvironment, wasmEnvironment } from "./lib/env.mjs";
import { CommandFailed, main, say } from "./lib/fail.mjs";
import { filesUnder, hashOf, isStamped, stamp } from "./lib/hash.mjs";
import { writeText } from "./lib/inline.mjs";
import { root, versions } from "./lib/project.mjs";
import { answer, must } from "./lib/run.mjs";
import { SHORTEN, shortenNames } from "./lib/short-names.mjs";

const WASM = "dist/wasm/watchcache_bg.wasm";
const GLUE = "dist/wasm/watchcache.js";

/** Texts of panics name the crates' sources. Where those lie on this machine is nobody's business. */
function withoutMachine(env) {
  const sources = join(env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry", "src");
  const registries = existsSync(sources) ? readdirSync(sources) : [];
  const flags = registries.map((registry) => `--remap-path-prefix=${join(sources, registry)}=`);
  // Cargo appends these to those of .cargo/config.toml.
  return ["--config", `target.wasm32-unknown-unknown.rustflags=${JSON.stringify(flags)}`];
}

/** The steps that follow the compiler's. */
const STEPS = ["build-mark", "glue", "short-names"];

async function buildWasm({ force = false, dev = false }) {
  const env = wasmEnvironment();
  const inputs = filesUnder(
    ["src", "Cargo.toml", "Cargo.lock", ".cargo", "scripts/build.mjs", ...STEPS.map((name) => `scripts/lib/${name}.mjs`)],
    (path) => !/\/src\/js\//.test(path),
  );
  const hash = hashOf(inputs, versions, dev, answer("rustc", ["--version"], env));
  if (!force && isStamped("wasm", hash, [GLUE, WASM])) return;

  say(`compiling the crate to WebAssembly${dev ? ", unoptimised" : ""}`);
  // What an earlier build left must not live on in the package.
  for (const name of existsSync(join(root, "dist/wasm")) ? readdirSync(join(root, "dist/wasm")) : []) {
    if (name.startsWith("watchcache")) rmSync(join(root, "dist/wasm", name));
  }
  const profile = dev ? "--dev" : "--release";
  const args = [
    "build",
    ".",
    "--target",
    "web",
    profile,
    "--no-pack",
    // Nobody is meant to call the glue but the facade, which has declarations of its own for it.
    "--no-typescript",
    "--out-dir",
    "dist/wasm",
    "--out-name",
    "watchcache",
    "--mode",
    "no-install",
  ];
  await must("wasm-pack", [...args, "--locked", ...withoutMachine(env)], { cwd: root, env });
  // wasm-pack puts an ignore-everything file there, which npm would obey: the package would come without its wasm.
  rmSync(join(root, "dist/wasm/.gitignore"), { force: true });
  const [glue, wasm] = [GLUE, WASM].map((file) => join(root, file));
  if (!dev) {
    const passes = [SHORTEN, "--strip-debug", "--strip-producers", "--strip-target-features"];
    const done = await must("wasm-opt", [wasm, "-o", wasm, ...passes], { cwd: root, env, quiet: true });
    shortenNames(done.output, glue);
  }
  const { withoutLoading } = await import("./lib/glue.mjs"); // its parser may just have been installed
  const ours = withoutLoading(readFileSync(glue, "utf8"));
  writeFileSync(glue, ours);
  markBuild({ glue, wasm });
  stamp("wasm", hash);
}

const CONFIG = "src/js/tsconfig.json";

async function buildFacade({ force = false }) {
  if (!existsSync(join(root, CONFIG))) throw new CommandFailed(`${CONFIG} is missing: there is no facade to compile.`);
  const hash = hashOf(filesUnder(["src/js", "package-lock.json"]));
  if (!force && isStamped("facade", hash, ["dist/index.js", "dist/index.d.ts"])) return;
  say("compiling the TypeScript facade");
  // A module that is gone from src/js must not live on in the package.
  for (const name of readdirSync(join(root, "dist"))) {
    if (name !== "wasm") rmSync(join(root, "dist", name), { recursive: true });
  }
  await must("tsc", ["-p", CONFIG], { cwd: root, env: nativeEnvironment() });
  for (const output of ["dist/index.js", "dist/index.d.ts"]) {
    if (!existsSync(join(root, output))) throw new CommandFailed(`tsc -p ${CONFIG} did not write ${output}.`);
  }
  stamp("facade", hash);
}

export async function build(options = {}) {
  await buildWasm(options);
  writeText(WASM);
  await buildFacade(options);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(() => build({ force: process.argv.includes("--force"), dev: process.argv.includes("--dev") }));
}
