#!/usr/bin/env node
// A wasm32 toolchain where rustup can fetch no target. Debian's newest Rust, with which it builds its browsers, has the sources of the
// standard library but no wasm32 build of it. So this script builds it, once, into the tool cache. Nothing under /usr is changed.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SetupError, main, say } from "./lib/fail.mjs";
import { aptInstall, canApt } from "./lib/machine.mjs";
import { toolCache, versions } from "./lib/project.mjs";
import { isExecutable, must } from "./lib/run.mjs";
import { debianCompiler, debianStamp, debianToolchain } from "./lib/rust.mjs";

const SYSTEM = "/usr";

async function requirePackages() {
  const rustSource = join(SYSTEM, "lib/rustlib/src/rust/library/std/Cargo.toml");
  const programs = ["rustc", "cargo", "cargo-clippy", versions.debian.linker].map((name) => join(SYSTEM, "bin", name));
  const there = programs.every(isExecutable) && existsSync(rustSource);
  if (there) return;
  if (!canApt()) {
    throw new SetupError(
      `the packages ${versions.debian.rust.join(", ")} are needed: install them as root on Debian, then run this again.`,
    );
  }
  await aptInstall(versions.debian.rust, "a Rust that can compile for wasm32, its linker and its standard library's sources");
}

/** Compiles the standard library for wasm32 by way of an empty crate, and returns the folder with the results. */
async function buildStd(work) {
  const crate = join(work, "std");
  mkdirSync(join(crate, "src"), { recursive: true });
  writeFileSync(join(crate, "Cargo.toml"), '[package]\nname = "std-for-wasm"\nversion = "0.0.0"\nedition = "2024"\n');
  writeFileSync(join(crate, "src", "lib.rs"), "");
  await must(join(SYSTEM, "bin/cargo"), ["build", "--release", "--target", versions.target, "-Z", "build-std=std,panic_abort,test"], {
    cwd: crate,
    env: {
      ...process.env,
      RUSTC: join(SYSTEM, "bin/rustc"),
      RUSTC_BOOTSTRAP: "1", // build-std is unstable; the compiler is otherwise the stable one
      RUSTFLAGS: "-C embed-bitcode=yes", // without it the release build's link-time optimisation has nothing to work on
      CARGO_TARGET_DIR: join(crate, "target"),
    },
  });
  return join(crate, "target", versions.target, "release", "deps");
}

export async function makeDebianToolchain(env = process.env) {
  await requirePackages();
  const home = debianToolchain(env);
  const work = join(toolCache(env), `build-rust-debian-${process.pid}`);
  try {
    say(`building Rust's standard library for ${versions.target} into ${home}, which takes about a minute`);
    const deps = await buildStd(work);

    const made = join(work, "toolchain");
    const rustlib = join(made, "lib", "rustlib");
    const lib = join(rustlib, versions.target, "lib");
    mkdirSync(lib, { recursive: true });
    for (const name of readdirSync(deps)) {
      if (/\.(rlib|rmeta)$/.test(name) && !name.includes("std_for_wasm")) copyFileSync(join(deps, name), join(lib, name));
    }
    for (const name of readdirSync(join(SYSTEM, "lib/rustlib"))) {
      if (name !== versions.target) symlinkSync(join(SYSTEM, "lib/rustlib", name), join(rustlib, name));
    }
    mkdirSync(join(made, "bin"));
    symlinkSync(join(SYSTEM, "bin/cargo"), join(made, "bin", "cargo"));
    // Debian's compiler takes /usr for its home; these send it here instead, where it finds its own libraries linked and ours built.
    script(join(made, "bin", "rustc"), `exec ${SYSTEM}/bin/rustc --sysroot '${home}' "$@"`);
    script(join(made, "bin", "rustdoc"), `exec ${SYSTEM}/bin/rustdoc --sysroot '${home}' "$@"`);
    script(join(made, "bin", "cargo-clippy"), `SYSROOT='${home}' exec ${SYSTEM}/bin/cargo-clippy "$@"`);

    writeFileSync(debianStamp(made), debianCompiler());

    rmSync(home, { recursive: true, force: true });
    renameSync(made, home);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function script(path, line) {
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(() => makeDebianToolchain());
