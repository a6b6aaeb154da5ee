#!/usr/bin/env node
// `npm run test:servers`: the end-to-end suite against real servers. Builds kube-apiserver and etcd from their Go modules
// when the tool cache has none, starts them on free ports, runs the suite, and stops them. Arguments go to `node --test`:
//   npm run test:servers -- --test-name-pattern=bookmark
import { build } from "../../scripts/build.mjs";
import { browserEnvironment } from "../../scripts/lib/env.mjs";
import { CommandFailed, main } from "../../scripts/lib/fail.mjs";
import { filesUnder } from "../../scripts/lib/hash.mjs";
import { root } from "../../scripts/lib/project.mjs";
import { run } from "../../scripts/lib/run.mjs";
import { setup } from "../../scripts/setup.mjs";
import { requireGo } from "../../scripts/lib/go.mjs";
import { buildServer } from "./harness/build.mjs";

await main(async () => {
  requireGo(); // before anything that takes long
  await setup();
  await build();
  // Built here and not by the first test, so that minutes of compiling are seen as such.
  await buildServer("etcd");
  await buildServer("kube-apiserver");

  const files = filesUnder(["tests/servers"], (path) => path.endsWith(".test.mjs"));
  const reporter = process.stdout.isTTY ? "spec" : "tap";
  // One file at a time: each starts servers of its own, and those are heavier than the tests.
  const args = ["--test", "--test-concurrency=1", `--test-reporter=${reporter}`, ...process.argv.slice(2), ...files];
  const { code } = await run(process.execPath, args, { cwd: root, env: browserEnvironment() });
  if (code !== 0) throw new CommandFailed("the end-to-end suite failed against the real servers.");
});
