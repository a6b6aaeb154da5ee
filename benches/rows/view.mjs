// A table of 50 rows over many objects: what keeping it up to date costs a flush, by the thread's time.
import { ALL, MAP, OURS, PEERS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";
import { inTurns } from "../lib/turns.mjs";

const PLANS = {
  full: { rounds: 7, objects: 100_000, count: 1_000 },
  quick: { rounds: 1, objects: 2_000, count: 100 },
  tab: { rounds: 5, objects: 10_000, count: 1_000 },
};

export default {
  name: "view",
  async measure({ browser, url, mode, say }) {
    const { rounds, objects, count } = PLANS[mode];
    say(`view over ${objects} objects`);
    const options = (harness) => ({ harness, objects });
    const harnesses = await inTurns(browser, url, ALL, { rounds, scenario: "View", options, round: { count } });
    return { unit: "flush", units: 1, objects, count, harnesses };
  },
  scenarios: (result) => ({ view: result }),
  lines(scenario) {
    const { objects, count } = scenario;
    const what = `50 rows over ${objects.toLocaleString("en")} objects, a flush of ${count.toLocaleString("en")} events`;
    const ours = perUnit(scenario, OURS);
    const peerNames = { [MAP]: "Map, filter and sort" };
    return PEERS.map((peer) => {
      const goal = peer === MAP ? { ratio: "1/20", ours: [2_000, "2 ms"] } : undefined;
      return timeRow(what, peerNames[peer] ?? peer, ours, perUnit(scenario, peer), goal);
    });
  },
};
