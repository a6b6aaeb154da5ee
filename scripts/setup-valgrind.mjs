#!/usr/bin/env node
// valgrind, whose callgrind counts the instructions of `npm run guard`.
import { pathToFileURL } from "node:url";
import { SetupError, main } from "./lib/fail.mjs";
import { aptInstall, canApt } from "./lib/machine.mjs";
import { versions } from "./lib/project.mjs";
import { answer, which } from "./lib/run.mjs";

const NO_VALGRIND =
  "valgrind was not found: install it with your system's package manager (it runs on Linux and FreeBSD), then run this again.";

/** Its version, as it prints it. */
export async function setupValgrind() {
  if (!which("valgrind") && canApt()) await aptInstall(versions.debian.valgrind, "it counts the instructions of the guard");
  const version = which("valgrind") && answer("valgrind", ["--version"]);
  if (!version) throw new SetupError(NO_VALGRIND);
  return version;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(setupValgrind);
