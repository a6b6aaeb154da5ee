#!/usr/bin/env node
// `npm run bench`: the package against its peers, in a headless Chromium, both in the same run. Nothing is asserted about time; that every
// harness did the same work is, by a checksum over what its subscribers received.
//   quick       fewer rounds and a smaller list: whether it all works, not how fast it is; kept in artifacts/
//   --name=NAME the result's file, benches/results/NAME.json (latest); "latest" also goes into benches/README.md
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { format } from "prettier";
import { launch, withPage } from "../benches/lib/browser.mjs";
import { measureLoad } from "../benches/lib/load.mjs";
import { commit, machine } from "../benches/lib/machine.mjs";
import { intoReadme } from "../benches/lib/readme.mjs";
import { disagreements, ratioTable, sizeTable } from "../benches/lib/report.mjs";
import { measureSize } from "../benches/lib/size.mjs";
import { startServer } from "../www/server/index.mjs";
import { build } from "./build.mjs";
import { CommandFailed, main, say } from "./lib/fail.mjs";
import { root } from "./lib/project.mjs";
import { setup } from "./setup.mjs";

const PLANS = {
  full: { rounds: 9, frames: 2_000, fanout: { 100: 4_000, 1_000: 1_000, 10_000: 200 }, load: { pods: 10_000, rounds: 5, probes: 3 } },
  quick: { rounds: 3, frames: 200, fanout: { 100: 400, 1_000: 100, 10_000: 20 }, load: { pods: 1_000, rounds: 1, probes: 1 } },
};

async function measure(browser, plan) {
  const { rounds } = plan;
  const server = await startServer({ port: 0, pods: 0, rate: 0, root });
  const run = (scenario, options) => {
    say(`${scenario} ${JSON.stringify(options)}`);
    return withPage(browser, server.url, (page) => page.run(scenario, options));
  };
  try {
    const ingest = await run("ingest", { rounds, count: plan.frames, objects: 20 });
    const read = await run("ingest", { rounds, count: plan.frames, objects: 20, read: true });
    const stream = await run("ingest", { rounds, count: plan.frames, objects: 20, transport: "fetch" });
    const fanout = [];
    for (const [callbacks, count] of Object.entries(plan.fanout)) {
      fanout.push(await run("fanout", { rounds, count, callbacks: Number(callbacks), size: "small" }));
    }
    const wholeWay = await run("fanout", { rounds, count: plan.frames / 2, callbacks: 1_000, size: "large" });
    say(`load ${JSON.stringify(plan.load)}`);
    const load = await measureLoad(browser, { ...plan.load, root });
    return { ingest, read, stream, fanout, wholeWay, load };
  } finally {
    await server.close();
  }
}

await main(async () => {
  const quick = process.argv.includes("quick");
  const name = process.argv.find((argument) => argument.startsWith("--name="))?.slice("--name=".length) ?? "latest";
  await setup();
  await build();

  const browser = await launch();
  const about = { date: new Date().toISOString(), commit: commit(root), machine: machine(browser.version()) };
  let results;
  try {
    results = await measure(browser, PLANS[quick ? "quick" : "full"]);
  } finally {
    await browser.close();
  }
  const size = await measureSize(root);

  const { machine: on } = about;
  const tables = `${ratioTable(results)}\n\n${sizeTable(size)}`;
  const where = `Commit ${about.commit}, ${about.date.slice(0, 10)}: ${on.browser}, ${on.cores} cores of ${on.cpu}, load at start ${on.loadAtStart[0]}.`;
  console.log(`\n${tables}\n\n${where}`);
  if (quick) console.log("Rounds as short as these prove that it works; their times say nothing.");

  const file = join(root, quick ? "artifacts/bench-quick.json" : `benches/results/${name}.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await format(JSON.stringify({ ...about, results, size }), { parser: "json", printWidth: 140 }));
  if (!quick && name === "latest") intoReadme(root, "latest", `${where}\n\n${tables}`);

  const { fanout, ...others } = results;
  const wrong = [...Object.entries(others), ...fanout.map((scenario) => [`fanout to ${scenario.callbacks}`, scenario])].flatMap(
    ([scenarioName, scenario]) => disagreements(scenario, scenarioName),
  );
  for (const sentence of wrong) console.log(sentence);
  if (wrong.length > 0) throw new CommandFailed("not every harness did the same work, so the numbers above compare nothing.");
  say("every harness of every scenario did the same work");
});
