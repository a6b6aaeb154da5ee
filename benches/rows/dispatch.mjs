// One event that ten watchers want. Measures what any number of other watchers adds.
import { MAP, OURS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";
import { REPLACED } from "../lib/shapes.mjs";
import { inTurns } from "../lib/turns.mjs";

const PLANS = {
  full: { rounds: 9, many: 100_000, count: 4_000 },
  quick: { rounds: 1, many: 10_000, count: 40 },
  tab: { rounds: 7, many: 20_000, count: 2_000 },
};
const MATCHING = 10;

export default {
  name: "dispatch",
  async measure({ browser, url, mode, say }) {
    const { rounds, many, count } = PLANS[mode];
    say(`dispatch to ${many} watchers`);
    const pages = {
      [OURS]: { harness: OURS, watchers: many },
      [`${OURS}, 10 watchers`]: { harness: OURS, watchers: MATCHING },
      [MAP]: { harness: MAP, watchers: many },
      [`${MAP}, 10 watchers`]: { harness: MAP, watchers: MATCHING },
    };
    const options = (name) => ({ objects: 1_000, shape: REPLACED, size: "small", matching: MATCHING, ...pages[name] });
    const harnesses = await inTurns(browser, url, Object.keys(pages), { rounds, scenario: "Path", options, round: { count, batch: 20 } });
    // Who matches differs with the number of watchers, and so do the sums.
    const alike = [
      [OURS, MAP],
      [`${OURS}, 10 watchers`, `${MAP}, 10 watchers`],
    ];
    return { unit: "event", units: count, watchers: many, alike, harnesses };
  },
  scenarios: (result) => ({ dispatch: result }),
  lines(scenario) {
    const what = `an event that 10 of ${scenario.watchers.toLocaleString("en")} watchers want`;
    const ours = perUnit(scenario, OURS);
    return [
      timeRow(what, "watchcache with those 10 alone", ours, perUnit(scenario, `${OURS}, 10 watchers`), { ratio: "2" }),
      timeRow(what, MAP, ours, perUnit(scenario, MAP)),
    ];
  },
};
