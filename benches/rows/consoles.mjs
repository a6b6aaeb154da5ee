// A React table over held pods, as consoles have it: from its mount to the first paint, what events cost it, and what is held. A long row.
import { createHash } from "node:crypto";
import { bundleConsoles, installConsoles } from "../consoles/install.mjs";
import { startConsoleServer } from "../consoles/server.mjs";
import { heapBytes, withPage } from "../lib/pages.mjs";
import { OURS } from "../lib/peers.mjs";
import { readRealPod, VERSION } from "../lib/pod-server.mjs";
import { median, ratioOf } from "../lib/report.mjs";
import { clusterEvents } from "../page/cluster-events.js";
import { shownOf, textOf } from "../page/table/columns.js";

const OPENSHIFT = "OpenShift useK8sWatchResource";
const HEADLAMP = "Headlamp useList";
const QUERY = "TanStack Query";
/** Ours where a view had the table's order when the list came. */
const ORDERED = "watchcache, ordered before";
const ALL_ROWS = "TanStack Query, all rows";
/** The browser's own part, which is subtracted from all. */
const DROPPED = "read and dropped";
const SENT = "what was sent";

const WINDOWED = [OPENSHIFT, HEADLAMP, QUERY];
/** Who holds managedFields, and who does not. */
const WHOLE = [OPENSHIFT, HEADLAMP];
const STRIPPED = [QUERY];
const TABLES = [OURS, ...WINDOWED, ALL_ROWS, ORDERED];
/** Of these there is a mount to compare. No console has all rows under events, and ours are the same then, whatever was there before. */
const QUIET = [ALL_ROWS, ORDERED];

const PLANS = {
  full: { rounds: 5, pods: 10_000, rate: 500, seconds: 6 },
  quick: { rounds: 1, pods: 300, rate: 200, seconds: 1 },
};
const GROUPS = 10;
/** Frames go out this often, so many at a time that the rate is kept. */
const TICK_MS = 5;
/** Steps of a rollout of each row that is shown. They come last, so a table that does not follow is found out. */
const STEPS = 4;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const frame = (text) => `{"type":"MODIFIED","object":${text}}`;

/** Sends so many events, evenly; gives the last one. */
async function send({ server, events, rate, seconds }) {
  const count = rate * seconds;
  const began = performance.now();
  let text;
  for (let sent = 0; sent < count; await sleep(TICK_MS)) {
    const due = Math.min(count, Math.floor(((performance.now() - began) * rate) / 1000));
    for (; sent < due; sent++) server.send(frame((text = events.next(VERSION + sent + 1).text)));
  }
  const { namespace, name } = JSON.parse(text).metadata;
  return { namespace, name, version: VERSION + count };
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

const checksum = (text) => createHash("sha256").update(text).digest("hex").slice(0, 16);

const eventsOf = (root, pods) => clusterEvents(readRealPod(root), { objects: pods, groups: GROUPS });

async function one({ browser, root, server }, { pods, rate, seconds }, harness) {
  const events = eventsOf(root, pods);
  const rows = Math.min(pods - Math.ceil(pods / GROUPS), harness === ALL_ROWS ? Infinity : 50);
  // Those of the page before this one.
  while (server.watches() > 0) await sleep(10);
  return withPage(browser, server.url, async ({ run, protocol }) => {
    const empty = await heapBytes(protocol);
    const held = async () => {
      const { memoryBytes } = await run("restTable");
      return (await heapBytes(protocol)) - empty + memoryBytes;
    };
    await run("holdPods", { harness, pods });
    const isTable = harness !== DROPPED;
    const mount = isTable ? await run("mountTable", { rows }) : undefined;
    const bytes = isTable ? await held() : undefined;
    // Watches that open with the table.
    while (server.watches() === 0) await sleep(10);
    const result = { mount, bytes };
    let version = VERSION;
    if (!QUIET.includes(harness)) {
      await run("beginEvents");
      const last = await send({ server, events, rate, seconds });
      version = last.version;
      const { cpuMs, renders } = await run("endEvents", last);
      Object.assign(result, { cpuMs: cpuMs / seconds, renders: renders / seconds, after: isTable ? await held() : undefined });
    }
    if (isTable) {
      result.expected = roll({ server, events, pods }, version);
      result.shown = (await run("readTable", { text: result.expected })).shown;
      // Last of all: some consoles list anew then.
      result.again = await run("mountAgain", { rows });
    }
    await run("closeTable");
    return result;
  });
}

/** The texts of all are alike only where they had the same events. */
const sentTo = (harness) => (QUIET.includes(harness) ? `${SENT}, ${harness}` : SENT);

async function measure({ mode, say, browser, root }) {
  const plan = PLANS[mode];
  try {
    await installConsoles();
  } catch (error) {
    if (mode === "full") throw error;
    // The quick run shows that the row works, where its peers can be had.
    say(`consoles: skipped, because its peers could not be installed: ${error.message}`);
    return { skipped: "skipped: its peers could not be installed" };
  }
  const page = await bundleConsoles();
  const events = eventsOf(root, plan.pods);
  const items = Array.from({ length: plan.pods }, (_, number) => Buffer.from(events.item(number, VERSION)));
  const names = [...TABLES, DROPPED];
  const harnesses = Object.fromEntries(
    names.map((name) => [
      name,
      { ms: [], mountCpuMs: [], againMs: [], againCpuMs: [], bytes: [], cpuMs: [], renders: [], after: [], checksums: new Set() },
    ]),
  );
  const sent = {};
  const server = await startConsoleServer({ page, items });
  try {
    for (let round = 0; round < plan.rounds; round++) {
      for (let i = 0; i < names.length; i++) {
        const name = names[(i + round) % names.length];
        say(`consoles, round ${round + 1} of ${plan.rounds}: ${name}`);
        const result = await one({ browser, root, server }, plan, name);
        const into = harnesses[name];
        const note = (list, value) => value !== undefined && into[list].push(value);
        note("ms", result.mount?.ms);
        note("mountCpuMs", result.mount?.cpuMs);
        note("againMs", result.again?.ms);
        note("againCpuMs", result.again?.cpuMs);
        for (const list of ["bytes", "cpuMs", "renders", "after"]) note(list, result[list]);
        if (name === DROPPED) continue;
        if (result.shown !== result.expected) say(`${name} shows\n${result.shown}\nand not\n${result.expected}`);
        into.checksums.add(checksum(result.shown));
        (sent[sentTo(name)] ??= new Set()).add(checksum(result.expected));
      }
    }
  } finally {
    await server.close();
  }
  for (const [name, texts] of Object.entries(sent)) harnesses[name] = { checksums: texts };
  for (const result of Object.values(harnesses)) {
    result.checksum = [...result.checksums].join();
    delete result.checksums;
  }
  const { pods, rate, seconds } = plan;
  return { pods, rate, seconds, harnesses };
}

/** The peer that takes least. */
const best = (names, value) => names.reduce((a, b) => (value(b) < value(a) ? b : a));

function lines({ skipped, pods, rate, harnesses }) {
  if (skipped) return [{ what: "a React table of a console", failed: skipped, peer: "" }];
  const n = (count) => count.toLocaleString("en");
  const table = `a React table over ${n(pods)} held pods`;
  const of = (list) => (name) => median(harnesses[name][list]);
  const line = (what, unit, peer, value, goal, more) => {
    const [ours, theirs] = [value(OURS), value(peer)];
    return { what, peer, unit, ours, theirs, ratio: theirs > 0 ? ours / theirs : undefined, goal, ...more };
  };
  const firstPaint = `${table}: from its mount to the first paint`;
  const mount = (peer) => {
    const [a, b] = [harnesses[OURS], harnesses[peer]];
    const goal = peer === ALL_ROWS ? "1/2" : peer === best(WINDOWED, of("ms")) ? "1.2" : undefined;
    const ratios = { ratio: ratioOf(a.ms, b.ms), cpuRatio: ratioOf(a.mountCpuMs, b.mountCpuMs) };
    return line(firstPaint, "ms", peer, of("ms"), goal && { ratio: goal }, ratios);
  };
  const mountOrdered = (peer) => {
    const [a, b] = [harnesses[ORDERED], harnesses[peer]];
    const figures = { ours: median(a.ms), ratio: ratioOf(a.ms, b.ms), cpuRatio: ratioOf(a.mountCpuMs, b.mountCpuMs) };
    return line(`${firstPaint}, ordered before`, "ms", peer, of("ms"), undefined, figures);
  };
  const again = (peer) => {
    const [a, b] = [harnesses[OURS], harnesses[peer]];
    const ratios = { ratio: ratioOf(a.againMs, b.againMs), cpuRatio: ratioOf(a.againCpuMs, b.againCpuMs) };
    return line(`${table}: from its second mount to the paint`, "ms", peer, of("againMs"), undefined, ratios);
  };
  // What the browser needs to bring the frames to the page is nobody's merit and nobody's fault.
  const ownRounds = (name) => harnesses[name].cpuMs.map((cpuMs, round) => cpuMs - harnesses[DROPPED].cpuMs[round]);
  const own = (name) => median(ownRounds(name));
  const time = (peer) => ({ ratio: ratioOf(ownRounds(OURS), ownRounds(peer)) });
  const bestOf = (names) => (peer) => names.includes(peer) && peer === best(names, of("bytes"));
  const memoryGoal = (peer) => (bestOf(STRIPPED)(peer) ? { ratio: "1/6" } : WHOLE.includes(peer) ? { ratio: "1/12" } : undefined);
  const events = `${table}, ${n(rate)} events a second`;
  return [
    ...[...WINDOWED, ALL_ROWS].map(mount),
    // Runs from before 26 November 2026 have neither.
    ...(harnesses[ORDERED] ? [...WINDOWED.map(mountOrdered), ...WINDOWED.map(again)] : []),
    ...WINDOWED.map((peer) => line(`${events}: the main thread's time a second`, "ms", peer, own, { ratio: "1/4" }, time(peer))),
    ...WINDOWED.map((peer) => line(`${events}: components rendered`, "/s", peer, of("renders"))),
    ...WINDOWED.map((peer) => line(`${table}: memory, all counted`, "B", peer, of("bytes"), memoryGoal(peer))),
    ...WINDOWED.map((peer) => line(`${events}: memory afterwards, all counted`, "B", peer, of("after"))),
  ];
}

const alike = [[...TABLES.filter((name) => !QUIET.includes(name)), SENT], ...QUIET.map((name) => [name, sentTo(name)])];

export default {
  name: "consoles",
  measure,
  scenarios: (result) => (result.skipped ? {} : { consoles: { ...result, alike } }),
  lines,
};
