#!/usr/bin/env node
// cargo-fuzz in its pinned version, for `npm run fuzz`. It drives libFuzzer, which is C++: a compiler for that has to be there.
import { pathToFileURL } from "node:url";
import { main, SetupError } from "./lib/fail.mjs";
import { which } from "./lib/run.mjs";
import { cargoPath, requireCargo } from "./lib/rust.mjs";
import { setupTool } from "./setup-rust.mjs";

export async function setupFuzz() {
  requireCargo();
  const env = { ...process.env, PATH: cargoPath() };
  if (!["c++", "g++", "clang++"].some((compiler) => which(compiler, env))) {
    throw new SetupError("libFuzzer needs a C++ compiler: install one (Debian: apt install g++), then run this again.");
  }
  await setupTool("cargo-fuzz", "cargo-fuzz", env);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(setupFuzz);
