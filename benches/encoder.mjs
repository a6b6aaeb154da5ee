#!/usr/bin/env node
// Whether it pays, in each engine, to compare a socket's frame with the one before it (src/js/wire/frame-encoder.ts) rather than to encode it.
//
//   node scripts/env.mjs -- node benches/encoder.mjs [--engine chromium] [--engine firefox] [--engine webkit] [--rounds 45] [--always]
//
// It needs what `npm run build` builds. The encoder and `encodeInto` take turns on one page, round by round, and have to write the same
// bytes. A ratio below 1 says that comparing pays. It is the median of the rounds, with the quartiles of them. The last column is what the
// encoder found out by its trial; with --always it compares without one.
import { parseArgs } from "node:util";
import { launch, nameOf } from "./lib/browser.mjs";
import { bundlePage } from "./lib/bundle.mjs";
import { CHROMIUM, ENGINES, launchOther } from "./lib/engines.mjs";
import { commit, machine } from "./lib/machine.mjs";
import { startPageServer } from "./lib/page-server.mjs";
import { withPage } from "./lib/pages.mjs";
import { disagreements, median, number, quantile, table } from "./lib/report.mjs";
import { ofShape, SHAPES } from "./lib/shapes.mjs";
import { CommandFailed, main, say } from "../scripts/lib/fail.mjs";
import { root } from "../scripts/lib/project.mjs";

const [OURS, PEER] = ["FrameEncoder", "encodeInto"];

/**
 * Of few objects each frame finds the one before it. Of many none does. Then all frames count from one try to the next, most of which are
 * encoded as they come. These take so many more that fewer rounds say as much.
 */
const PLANS = [
  { objects: 20, warmUp: 100, count: 2_000, share: 1 },
  { objects: 10_000, warmUp: 0, count: 17_400, share: 1 / 5 },
];

const perFrame = (scenario, name) => scenario.harnesses[name].ms.map((ms) => (ms * 1000) / scenario.units);

async function measure(engine, rounds, always) {
  const browser = engine === CHROMIUM ? await launch() : await launchOther(engine);
  const server = await startPageServer(await bundlePage(root));
  try {
    const lines = [];
    for (const { objects, share, ...plan } of PLANS) {
      for (const shape of SHAPES) {
        const what = ofShape(`${number(objects)} objects in turn`, shape);
        say(`${engine}: ${what}`);
        const options = { ...plan, objects, shape, always, rounds: Math.ceil(rounds * share) };
        const scenario = await withPage(browser, server.url, (page) => page.run("encoder", options));
        const wrong = disagreements(scenario, what);
        if (wrong.length > 0) throw new CommandFailed(wrong.join("\n"));
        const [ours, theirs] = [OURS, PEER].map((name) => perFrame(scenario, name));
        const ratios = ours.map((value, round) => value / theirs[round]);
        const [low, high] = [0.25, 0.75].map((part) => number(quantile(ratios, part)));
        lines.push([
          what,
          `${number(median(ours))} µs`,
          `${number(median(theirs))} µs`,
          number(median(ratios)),
          `${low} … ${high}`,
          String(scenario.pays),
        ]);
      }
    }
    return { name: nameOf(browser), lines };
  } finally {
    await server.close();
    await browser.close();
  }
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      engine: { type: "string", multiple: true, default: ENGINES },
      rounds: { type: "string", default: "45" },
      always: { type: "boolean", default: false },
    },
  });
  for (const engine of values.engine) {
    const { name, lines } = await measure(engine, Number(values.rounds), values.always);
    const { cores, cpu, loadAtStart } = machine(name);
    console.log(
      `\n${table([name, OURS, PEER, "ratio", "quartiles", "pays"], lines)}\n\nCommit ${commit(root)}, ${cores} cores of ${cpu}, load ${loadAtStart[0]}.`,
    );
  }
});
