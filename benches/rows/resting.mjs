// The first read of objects that rest: one by one, and the rows of a table's page at once.
import { OURS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";
import { inTurns } from "../lib/turns.mjs";

const PLANS = {
  full: { rounds: 9, objects: 5_000, count: 400 },
  quick: { rounds: 1, objects: 200, count: 100 },
  tab: { rounds: 7, objects: 2_000, count: 200 },
};
const PARSE = "JSON.parse";
const VARIANTS = {
  "one by one": { what: "first read of a pod at rest", peer: "JSON.parse of its text", atOnce: 1, goal: "1.35" },
  "at once": { what: "first read of 50 rows of pods at rest, each", peer: "JSON.parse of its text", atOnce: 50, goal: "1.15" },
};

export default {
  name: "resting",
  anyEngine: true,
  async measure({ browser, url, mode, say }) {
    const { rounds, objects, count } = PLANS[mode];
    const results = {};
    for (const [name, { atOnce }] of Object.entries(VARIANTS)) {
      say(`first reads of resting objects, ${name}`);
      const options = (harness) => ({ harness, objects });
      const round = { count, atOnce };
      const harnesses = await inTurns(browser, url, [OURS, PARSE], { rounds, scenario: "Resting", options, round });
      results[name] = { unit: "read", units: count, harnesses };
    }
    return results;
  },
  scenarios: (results) => results,
  lines: (results) =>
    Object.entries(VARIANTS).map(([name, { what, peer, goal }]) => {
      const [ours, theirs] = [perUnit(results[name], OURS), perUnit(results[name], PARSE)];
      return timeRow(what, peer, ours, theirs, { ratio: goal });
    }),
};
