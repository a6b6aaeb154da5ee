// Rust for the wasm32 target: which toolchain has it, and the environment that makes cargo and wasm-pack use it.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { SetupError } from "./fail.mjs";
import { atLeast, toolCache, versions } from "./project.mjs";
import { answer, isExecutable, which } from "./run.mjs";

/** PATH with rustup's own folder added when cargo is installed there but the shell does not know it yet. */
export function cargoPath(env = process.env) {
  const home = join(env.CARGO_HOME || join(homedir(), ".cargo"), "bin");
  return which("cargo", env) || !isExecutable(join(home, "cargo")) ? env.PATH || "" : `${home}${delimiter}${env.PATH || ""}`;
}

/** Fails unless there is a cargo that can compile this crate. Returns its version. */
export function requireCargo(env = process.env) {
  const withCargo = { ...env, PATH: cargoPath(env) };
  const version = which("cargo", withCargo) && answer("cargo", ["--version"], withCargo)?.split(" ")[1];
  if (!version) {
    throw new SetupError(`cargo was not found: install Rust ${versions.rust} or newer from https://rustup.rs, then run this again.`);
  }
  if (!atLeast(version, versions.rust)) {
    throw new SetupError(
      `cargo ${version} is too old, ${versions.rust} or newer is needed: run \`rustup update stable\`, then this again.`,
    );
  }
  return version;
}

const hasStd = (sysroot) => {
  const lib = join(sysroot, "lib", "rustlib", versions.target, "lib");
  return existsSync(lib) && readdirSync(lib).some((name) => /^libstd-.*\.rlib$/.test(name));
};

/** True when the rustc on the PATH can already compile for wasm32. */
export function hasTarget(env = process.env) {
  const sysroot = answer("rustc", ["--print", "sysroot"], { ...env, PATH: cargoPath(env) });
  return sysroot !== undefined && hasStd(sysroot);
}

/** The toolchain which setup makes of Debian's packages: the distribution's compiler plus a wasm32 standard library of our own. */
export const debianToolchain = (env = process.env) => join(toolCache(env), "rust-debian");
/** The compiler it was built with: a standard library serves no other. */
export const debianCompiler = () => answer("/usr/bin/rustc", ["--version"]);
export const debianStamp = (home) => join(home, "built-with");

/** True when that toolchain is there and fits the compiler which Debian has installed now. */
export function hasDebianToolchain(env = process.env) {
  const home = debianToolchain(env);
  return hasStd(home) && existsSync(debianStamp(home)) && readFileSync(debianStamp(home), "utf8") === debianCompiler();
}

/**
 * What cargo and wasm-pack need to compile for wasm32.
 * `WATCHCACHE_RUST=debian` asks for the toolchain made of Debian's packages even where rustup has the target.
 */
export function rustForWasm(env = process.env) {
  const PATH = cargoPath(env);
  const ownTarget = env.WATCHCACHE_RUST !== "debian" && hasTarget(env);
  if (ownTarget || !hasDebianToolchain(env)) return { PATH };
  return {
    PATH: `${join(debianToolchain(env), "bin")}${delimiter}${PATH}`,
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: versions.debian.linker,
  };
}
