// One event to many callbacks: what they add to it.
import { withRuns } from "../lib/pages.mjs";
import { OURS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";
import { ofShape, REPLACED, SHAPES } from "../lib/shapes.mjs";

const PLANS = {
  full: { rounds: 9, counts: { 100: 4_000, 1_000: 1_000, 10_000: 200 }, wholeWay: 1_000 },
  quick: { rounds: 2, counts: { 100: 200, 1_000: 50, 10_000: 10 }, wholeWay: 50 },
  tab: { rounds: 7, counts: { 100: 4_000, 1_000: 1_000, 10_000: 200 }, wholeWay: 500 },
};

/** Chromium alone tells processor time. */
const minus = (a, b) => ({ clock: a.clock - b.clock, cpu: a.cpu && a.cpu - b.cpu });
const wholeWayOf = (shape) => ofShape("the whole way", shape);
const without = (name) => `${name}, no callbacks`;

export default {
  name: "fanout",
  anyEngine: true,
  async measure({ browser, url, mode, say }) {
    const { rounds, counts, wholeWay } = PLANS[mode];
    const results = {};
    await withRuns(browser, url, mode, async (run) => {
      for (const [callbacks, count] of Object.entries(counts)) {
        say(`fanout to ${callbacks}`);
        results[callbacks] = await run("fanout", { rounds, count, callbacks: Number(callbacks), shape: REPLACED, size: "small" });
      }
      for (const shape of SHAPES) {
        const name = wholeWayOf(shape);
        say(`fanout, ${name}`);
        results[name] = await run("fanout", { rounds, count: wholeWay, callbacks: 1_000, shape });
      }
    });
    return results;
  },
  scenarios: (results) => results,
  lines(results) {
    const parsing = "JSON.parse and loop";
    const alone = Object.entries(results).filter(([name]) => !SHAPES.some((shape) => name === wholeWayOf(shape)));
    return [
      ...alone.map(([, scenario]) => {
        const ours = minus(perUnit(scenario, OURS), perUnit(scenario, without(OURS)));
        const theirs = minus(perUnit(scenario, "loop"), perUnit(scenario, without("loop")));
        const what = `an event to ${scenario.callbacks.toLocaleString("en")} callbacks, delivery alone`;
        return timeRow(what, "plain loop", ours, theirs, scenario.callbacks === 1000 ? { ratio: "1.5" } : undefined);
      }),
      ...SHAPES.map((shape) => {
        const scenario = results[wholeWayOf(shape)];
        const what = ofShape("a 14.4 kB frame to 1,000 callbacks, the whole way", shape);
        return timeRow(what, parsing, perUnit(scenario, OURS), perUnit(scenario, parsing));
      }),
    ];
  },
};
