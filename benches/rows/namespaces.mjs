// Several namespaces in one table: as one resource, and as a resource each.
import { OURS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";
import { inTurns } from "../lib/turns.mjs";

const PLANS = {
  full: { rounds: 9, objects: 400, events: 2_000 },
  quick: { rounds: 1, objects: 40, events: 200 },
  tab: { rounds: 7, objects: 200, events: 1_000 },
};
const EACH = "five resources";

export default {
  name: "namespaces",
  async measure({ browser, url, mode, say }) {
    const { rounds, objects, events } = PLANS[mode];
    say("five namespaces as one resource, and as five");
    const options = (harness) => ({ harness, objects });
    const harnesses = await inTurns(browser, url, [OURS, EACH], { rounds, scenario: "Namespaces", options, round: { events } });
    return { "five namespaces": { unit: "event", units: events, harnesses } };
  },
  scenarios: (results) => results,
  lines: (results) => {
    const of = (name) => perUnit(results["five namespaces"], name);
    return [timeRow("an event of five namespaces that a table shows", "five resources, sorted together by the page", of(OURS), of(EACH))];
  },
};
