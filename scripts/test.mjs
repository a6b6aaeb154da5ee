#!/usr/bin/env node
// `npm test`: sets up what is missing, then runs every test, group by group, and fails at the end if one of them failed.
// Names select groups. The group packaging has a matrix of bundlers, runners and hosts, and takes the next of each kind with each commit.
//   npm test -- rust browser node page engines packaging
//   MATRIX=all   the whole matrix; MATRIX=NAMES, with commas between them, these alone
// The group engines runs a share of the browser suites in another engine, the next one with each commit.
//   --all        every group, the whole matrix, all engines, and the end-to-end tests against real servers (`npm run test:all`)
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { build } from "./build.mjs";
import { buildPage } from "./build-page.mjs";
import { startBrowserServers } from "./lib/browser-servers.mjs";
import { everyStep, stepOfTheDay } from "./lib/browser-suites.mjs";
import { failuresOf, lastLines } from "./lib/failures.mjs";
import { TESTED } from "./lib/engines.mjs";
import { browserEnvironment, nativeEnvironment } from "./lib/env.mjs";
import { CommandFailed, SetupError, main } from "./lib/fail.mjs";
import { filesUnder } from "./lib/hash.mjs";
import { nodeTest } from "./lib/node-test.mjs";
import { root } from "./lib/project.mjs";
import { run } from "./lib/run.mjs";
import { summary } from "./lib/summary.mjs";
import { setup } from "./setup.mjs";

/** No group may hang for ever: a hang is a failure and has to be seen as one. */
const GROUP_LIMIT_MS = 35 * 60_000;

const isTest = (path) => path.endsWith(".test.mjs");
const under = (...folders) => filesUnder(folders, isTest);

/** A test target of Rust is a file of tests/, or a folder of it with a main.rs. Those of the browser begin with "web". */
const rustTargets = readdirSync(join(root, "tests"))
  .filter((name) => name.endsWith(".rs") || existsSync(join(root, "tests", name, "main.rs")))
  .map((name) => name.replace(/\.rs$/, ""));
const asArguments = (targets) => targets.flatMap((name) => ["--test", name]);

/** Counts every byte of its process, so that one of its tests runs at a time, for minutes. The others run beside it. */
const LONE = "flat";

async function cargoTest() {
  const cargo = (...args) =>
    run("cargo", ["test", "--locked", "--no-fail-fast", ...args], {
      cwd: root,
      env: nativeEnvironment(),
      collect: true,
      timeoutMs: GROUP_LIMIT_MS,
    });
  const rest = rustTargets.filter((name) => name !== LONE && !name.startsWith("web"));
  const others = async () => [await cargo("--lib", ...asArguments(rest)), await cargo("--doc")];
  const ran = [await cargo("--no-run")];
  if (ran[0].code === 0) ran.push(...(await Promise.all([cargo("--test", LONE), others()])).flat());
  const { code = 0 } = ran.find(({ code }) => code !== 0) ?? {};
  return { code, details: failuresOf(ran.map(({ output }) => output).join("\n")) };
}

/**
 * The runner gives a driver 5 s to start, and a page 20 s to load a debug build and to run all its tests. A quiet machine needs a quarter of that,
 * and a busy one all of it. So these are here to end what hangs.
 */
const PATIENCE = { WASM_BINDGEN_TEST_DRIVER_TIMEOUT: "60", WASM_BINDGEN_TEST_TIMEOUT: "180" };

async function browserTest() {
  const targets = asArguments(rustTargets.filter((name) => name.startsWith("web")));
  if (targets.length === 0) throw new CommandFailed("tests/ holds no web*.rs and no web*/main.rs, so nothing was tested in the browser.");
  const args = ["test", "--headless", "--chrome", "--mode", "no-install", ".", "--locked", ...targets];
  const servers = await startBrowserServers();
  try {
    const env = { ...browserEnvironment(), ...PATIENCE, ...servers.env };
    const { code, output } = await run("wasm-pack", args, { cwd: root, env, collect: true, timeoutMs: GROUP_LIMIT_MS });
    return { code, details: lastLines(output) };
  } finally {
    await servers.close();
  }
}

const nodeGroup = (files, atATime) => nodeTest(files, { atATime, timeoutMs: GROUP_LIMIT_MS });

const groups = {
  rust: { title: "cargo test", run: cargoTest },
  browser: { title: "wasm-pack test, in the browser", run: browserTest },
  node: {
    title: "node --test: server, facade, scripts, end to end",
    run: async () => {
      // Those of Node alone wait more than they work.
      const alone = under("tests/js", "tests/e2e", "tests/types", "benches", "www/server", "src/js");
      const apart = new Set([...alone, ...under("tests/page", "tests/packaging", "tests/servers")]);
      const others = under("tests").filter((file) => !apart.has(file));
      const ran = [await nodeGroup(alone, availableParallelism()), await nodeGroup(others)];
      const { code = 0 } = ran.find(({ code }) => code !== 0) ?? {};
      const told = ran.map(({ details }) => details).filter(Boolean);
      return { code, details: told.join("\n") };
    },
  },
  page: { title: "the demo page, driven by Playwright", run: () => nodeGroup(under("tests/page")) },
  engines: { title: "a share of the browser suites in another engine", run: () => stepOfTheDay() },
  packaging: {
    title: "the packed package in fresh apps",
    run: () => nodeGroup(under("tests/packaging")),
  },
};

const servers = {
  title: "end to end, against a real kube-apiserver and etcd",
  run: () => run(process.execPath, ["tests/servers/run.mjs"], { cwd: root, timeoutMs: 2 * GROUP_LIMIT_MS }),
};

const allEngines = {
  title: "the browser suites in other engines",
  run: async () => ({ code: await summary(everyStep(TESTED)) }),
};

await main(async () => {
  const all = process.argv.includes("--all");
  if (all) {
    process.env.MATRIX ??= "all";
    groups.servers = servers;
    groups.engines = allEngines;
  }
  const asked = process.argv.slice(2).filter((name) => name !== "--all");
  for (const name of asked) {
    if (!groups[name]) throw new SetupError(`there is no test group ${name}: choose from ${Object.keys(groups).join(", ")}.`);
  }
  await setup();
  await build();
  await buildPage();
  const chosen = Object.entries(groups).filter(([name]) => asked.length === 0 || asked.includes(name));
  const failed = await summary(chosen.map(([, group]) => group));
  if (!all)
    console.log(
      "\nNot part of this: `npm run test:all`, which adds every bundler, runner and host, all browser suites in both other engines, and a real kube-apiserver and etcd (needs Go).",
    );
  if (failed > 0) throw new CommandFailed(`${failed} of ${chosen.length} test groups failed.`);
});
