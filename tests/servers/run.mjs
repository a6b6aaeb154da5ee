#!/usr/bin/env node
// `npm run test:servers`: the end-to-end suite against real servers. Builds kube-apiserver and etcd from their Go modules
// when the tool cache has none, starts them on free ports, runs the suite, and stops them. Arguments go to `node --test`:
//   npm run test:servers -- --test-name-pattern=bookmark
//   npm run test:servers -- --turn     the share whose turn it is, the next with each commit; MATRIX=all takes all of them
import { build } from "../../scripts/build.mjs";
import { CommandFailed, main, say } from "../../scripts/lib/fail.mjs";
import { filesUnder } from "../../scripts/lib/hash.mjs";
import { nodeTest } from "../../scripts/lib/node-test.mjs";
import { setup } from "../../scripts/setup.mjs";
import { requireGo } from "../../scripts/lib/go.mjs";
import { buildServer } from "./harness/build.mjs";
import { shareOf } from "./shares.mjs";

await main(async () => {
  requireGo(); // before anything that takes long
  await setup();
  await build();

  const given = process.argv.slice(2);
  const all = filesUnder(["tests/servers"], (path) => path.endsWith(".test.mjs"));
  const { name, files } = given.includes("--turn") && process.env.MATRIX !== "all" ? shareOf(all) : { name: "all", files: all };
  say(`the suites against real servers: ${name}`);
  // Built here and not by the first test, so that minutes of compiling are seen as such.
  await buildServer("etcd");
  if (name !== "etcd") await buildServer("kube-apiserver");

  // One file at a time: each starts servers of its own, and those are heavier than the tests.
  const { code, details } = await nodeTest(files, { args: given.filter((argument) => argument !== "--turn") });
  if (details) console.log(`\n──── what failed\n${details}`);
  if (code !== 0) throw new CommandFailed("the end-to-end suite failed against the real servers.");
});
