// The first read of an object that rests.
import { OURS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";
import { inTurns } from "../lib/turns.mjs";

const PLANS = { full: { rounds: 9, objects: 5_000, count: 400 }, quick: { rounds: 2, objects: 400, count: 100 } };
const PARSE = "JSON.parse";

export default {
  name: "resting",
  async measure({ browser, url, mode, say }) {
    const { rounds, objects, count } = PLANS[mode];
    say("first reads of resting objects");
    const options = (harness) => ({ harness, objects });
    const harnesses = await inTurns(browser, url, [OURS, PARSE], { rounds, scenario: "Resting", options, round: { count } });
    return { unit: "read", units: count, harnesses };
  },
  scenarios: (result) => ({ resting: result }),
  lines(scenario) {
    const [ours, theirs] = [perUnit(scenario, OURS), perUnit(scenario, PARSE)];
    return [timeRow("first read of a pod at rest", "JSON.parse of its text", ours, theirs, { ratio: "1.15" })];
  },
};
