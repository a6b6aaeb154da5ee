// One event to many callbacks: what they add to it.
import { withPage } from "../lib/browser.mjs";
import { OURS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";

const PLANS = {
  full: { rounds: 9, counts: { 100: 4_000, 1_000: 1_000, 10_000: 200 }, wholeWay: 1_000 },
  quick: { rounds: 3, counts: { 100: 200, 1_000: 50, 10_000: 10 }, wholeWay: 50 },
};

const minus = (a, b) => ({ clock: a.clock - b.clock, cpu: a.cpu - b.cpu });
const without = (name) => `${name}, no callbacks`;

export default {
  name: "fanout",
  async measure({ browser, url, mode, say }) {
    const { rounds, counts, wholeWay } = PLANS[mode];
    const run = (options) => withPage(browser, url, (page) => page.run("fanout", { rounds, ...options }));
    const results = {};
    for (const [callbacks, count] of Object.entries(counts)) {
      say(`fanout to ${callbacks}`);
      results[callbacks] = await run({ count, callbacks: Number(callbacks), size: "small" });
    }
    say("fanout, the whole way");
    results["whole way"] = await run({ count: wholeWay, callbacks: 1_000, size: "large" });
    return results;
  },
  scenarios: (results) => results,
  lines({ "whole way": wholeWay, ...alone }) {
    const parsing = "JSON.parse and loop";
    return [
      ...Object.values(alone).map((scenario) => {
        const ours = minus(perUnit(scenario, OURS), perUnit(scenario, without(OURS)));
        const theirs = minus(perUnit(scenario, "loop"), perUnit(scenario, without("loop")));
        const what = `an event to ${scenario.callbacks.toLocaleString("en")} callbacks, delivery alone`;
        return timeRow(what, "plain loop", ours, theirs, scenario.callbacks === 1000 ? { ratio: "1.5" } : undefined);
      }),
      timeRow("a 14.4 kB frame to 1,000 callbacks, the whole way", parsing, perUnit(wholeWay, OURS), perUnit(wholeWay, parsing)),
    ];
  },
};
