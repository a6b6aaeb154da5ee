#!/usr/bin/env node
// `npm start`: sets up what is missing, builds what has changed, then serves the demo page and its API on one origin.
// With --bench it serves a page that runs the benchmarks in the visitor's own browser instead.
// With --kubernetes a real etcd and kube-apiserver are under the page; Go builds them.
// With --etcd it is a small page over three members of etcd, which Go builds as well.
// Arguments go to the server:  npm start -- --port 8080      npm start -- --proxy http://127.0.0.1:8001
import { join } from "node:path";
import { build } from "./build.mjs";
import { buildPage } from "./build-page.mjs";
import { SetupError, main } from "./lib/fail.mjs";
import { requireGo } from "./lib/go.mjs";
import { root } from "./lib/project.mjs";
import { run } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

// npm ends without a word to what it runs, where a script ends it. Then nobody would be left who could end this.
if (process.env.npm_lifecycle_event === "start") {
  const npm = process.ppid;
  setInterval(() => process.ppid !== npm && process.kill(process.pid, "SIGTERM"), 500).unref();
}

await main(async () => {
  const given = process.argv.slice(2);
  // One text is of all modes. Who asks for it waits for no compiler, and needs none.
  if (given.includes("--help")) {
    process.exitCode = (await run(process.execPath, [join(root, "www/server/main.mjs"), "--help"])).code;
    return;
  }
  const modes = ["--kubernetes", "--etcd", "--bench"].filter((mode) => given.includes(mode));
  if (modes.length > 1) throw new SetupError(`${modes.join(" and ")} are pages of their own: choose one.`);
  const kubernetes = given.includes("--kubernetes");
  const etcd = given.includes("--etcd");
  if (kubernetes || etcd) requireGo(); // before anything that takes long
  await setup({ browser: false });
  await build();
  const bench = given.includes("--bench");
  if (!bench && !etcd) await buildPage();
  const over = kubernetes
    ? "tests/servers/clients/start-kubernetes.mjs"
    : etcd
      ? "tests/servers/start-etcd/main.mjs"
      : "www/server/main.mjs";
  const program = bench ? "benches/serve.mjs" : over;
  const passed = given.filter((argument) => !modes.includes(argument));
  const server = await run(process.execPath, [join(root, program), ...passed]);
  process.exitCode = server.code;
});
