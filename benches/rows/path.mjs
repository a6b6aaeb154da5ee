// The whole path: a 14.4 kB frame, 10,000 pods, 100 subscribers that each want the pods of one label, against every peer.
import { ALL, MAP, OURS, PEERS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";
import { CLUSTER, ofShape, REPLACED } from "../lib/shapes.mjs";
import { inTurns, takeTurns, withPages } from "../lib/turns.mjs";

const PLANS = {
  full: { rounds: 15, objects: 10_000, count: 500 },
  quick: { rounds: 1, objects: 200, count: 40 },
  tab: { rounds: 7, objects: 1_000, count: 500 },
};
const BATCH = 20;

const NOBODY = "nobody reads";
const DROPS = "who is told reads the object";
const KEEPS = "who is told reads and keeps the newest of each";

/** `goals`: the greatest ratio to the Map, and to every other peer. */
const VARIANTS = [
  { shape: REPLACED, variant: NOBODY, reads: "nothing", goals: ["1/2"] },
  { shape: REPLACED, variant: DROPS, reads: "drops", goals: ["1.25"] },
  { shape: CLUSTER, variant: NOBODY, reads: "nothing", goals: ["0.55"] },
  { shape: CLUSTER, variant: DROPS, reads: "drops", goals: ["1.25"] },
  { shape: CLUSTER, variant: KEEPS, reads: "keeps", goals: ["0.8", "1"] },
];

/** Peers that an engine has no answer from: WebKit collects garbage for more than nine minutes before Immutable.js holds 10,000 pods. */
const UNANSWERED = { webkit: ["Immutable.js"] };

const named = ({ shape, variant }) => `${shape}, ${variant}`;

export default {
  name: "path",
  anyEngine: true,
  async measure({ browser, url, mode, say }) {
    const { rounds, objects, count } = PLANS[mode];
    const names = ALL.filter((name) => !UNANSWERED[browser.engine]?.includes(name));
    const results = {};
    const measureAll = async (turns) => {
      for (const variant of VARIANTS) {
        say(`path, ${named(variant)}`);
        const { shape, reads } = variant;
        // Each event is wanted by one subscriber of the hundred.
        const options = (harness) => ({ harness, objects, shape, watchers: 100, matching: 1, reads });
        const harnesses = await turns({ rounds, scenario: "Path", options, round: { count, batch: BATCH } });
        results[named(variant)] = { unit: "event", units: count, objects, shape, variant: variant.variant, harnesses };
      }
    };
    // Fresh pages take most of the time of a quick run.
    if (mode === "quick") await withPages(browser, url, names, (pages) => measureAll((plan) => takeTurns(pages, plan)));
    else await measureAll((plan) => inTurns(browser, url, names, plan));
    return results;
  },
  scenarios: (results) => results,
  lines: (results) =>
    Object.values(results).flatMap((scenario) => {
      const { shape, variant, objects } = scenario;
      const what = ofShape(`a 14.4 kB frame to 100 filtered subscribers, ${objects.toLocaleString("en")} pods, ${variant}`, shape);
      const [toMap, toOthers] = VARIANTS.find((known) => named(known) === named(scenario)).goals;
      return PEERS.filter((peer) => scenario.harnesses[peer] !== undefined).map((peer) => {
        const ratio = peer === MAP ? toMap : toOthers;
        return timeRow(what, peer, perUnit(scenario, OURS), perUnit(scenario, peer), ratio && { ratio });
      });
    }),
};
