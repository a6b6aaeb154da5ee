// A start from what was kept on disk, against a list from a server on the same machine.
import { startServer } from "../../www/server/index.mjs";
import { OURS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";
import { inTurns } from "../lib/turns.mjs";

const COLD = "a cold list";
const PLANS = { full: { rounds: 9, pods: 10_000 }, quick: { rounds: 1, pods: 300 } };
const WHAT = { first: "first rows", all: "all rows" };

export default {
  name: "warm",
  async measure({ browser, page, mode, say }) {
    const { rounds, pods } = PLANS[mode];
    // Pages may ask their own origin alone.
    const server = await startServer({ port: 0, pods, rate: 0, root: page });
    const results = {};
    try {
      for (const what of Object.keys(WHAT)) {
        say(`a warm start of ${pods} pods: ${WHAT[what]}`);
        const options = (harness) => ({ harness, pods });
        const harnesses = await inTurns(browser, server.url, [OURS, COLD], { rounds, scenario: "Warm", options, round: { what } });
        results[WHAT[what]] = { unit: "pod", units: pods, harnesses };
      }
    } finally {
      await server.close();
    }
    return results;
  },
  scenarios: (results) => results,
  lines: (results) => {
    const of = (what, name) => perUnit(results[WHAT[what]], name);
    const line = (what, goal) => timeRow(`a warm start of 10,000 pods: ${WHAT[what]}`, COLD, of(what, OURS), of(what, COLD), goal);
    return [line("first", { ratio: "1" }), line("all", { ratio: "1/3" })];
  },
};
