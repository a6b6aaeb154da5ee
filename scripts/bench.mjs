#!/usr/bin/env node
// `npm run bench`: the package against its peers, in a headless Chromium, both in the same run. Nothing is asserted about time; that every
// harness did the same work is, by a checksum over what its subscribers received.
//   ROW...      only these rows; see benches/rows
//   quick       fewer rounds and smaller lists: whether it all works, not how fast it is; kept in artifacts/
//   --name=NAME the result's file, benches/results/NAME.json (latest); a whole run as "latest" also goes into benches/README.md and README.md
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format } from "prettier";
import { launch, withPage } from "../benches/lib/browser.mjs";
import { bundlePage } from "../benches/lib/bundle.mjs";
import { commit, machine } from "../benches/lib/machine.mjs";
import { intoReadme } from "../benches/lib/readme.mjs";
import { disagreements, goalTable, ratioTable } from "../benches/lib/report.mjs";
import { ROWS } from "../benches/rows/index.mjs";
import { startServer } from "../www/server/index.mjs";
import { build } from "./build.mjs";
import { CommandFailed, SetupError, main, say } from "./lib/fail.mjs";
import { root } from "./lib/project.mjs";
import { setup } from "./setup.mjs";

/** What the command line asks for. */
function parse(given) {
  const asked = { mode: "full", name: "latest", rows: [] };
  for (const argument of given) {
    if (argument === "quick") asked.mode = "quick";
    else if (argument.startsWith("--name=")) asked.name = argument.slice("--name=".length);
    else asked.rows.push(argument);
  }
  const unknown = asked.rows.filter((name) => !ROWS.some((row) => row.name === name));
  if (unknown.length > 0)
    throw new SetupError(`there is no row ${unknown.join(", ")}: choose from ${ROWS.map(({ name }) => name).join(", ")}.`);
  return { ...asked, rows: ROWS.filter((row) => asked.rows.length === 0 || asked.rows.includes(row.name)) };
}

/** Draws a plot and keeps it as a file. */
async function keepPlot(browser, url, mode, name, plot) {
  const svg = await withPage(browser, url, (page) => page.run("plot", plot));
  const folder = join(root, mode === "quick" ? "artifacts" : "benches/results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.svg`), svg);
}

async function measure(browser, { rows, mode }) {
  const page = await bundlePage(root);
  const server = await startServer({ port: 0, pods: 0, rate: 0, root: page });
  try {
    const results = {};
    for (const row of rows) {
      const began = performance.now();
      try {
        results[row.name] = await row.measure({ browser, url: server.url, root, page, mode, say });
      } catch (error) {
        // The other rows are worth having all the same.
        say(`${row.name} failed: ${error.stack ?? error}`);
        results[row.name] = { failed: String(error.message ?? error).split("\n")[0] };
        continue;
      }
      for (const { name, ...plot } of row.plots?.(results[row.name]) ?? []) await keepPlot(browser, server.url, mode, name, plot);
      say(`${row.name} took ${Math.round((performance.now() - began) / 1000)} s`);
    }
    return results;
  } finally {
    await server.close();
  }
}

await main(async () => {
  const asked = parse(process.argv.slice(2));
  const { rows, mode, name } = asked;
  await setup();
  await build();

  const browser = await launch();
  const about = { date: new Date().toISOString(), commit: commit(root), machine: machine(browser.version()) };
  let results;
  try {
    results = await measure(browser, asked);
  } finally {
    await browser.close();
  }

  const { machine: on } = about;
  const where = `Commit ${about.commit}, ${about.date.slice(0, 10)}: ${on.browser}, ${on.cores} cores of ${on.cpu}, load at start ${on.loadAtStart[0]}.`;
  const failed = rows.filter((row) => results[row.name].failed);
  const done = rows.filter((row) => !results[row.name].failed);
  const lines = [
    ...done.flatMap((row) => row.lines(results[row.name])),
    ...failed.map(({ name: what }) => ({ what, failed: "failed", peer: "" })),
  ];
  const own = done.flatMap((row) => (row.table ? [row.table(results[row.name])] : []));
  const tables = [...(lines.length > 0 ? [ratioTable(lines)] : []), ...own].join("\n\n");
  console.log(`\n${tables}\n\n${where}`);
  if (mode === "quick") console.log("Rounds as short as these prove that it works; their times say nothing.");

  const whole = rows.length === ROWS.length;
  const kept = mode === "quick" ? "artifacts/bench-quick.json" : `benches/results/${whole || name !== "latest" ? name : "rows"}.json`;
  const file = join(root, kept);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await format(JSON.stringify({ ...about, results }), { parser: "json", printWidth: 140 }));
  if (mode === "full" && whole && name === "latest") {
    intoReadme(root, "latest", `${where}\n\n${tables}`);
    intoReadme(root, "figures", goalTable(lines), "README.md");
  }

  const wrong = done.flatMap((row) =>
    Object.entries(row.scenarios(results[row.name])).flatMap(([scenario, result]) => disagreements(result, `${row.name}, ${scenario}`)),
  );
  for (const sentence of wrong) console.log(sentence);
  if (wrong.length > 0) throw new CommandFailed("not every harness did the same work, so the numbers above compare nothing.");
  if (failed.length > 0) throw new CommandFailed(`not every row could be measured: ${failed.map((row) => row.name).join(", ")}.`);
  say("every harness of every scenario did the same work");
});
