// Frames in, by each transport, against parsing them; and one frame to many callbacks, the whole way.
import { withPage } from "../lib/browser.mjs";
import { OURS } from "../lib/peers.mjs";
import { perUnit, timeRow } from "../lib/report.mjs";

const PLANS = { full: { rounds: 9, count: 2_000 }, quick: { rounds: 3, count: 100 } };
const PARSE = "JSON.parse";

export default {
  name: "ingest",
  async measure({ browser, url, mode, say }) {
    const plan = { ...PLANS[mode], objects: 20 };
    const results = {};
    for (const [name, more] of Object.entries({ text: {}, read: { read: true }, bytes: { transport: "fetch" } })) {
      say(`ingest, ${name}`);
      results[name] = await withPage(browser, url, (page) => page.run("ingest", { ...plan, ...more }));
    }
    return results;
  },
  scenarios: (results) => results,
  lines({ text, read, bytes }) {
    const line = (what, scenario, peer, goal) => timeRow(what, peer, perUnit(scenario, OURS), perUnit(scenario, PARSE), goal);
    return [
      line("a 14.4 kB frame over a WebSocket, nobody reads", text, PARSE, { ratio: "1/3" }),
      line("a 14.4 kB frame over a WebSocket, one reader of the object", read, PARSE, { ratio: "1.25" }),
      line("a 14.4 kB frame over a streaming fetch, nobody reads", bytes, "decode, cut, JSON.parse", { ratio: "1/5" }),
    ];
  },
};
