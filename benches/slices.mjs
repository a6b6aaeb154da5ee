// What a page in Chromium feels under load: the longest task of its main thread, and the longest time without a frame. The load is
// 100,000 pods: listed, filtered, searched and ordered for the first time, and listed anew under live tables.
//
//   node scripts/env.mjs -- node benches/slices.mjs [--pods 100000] [--changes 20000] [--rounds 3] [--keep]
//
// The package and hand-written code alternate, each round on a fresh page of a server of its own. They have to show the same rows. A task
// is measured by the clock and by its thread's processor time: the difference is time that other processes took. `--keep` writes the rounds
// to benches/results/slices.json.
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startServer } from "../www/server/index.mjs";
import { launch, nameOf } from "./lib/browser.mjs";
import { bundlePage } from "./lib/bundle.mjs";
import { commit, machine } from "./lib/machine.mjs";
import { openPage } from "./lib/pages.mjs";
import { median, number, table } from "./lib/report.mjs";
import { stepTrace } from "./lib/trace.mjs";
import { root } from "../scripts/lib/project.mjs";

/** Every server has the same pods. */
const NOW = Date.UTC(2026, 0, 1);
const OURS = "watchcache";
const HARNESSES = [OURS, "Map, filter and sort"];
const STEPS = {
  load: "listed",
  filter: "the first filter",
  search: "the first search",
  sort: "the first order",
  relist: "listed anew under live tables",
};
const FIGURES = ["ms", "longest", "longestCpu", "undrawn"];

/** The server, in a process of its own. */
async function serve(page, pods) {
  const server = await startServer({ port: 0, pods, rate: 0, root: page, now: () => NOW });
  process.on("message", ({ changes }) => {
    // All streams end, changes happen, and the versions from before are gone: 410.
    server.control.fault("freeze");
    server.control.step(changes);
    server.control.fault("expire");
    process.send({ version: Number(server.control.digest("pods").resourceVersion) });
  });
  process.send({ url: server.url });
}

async function withServer(page, pods, work) {
  const child = fork(import.meta.filename, ["server", page, String(pods)], { execArgv: ["--max-old-space-size=12000"] });
  const answer = async () => (await once(child, "message"))[0];
  try {
    const { url } = await answer();
    const change = (changes) => (child.send({ changes }), answer());
    return await work(url, change);
  } finally {
    child.kill();
  }
}

async function round(browser, page, harness, { pods, changes }) {
  return withServer(page, pods, async (url, change) => {
    const { run, close, throwErrors } = await openPage(browser, url);
    const steps = {};
    try {
      for (const step of Object.keys(STEPS)) {
        let result;
        const trace = await stepTrace(browser, step, async () => {
          // The package hears of it while the step runs; by hand one has to be told.
          const changed = step === "relist" ? change(changes) : Promise.resolve({});
          const version = step === "relist" && harness === OURS ? (await changed).version : (await changed)?.version;
          result = await run("slicesStep", { harness, step, version });
        });
        steps[step] = { ...result, ...trace };
      }
      throwErrors();
    } finally {
      await close();
    }
    return steps;
  });
}

async function main() {
  const { values } = parseArgs({
    options: {
      pods: { type: "string", default: "100000" },
      changes: { type: "string", default: "20000" },
      rounds: { type: "string", default: "3" },
      keep: { type: "boolean", default: false },
    },
  });
  const [pods, changes, rounds] = [values.pods, values.changes, values.rounds].map(Number);
  const page = await bundlePage(root);
  const browser = await launch();
  const about = { date: new Date().toISOString(), commit: commit(root), machine: machine(nameOf(browser)), pods, changes, rounds };
  const all = Object.fromEntries(HARNESSES.map((name) => [name, []]));
  try {
    for (let i = 0; i < rounds; i++) {
      for (const harness of i % 2 ? HARNESSES.toReversed() : HARNESSES) {
        const steps = await round(browser, page, harness, { pods, changes });
        all[harness].push(steps);
        for (const [step, { checksum, what, ...rest }] of Object.entries(steps))
          console.log(
            harness,
            step,
            JSON.stringify(Object.fromEntries(Object.entries(rest).map(([k, v]) => [k, Math.round(v * 10) / 10]))),
            checksum,
            what,
          );
      }
    }
  } finally {
    await browser.close();
  }
  for (const step of Object.keys(STEPS).slice(1)) {
    const sums = new Set(HARNESSES.flatMap((name) => all[name].map((steps) => steps[step].checksum)));
    if (sums.size > 1) throw new Error(`${step}: the harnesses show other rows: ${[...sums].join(", ")}`);
  }
  const lines = Object.entries(STEPS).flatMap(([step, what]) =>
    HARNESSES.map((name) => [
      what,
      name,
      ...FIGURES.map((figure) => {
        const list = all[name].map((steps) => steps[step][figure]);
        return figure === "ms" ? number(median(list)) : `${number(Math.min(...list))} … ${number(median(list))}`;
      }),
    ]),
  );
  console.log(table([`${number(pods)} pods`, "by", "ms", "longest task", "of processor time", "without a frame"], lines));
  if (values.keep) {
    const { format } = await import("prettier");
    const text = await format(JSON.stringify({ ...about, rounds: all }), { parser: "json", printWidth: 140 });
    writeFileSync(join(root, "benches/results/slices.json"), text);
  }
}

await (process.argv[2] === "server" ? serve(process.argv[3], Number(process.argv[4])) : main());
