#!/usr/bin/env node
// Rust that compiles for wasm32, and the two tools that make a package of it, in their pinned versions.
import { mkdirSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandFailed, SetupError, main, say } from "./lib/fail.mjs";
import { canApt } from "./lib/machine.mjs";
import { toolCache, versions } from "./lib/project.mjs";
import { answer, looksOffline, run, which } from "./lib/run.mjs";
import { cargoPath, hasDebianToolchain, hasTarget, requireCargo } from "./lib/rust.mjs";
import { makeDebianToolchain } from "./setup-rust-debian.mjs";

/** Why a rustup that fetches nothing is not waited for: an unreachable server must not cost more than this. */
const RUSTUP_PATIENCE_MS = 180_000;

async function setupTarget(env) {
  if (env.WATCHCACHE_RUST === "debian") {
    if (!hasDebianToolchain(env)) await makeDebianToolchain(env);
    return;
  }
  if (hasTarget(env) || hasDebianToolchain(env)) return;
  let rustup;
  if (which("rustup", env)) {
    say(`adding Rust's ${versions.target} target with rustup: it is what the cache is compiled for`);
    rustup = await run("rustup", ["target", "add", versions.target], {
      env,
      collect: true,
      timeoutMs: RUSTUP_PATIENCE_MS,
    });
    if (rustup.code === 0 && hasTarget(env)) return;
  }
  if (canApt()) {
    say(`${rustup ? "rustup could not fetch" : "there is no rustup to fetch"} the target, so Debian's packages have to do`);
    await makeDebianToolchain(env);
    return;
  }
  if (rustup && looksOffline(rustup.output)) {
    throw new SetupError(
      `rustup could not reach its server for the target ${versions.target}: connect to the network, then run this again.`,
    );
  }
  throw new SetupError(
    `this Rust has no ${versions.target} target: install rustup from https://rustup.rs (or your distribution's standard library for that target), then run this again.`,
  );
}

export async function setupTool(name, program, env) {
  const wanted = versions[name];
  const have = answer(join(toolCache(env), "bin", program), ["--version"], env)?.split(/\s+/)[1];
  if (have === wanted) return;
  say(`installing ${name} ${wanted} into ${toolCache(env)} with cargo, which takes a few minutes${have ? ` (${have} is there)` : ""}`);
  mkdirSync(toolCache(env), { recursive: true });
  const build = join(toolCache(env), `build-${name}-${process.pid}`);
  try {
    const args = ["install", name, "--version", wanted, "--locked", "--force", "--root", toolCache(env)];
    // Built outside the checkout and with no flags of ours: neither may change what the tool is.
    // On the PATH, or cargo asks for that at the end.
    const PATH = [env.PATH, join(toolCache(env), "bin")].filter(Boolean).join(delimiter);
    const toolEnv = { ...env, PATH, CARGO_TARGET_DIR: build, RUSTFLAGS: "" };
    const done = await run("cargo", args, { cwd: toolCache(env), env: toolEnv, collect: true });
    if (done.code === 0) return;
    if (looksOffline(done.output)) {
      throw new SetupError(`cargo could not reach its registry for ${name}: connect to the network, then run this again.`);
    }
    throw new CommandFailed(`${name} ${wanted} could not be installed: mend what cargo says above, then run this again.`);
  } finally {
    rmSync(build, { recursive: true, force: true });
  }
}

export async function setupRust() {
  requireCargo();
  const env = { ...process.env, PATH: cargoPath() };
  await setupTarget(env);
  await setupTool("wasm-bindgen-cli", "wasm-bindgen", env);
  await setupTool("wasm-pack", "wasm-pack", env);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(setupRust);
