#!/usr/bin/env node
// `npm run bench`: the package against its peers, in a headless Chromium, both in the same run. It asserts that every harness did the same
// work, by a checksum over what its subscribers received, and nothing about time.
//   ROW...      only these rows; see benches/rows
//   servers     the rows over real servers, which need Go; they are measured apart from all others, and go into benches/README.md
//   quick       fewer rounds and smaller lists, to see that it works; the result is kept in artifacts/
//   --again     ROWs take the place of what the latest whole run has of them, each with its own commit
//   --name=NAME the result's file, benches/results/NAME.json (latest); a whole run as "latest" also goes into benches/README.md and README.md
//   --engine=firefox or --engine=webkit: the rows that need no more than a page, by WebDriver; a whole run goes into benches/README.md, apart
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format } from "prettier";
import { launch, nameOf } from "./lib/browser.mjs";
import { bundlePage } from "./lib/bundle.mjs";
import { CHROMIUM, ENGINES, launchOther } from "./lib/engines.mjs";
import { commit, machine } from "./lib/machine.mjs";
import { startPageServer } from "./lib/page-server.mjs";
import { intoReadme } from "./lib/readme.mjs";
import { disagreements, goalTable, ratioTable } from "./lib/report.mjs";
import { ROWS, SERVER_ROWS } from "./rows/index.mjs";
import { startServer } from "../www/server/index.mjs";
import { build } from "../scripts/build.mjs";
import { CommandFailed, SetupError, main, say } from "../scripts/lib/fail.mjs";
import { root } from "../scripts/lib/project.mjs";
import { setup } from "../scripts/setup.mjs";

/** What the command line asks for. */
function parse(given) {
  const asked = { mode: "full", name: undefined, engine: CHROMIUM, rows: [], again: false };
  for (let i = 0; i < given.length; i++) {
    const argument = given[i];
    if (argument === "quick") asked.mode = "quick";
    else if (argument === "--again") asked.again = true;
    else if (argument.startsWith("--name=")) asked.name = argument.slice("--name=".length);
    else if (argument === "--engine") asked.engine = given[++i];
    else if (argument.startsWith("--engine=")) asked.engine = argument.slice("--engine=".length);
    else if (argument === "servers") asked.rows.push(...SERVER_ROWS.map((row) => row.name));
    else asked.rows.push(argument);
  }
  const { mode, engine, again } = asked;
  const ofServers = SERVER_ROWS.filter((row) => asked.rows.includes(row.name));
  if (ofServers.length > 0) return parseServers(asked, ofServers);
  if (!ENGINES.includes(engine)) throw new SetupError(`there is no engine ${engine}: choose from ${ENGINES.join(", ")}.`);
  const all = engine === CHROMIUM ? ROWS : ROWS.filter(({ anyEngine }) => anyEngine);
  const names = all.map(({ name }) => name);
  const unknown = asked.rows.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    const where = engine === CHROMIUM ? "" : ` in ${engine}`;
    throw new SetupError(`there is no row ${unknown.join(", ")}${where}: choose from ${names.join(", ")}.`);
  }
  // The whole run of an engine is kept under its own name.
  const whole = engine === CHROMIUM ? "latest" : engine;
  const { name = whole } = asked;
  if (again && (mode === "quick" || name !== "latest" || asked.rows.length === 0))
    throw new SetupError("--again replaces single rows of the latest whole run in Chromium: name them, without quick, --name or --engine.");
  return { ...asked, name, whole, all, rows: all.filter((row) => asked.rows.length === 0 || asked.rows.includes(row.name)) };
}

/** The same where rows over real servers are named. */
function parseServers(asked, rows) {
  const { mode, engine, again, name = "servers" } = asked;
  if (asked.rows.length > rows.length || engine !== CHROMIUM)
    throw new SetupError("rows over real servers are measured in Chromium and alone: name no other rows and no --engine.");
  if (again && (mode === "quick" || name !== "servers"))
    throw new SetupError("--again replaces single rows of the kept run: without quick and --name.");
  return { ...asked, name, whole: "servers", all: SERVER_ROWS, rows };
}

/** Where a run's results are kept: a quick one's out of the way, single rows beside the whole run. */
function fileOf({ mode, name, whole, engine }, isWhole) {
  const apart = engine === CHROMIUM ? "" : `-${engine}`;
  if (mode === "quick") return `artifacts/bench-quick${apart}.json`;
  return `benches/results/${isWhole || name !== whole ? name : `rows${apart}`}.json`;
}

async function measure(browser, { rows, mode, engine }) {
  const page = await bundlePage(root);
  const server = engine === CHROMIUM ? await startServer({ port: 0, pods: 0, rate: 0, root: page }) : await startPageServer(page);
  try {
    const results = {};
    for (const row of rows) {
      const began = performance.now();
      try {
        results[row.name] = await row.measure({ browser, url: server.url, root, page, mode, say });
      } catch (error) {
        // One row that fails must not cost the others.
        say(`${row.name} failed: ${error.stack ?? error}`);
        results[row.name] = { failed: String(error.message ?? error).split("\n")[0] };
        continue;
      }
      say(`${row.name} took ${Math.round((performance.now() - began) / 1000)} s`);
    }
    return results;
  } finally {
    await server.close();
  }
}

/** The whole run that is kept, with these rows instead of its own. */
function intoKept(whole, about, results) {
  const kept = JSON.parse(readFileSync(join(root, `benches/results/${whole}.json`), "utf8"));
  const again = Object.fromEntries(Object.keys(results).map((name) => [name, about]));
  return { ...kept, again: { ...kept.again, ...again }, results: { ...kept.results, ...results } };
}

/** Where and of what a run was made. */
function origin({ date, commit: of, machine: on, again = {} }) {
  const first = `Commit ${of}, ${date.slice(0, 10)}: ${on.browser}, ${on.cores} cores of ${on.cpu}, load at start ${on.loadAtStart[0]}.`;
  const later = Object.entries(again).map(
    ([row, about]) => `The row \`${row}\` was measured again at commit ${about.commit}, ${about.date.slice(0, 10)}.`,
  );
  return [first, ...later].join(" ");
}

await main(async () => {
  const asked = parse(process.argv.slice(2));
  const { rows, mode, name, whole, engine, all } = asked;
  await setup();
  await build();

  const browser = engine === CHROMIUM ? await launch() : await launchOther(engine);
  const about = { date: new Date().toISOString(), commit: commit(root), machine: machine(nameOf(browser)) };
  let results;
  try {
    results = await measure(browser, asked);
  } finally {
    await browser.close();
  }

  const failed = rows.filter((row) => results[row.name].failed);
  const run = asked.again && failed.length === 0 ? intoKept(whole, about, results) : { ...about, results };
  const shown = [...ROWS, ...SERVER_ROWS].filter((row) => run.results[row.name]);
  const done = shown.filter((row) => !run.results[row.name].failed);
  const lines = [
    ...done.flatMap((row) => row.lines(run.results[row.name])),
    ...failed.map(({ name: what }) => ({ what, failed: "failed", peer: "" })),
  ];
  const own = done.flatMap((row) => (row.table ? [row.table(run.results[row.name])] : []));
  const tables = [...(lines.length > 0 ? [ratioTable(lines)] : []), ...own].join("\n\n");
  console.log(`\n${tables}\n\n${origin(run)}`);
  if (mode === "quick") console.log("Rounds as short as these prove that it works; their times say nothing.");

  const isWhole = shown.length === all.length;
  const file = join(root, fileOf(asked, isWhole));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await format(JSON.stringify(run), { parser: "json", printWidth: 140 }));
  if (mode === "full" && isWhole && name === whole) {
    intoReadme(root, name, `${origin(run)}\n\n${tables}`);
    // README.md has the sizes already.
    if (all === ROWS) intoReadme(root, "figures", goalTable(lines.filter(({ unit }) => unit !== "kB")), "README.md");
  }

  // What is kept of an earlier run was judged there.
  const measured = done.filter((row) => rows.includes(row));
  const wrong = measured.flatMap((row) =>
    Object.entries(row.scenarios(run.results[row.name])).flatMap(([scenario, result]) => disagreements(result, `${row.name}, ${scenario}`)),
  );
  for (const sentence of wrong) console.log(sentence);
  if (wrong.length > 0) throw new CommandFailed("not every harness did the same work, so the numbers above compare nothing.");
  if (failed.length > 0) throw new CommandFailed(`not every row could be measured: ${failed.map((row) => row.name).join(", ")}.`);
  say("every harness of every scenario did the same work");
});
