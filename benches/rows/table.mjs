// Heartbeats of a whole cluster into a React table that shows few of its pods. A long row.
import { withPage } from "../lib/pages.mjs";
import { OURS } from "../lib/peers.mjs";
import { readRealPod, startPodServer, VERSION } from "../lib/pod-server.mjs";
import { median } from "../lib/report.mjs";
import { clusterEvents } from "../page/cluster-events.js";
import { shownOf, textOf } from "../page/table/columns.js";

const BY_HAND = "Map, filter and sort";
/** The browser's own part, which is subtracted from both. */
const DROPPED = "read and dropped";
const PLANS = {
  full: { rounds: 5, pods: 10_000, rate: 1_000, seconds: { [OURS]: 60, [BY_HAND]: 60, [DROPPED]: 20 } },
  quick: { rounds: 1, pods: 300, rate: 300, seconds: { [OURS]: 1, [BY_HAND]: 1, [DROPPED]: 1 } },
};
const GROUPS = 10;
/** Frames go out this often, so many at a time that the rate is kept. */
const TICK_MS = 5;
/** Steps of a rollout of each row that is shown. They come last, so a table that does not follow is found out. */
const STEPS = 4;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const frame = (text) => `{"type":"MODIFIED","object":${text}}`;

/** Sends so many heartbeats, evenly; gives the last version. */
async function beat({ server, events, rate, seconds }) {
  const count = rate * seconds;
  const began = performance.now();
  for (let sent = 0; sent < count; await sleep(TICK_MS)) {
    const due = Math.min(count, Math.floor(((performance.now() - began) * rate) / 1000));
    for (; sent < due; sent++) server.send(frame(events.next(VERSION + sent + 1).text));
  }
  return VERSION + count;
}

/** Restarts a container of each pod that is shown; gives what the table then has to show. */
function roll({ server, events, pods }, from) {
  let version = from;
  const all = Array.from({ length: pods }, (_, number) => ({ number, pod: JSON.parse(events.item(number, from)) }));
  const shown = new Set(shownOf(all.map(({ pod }) => pod)));
  for (const { number } of all.filter(({ pod }) => shown.has(pod))) {
    for (let step = 0; step < STEPS; step++) server.send(frame(events.roll(number, ++version)));
  }
  return textOf(shownOf(all.map(({ number }) => JSON.parse(events.item(number, version)))));
}

async function one({ browser, root, page }, { pods, rate, seconds }, harness) {
  const events = clusterEvents(readRealPod(root), { objects: pods, groups: GROUPS, shares: { heartbeat: 1 } });
  const server = await startPodServer({ root, page, pods, pageSize: 500, item: events.item });
  try {
    return await withPage(browser, server.url, async ({ run }) => {
      await run("openTable", { harness, rows: harness === DROPPED ? 0 : shownOf(listOf(events, pods)).length });
      await run("beginTable");
      const last = await beat({ server, events, rate, seconds: seconds[harness] });
      const { cpuMs, renders } = await run("endTable", { version: last });
      const text = harness === DROPPED ? "" : roll({ server, events, pods }, last);
      const { shown } = await run("closeTable", { text });
      return { cpuMs: cpuMs / seconds[harness], renders: renders / seconds[harness], shown, expected: text };
    });
  } finally {
    await server.close();
  }
}

const listOf = (events, pods) => Array.from({ length: pods }, (_, number) => JSON.parse(events.item(number, VERSION)));

async function measure({ mode, say, ...context }) {
  const plan = PLANS[mode];
  const names = [OURS, BY_HAND, DROPPED];
  const harnesses = Object.fromEntries(names.map((name) => [name, { cpuMs: [], renders: [], checksums: new Set() }]));
  const expected = new Set();
  for (let round = 0; round < plan.rounds; round++) {
    say(`table, round ${round + 1} of ${plan.rounds}`);
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length];
      const result = await one(context, plan, name);
      harnesses[name].cpuMs.push(result.cpuMs);
      harnesses[name].renders.push(result.renders);
      harnesses[name].checksums.add(result.shown);
      if (name !== DROPPED) expected.add(result.expected);
    }
  }
  for (const result of Object.values(harnesses)) {
    result.checksum = [...result.checksums].join("\n\n");
    delete result.checksums;
  }
  const { pods, rate, seconds } = plan;
  return { pods, rate, seconds, harnesses: { ...harnesses, [SENT]: { checksum: [...expected].join("\n\n") } } };
}

const SENT = "what was sent";

function lines({ pods, rate, harnesses }) {
  const n = (count) => count.toLocaleString("en");
  const what = `${n(rate)} heartbeats a second into a React table of 50 rows × 7 columns, ${n(pods)} pods`;
  const line = (of, unit, value, goal) => {
    const [ours, theirs] = [value(OURS), value(BY_HAND)];
    return { what: `${what}: ${of} a second`, peer: BY_HAND, unit, ours, theirs, ratio: theirs > 0 ? ours / theirs : undefined, goal };
  };
  const own = (name) => median(harnesses[name].cpuMs) - median(harnesses[DROPPED].cpuMs);
  return [
    line("the main thread's time", "ms", own, { ratio: "1/4" }),
    line("memoised cells rendered", "cells", (name) => median(harnesses[name].renders), { ratio: "1/20" }),
  ];
}

/** Both tables have to show what was sent. */
const alike = [[OURS, BY_HAND, SENT]];

export default { name: "table", measure, scenarios: (result) => ({ table: { ...result, alike } }), lines };
