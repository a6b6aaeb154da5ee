// A start from what was kept on disk, against a list from a server on the same machine.
import { TroubledProxy } from "../../tests/e2e/proxy.mjs";
import { startServer } from "../../www/server/index.mjs";
import { withPage } from "../lib/pages.mjs";
import { OURS } from "../lib/peers.mjs";
import { median, perUnit, timeRow } from "../lib/report.mjs";
import { inTurns } from "../lib/turns.mjs";

const COLD = "a cold list";
const NOTHING_KEPT = "nothing kept";
const PLANS = {
  full: { rounds: 9, pods: 10_000, writing: { rounds: 5, pods: 1_000, events: 2_000 } },
  quick: { rounds: 1, pods: 300, writing: { rounds: 1, pods: 100, events: 50 } },
};
const WHAT = { first: "first rows", all: "all rows" };
const WRITING = "writing";
const BYTES = "bytes from the server";
const EVENTS_A_SECOND = 200;

/** The bytes of one start. */
async function bytesOf(browser, url, harness, pods) {
  const proxy = await TroubledProxy.start(url);
  const sockets = [];
  proxy.server.on("connection", (socket) => sockets.push(socket));
  const bytes = () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
  try {
    return await withPage(browser, proxy.url, async ({ run }) => {
      await run("openWarm", { harness, pods });
      const before = bytes();
      await run("roundWarm", { what: "all" });
      const brought = bytes() - before;
      await run("closeWarm");
      return brought;
    });
  } finally {
    await proxy.close();
  }
}

export default {
  name: "warm",
  async measure({ browser, page, mode, say }) {
    const { rounds, pods, writing } = PLANS[mode];
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
      say(`a warm start of ${pods} pods: ${BYTES}`);
      results[BYTES] = {};
      for (const harness of [OURS, COLD]) results[BYTES][harness] = await bytesOf(browser, server.url, harness, pods);
    } finally {
      await server.close();
    }
    say(`what is kept is written, at ${EVENTS_A_SECOND} events a second`);
    const busy = await startServer({ port: 0, pods: writing.pods, rate: EVENTS_A_SECOND, root: page });
    try {
      const options = (harness) => ({ harness: harness === OURS ? OURS : COLD, pods: writing.pods });
      const plan = { rounds: writing.rounds, scenario: "Writing", options, round: { events: writing.events } };
      const harnesses = await inTurns(browser, busy.url, [OURS, NOTHING_KEPT], plan);
      results[WRITING] = { unit: "event", units: writing.events, harnesses };
    } finally {
      await busy.close();
    }
    return results;
  },
  scenarios: ({ [BYTES]: _, ...compared }) => compared,
  lines: (results) => {
    const of = (what, name) => perUnit(results[WHAT[what]], name);
    const line = (what, goal) => timeRow(`a warm start of 10,000 pods: ${WHAT[what]}`, COLD, of(what, OURS), of(what, COLD), goal);
    const { [OURS]: ours, [COLD]: theirs } = results[BYTES];
    const { [OURS]: writes, [NOTHING_KEPT]: idle } = results[WRITING].harnesses;
    // Of the thread's time by the clock, what it works longer.
    const lost = writes.ms.map((ms, round) => (writes.cpuMs?.[round] - idle.cpuMs?.[round]) / ms);
    return [
      line("first", { ratio: "1" }),
      line("all", { ratio: "1/3" }),
      {
        what: `a warm start of 10,000 pods: ${BYTES}`,
        unit: "B",
        ours,
        peer: COLD,
        theirs,
        ratio: ours / theirs,
        goal: { ratio: "1/100" },
      },
      {
        what: `writing what is kept at ${EVENTS_A_SECOND} events a second, share of the page's thread`,
        unit: "%",
        ours: 100 * median(lost),
        peer: "",
        goal: { ours: [2, "2 %"] },
      },
    ];
  },
};
