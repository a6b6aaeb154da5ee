// Frames in, by each transport, against parsing them; and one reader of every event.
import { withRuns } from "../lib/pages.mjs";
import { OURS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";
import { CLUSTER, ofShape, REPLACED, SHAPES } from "../lib/shapes.mjs";

const PLANS = { full: { rounds: 25, count: 2_000 }, quick: { rounds: 2, count: 100 }, tab: { rounds: 9, count: 1_000 } };
const PARSE = "JSON.parse";
/** What both have to pay: reading the stream and dropping it. */
const STREAM = "the stream alone";

const VARIANTS = {
  text: {
    what: "a 14.4 kB frame over a WebSocket, nobody reads",
    peer: PARSE,
    options: {},
    goals: { [REPLACED]: "1/3", [CLUSTER]: "0.38" },
  },
  read: {
    what: "a 14.4 kB frame over a WebSocket, one reader of the object",
    peer: PARSE,
    options: { read: true },
    goals: { [REPLACED]: "1.25", [CLUSTER]: "0.6" },
  },
  bytes: {
    what: "a 14.4 kB frame over a streaming fetch, nobody reads",
    alone: "a 14.4 kB frame over a streaming fetch, the stream alone",
    peer: "decode, cut, JSON.parse",
    options: { transport: "fetch" },
    goals: { [REPLACED]: "1/5", [CLUSTER]: "1/5" },
  },
};

export default {
  name: "ingest",
  anyEngine: true,
  async measure({ browser, url, mode, say }) {
    const plan = { ...PLANS[mode], objects: 20 };
    const results = {};
    await withRuns(browser, url, mode, async (run) => {
      for (const shape of SHAPES) {
        for (const [variant, { options }] of Object.entries(VARIANTS)) {
          say(`ingest, ${ofShape(variant, shape)}`);
          const measured = await run("ingest", { ...plan, shape, ...options });
          results[`${shape} ${variant}`] = { shape, variant, ...measured };
        }
      }
    });
    return results;
  },
  scenarios: (results) => results,
  lines: (results) =>
    Object.values(results).flatMap((scenario) => {
      const { what, alone, peer, goals } = VARIANTS[scenario.variant];
      const theirs = perUnit(scenario, PARSE);
      const line = timeRow(ofShape(what, scenario.shape), peer, perUnit(scenario, OURS), theirs, { ratio: goals[scenario.shape] });
      if (alone === undefined) return [line];
      return [line, timeRow(ofShape(alone, scenario.shape), peer, perUnit(scenario, STREAM), theirs)];
    }),
};
