// The whole path: a 14.4 kB frame, 10,000 pods, 100 subscribers that each want the pods of one label, against every peer.
import { ALL, MAP, OURS, PEERS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";
import { inTurns } from "../lib/turns.mjs";

const PLANS = { full: { rounds: 7, objects: 10_000, count: 500 }, quick: { rounds: 1, objects: 500, count: 40 } };
const BATCH = 20;

/** Each event is wanted by one subscriber of the hundred. */
const VARIANTS = {
  "nobody reads": { watchers: 100, matching: 1 },
  "who is told reads the object": { watchers: 100, matching: 1, read: true },
};

export default {
  name: "path",
  async measure({ browser, url, mode, say }) {
    const { rounds, objects, count } = PLANS[mode];
    const results = {};
    for (const [name, variant] of Object.entries(VARIANTS)) {
      say(`path, ${name}`);
      const options = (harness) => ({ harness, objects, size: "large", ...variant });
      const harnesses = await inTurns(browser, url, ALL, { rounds, scenario: "Path", options, round: { count, batch: BATCH } });
      results[name] = { unit: "event", units: count, objects, harnesses };
    }
    return results;
  },
  scenarios: (results) => results,
  lines: (results) =>
    Object.entries(results).flatMap(([name, scenario]) =>
      PEERS.map((peer) => {
        const what = `a 14.4 kB frame to 100 filtered subscribers, ${scenario.objects.toLocaleString("en")} pods, ${name}`;
        const goal = name === "nobody reads" && peer === MAP ? { ratio: "1/2" } : undefined;
        return timeRow(what, peer, perUnit(scenario, OURS), perUnit(scenario, peer), goal);
      }),
    ),
};
