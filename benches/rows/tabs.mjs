// Tabs that share the stream of a worker, against pages that hold their own.
import { startServer } from "../../www/server/index.mjs";
import { withPage } from "../lib/pages.mjs";
import { OURS } from "../lib/peers.mjs";
import { median, perUnit, timeRow } from "../lib/report.mjs";
import { inTurns } from "../lib/turns.mjs";

const PLANS = {
  full: { rounds: 9, pods: 10_000, watched: 1_000, listed: 400, events: 3_000, delays: 200 },
  quick: { rounds: 1, pods: 300, watched: 100, listed: 100, events: 100, delays: 5 },
};
const WHAT = {
  second: { name: "a second tab", peer: "a first tab" },
  event: { name: "an event on the page's thread", peer: "a stream of its own" },
};
const DELAY = "delay of the worker";
const UPSTREAM = "what the server is asked";
const RESOURCES = ["pods", "nodes", "events", "namespaces", "configmaps"];
const TABS = 20;
const A_SECOND = 1_000;
const QUIET = 20;

export default {
  name: "tabs",
  async measure({ browser, page, mode, say }) {
    const plan = PLANS[mode];
    const results = {};
    /** Pages may ask their own origin alone. */
    const serving = async (pods, work) => {
      const server = await startServer({ port: 0, pods, rate: 0, root: page });
      try {
        return await work(server);
      } finally {
        await server.close();
      }
    };
    const compare = async (server, what, units, pods) => {
      const { name, peer } = WHAT[what];
      say(`many tabs: ${name}`);
      const options = (harness) => ({ harness, what, pods, events: plan.events });
      const harnesses = await inTurns(browser, server.url, [OURS, peer], { rounds: plan.rounds, scenario: "Tabs", options, round: {} });
      results[name] = { unit: what === "second" ? "pod" : "event", units, harnesses };
    };
    await serving(plan.pods, (server) => compare(server, "second", plan.pods, plan.pods));
    await serving(plan.watched, async (server) => {
      server.control.setRate(A_SECOND);
      await compare(server, "event", plan.events, plan.watched);
    });
    say(`many tabs: ${UPSTREAM}`);
    results[UPSTREAM] = {};
    for (const harness of [OURS, WHAT.event.peer]) {
      // Each list is one request: a page has more objects.
      results[UPSTREAM][harness] = await serving(plan.listed, async ({ url, control }) => {
        await withPage(browser, url, ({ run }) => run("openManyTabs", { harness, tabs: TABS, resources: RESOURCES }));
        const { lists, watches } = control.status().counts;
        return lists + watches;
      });
    }
    say(`many tabs: ${DELAY}`);
    results[DELAY] = await serving(plan.watched, async (server) => {
      server.control.setRate(QUIET);
      const delays = await withPage(browser, server.url, ({ run }) => run("delaysOfTabs", { events: plan.delays }));
      return { ms: delays };
    });
    return results;
  },
  scenarios: ({ [DELAY]: _, [UPSTREAM]: _asked, ...compared }) => compared,
  lines: (results) => {
    const line = (what, text, goal) => {
      const { name, peer } = WHAT[what];
      return timeRow(text, peer, perUnit(results[name], OURS), perUnit(results[name], peer), goal);
    };
    const { [OURS]: ours, [WHAT.event.peer]: theirs } = results[UPSTREAM];
    const most = 2 * RESOURCES.length;
    return [
      {
        what: `lists and watches that the server sees of ${TABS} tabs with ${RESOURCES.length} resources`,
        unit: "requests",
        ours,
        peer: WHAT.event.peer,
        theirs,
        ratio: ours / theirs,
        goal: { ours: [most, `${most}`] },
      },
      line("second", "a second tab, until all of 10,000 pods are held, a pod", { ratio: "1/3" }),
      line("event", "1,000 events a second that nobody reads, on the page's thread, an event", { cpu: "1/3" }),
      {
        what: "how much later an event comes by way of the worker, in the median",
        unit: "µs",
        ours: median(results[DELAY].ms) * 1_000,
        peer: "",
        goal: { ours: [2_000, "2 ms"] },
      },
    ];
  },
};
