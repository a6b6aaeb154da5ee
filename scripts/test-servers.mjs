#!/usr/bin/env node
// `npm run test:servers`: the end-to-end suite against real servers. Builds kube-apiserver and etcd from their Go modules
// when the tool cache has none, starts them on free ports, runs the suite, and stops them. Arguments go to `node --test`,
// for instance `npm run test:servers -- --test-name-pattern=bookmark`.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SetupError, buildServer } from "../tests/servers/harness/build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

try {
  // Built here and not by the first test, so that minutes of compiling are seen as such.
  for (const name of /** @type {const} */ (["etcd", "kube-apiserver"])) await buildServer(name);

  const folder = join(root, "tests", "servers");
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".test.mjs"))
    .map((name) => join(folder, name));
  // One file at a time: each starts servers of its own, and those are heavier than the tests.
  const args = ["--test", "--test-concurrency=1", "--test-reporter=spec", ...process.argv.slice(2), ...files];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise((resolve) => child.once("exit", (code, signal) => resolve(signal ? 1 : code)));
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  process.exitCode = 1;
}
