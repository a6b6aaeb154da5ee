// The informer, against that of `@kubernetes/client-node`. In Node each is as it comes from npm. In Chromium the peer's connection is
// replaced (see benches/page/peers/client-node-watch.js).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeHost, pageHost } from "../informer/hosts.mjs";
import { OURS } from "../lib/peers.mjs";
import { median, ratioOf } from "../lib/report.mjs";
import { CLUSTER, ofShape, REPLACED } from "../lib/shapes.mjs";
import { clusterEvents } from "../page/cluster-events.js";
import { differentPods } from "../page/different-pods.js";
import { startServer } from "../../www/server/index.mjs";
import { findResourceByName } from "../../www/server/resources.mjs";

const PEER = "client-node informer";
const WEBSOCKET = "watchcache over a WebSocket";
const STREAM = "the stream alone";
/** How the peer's user starts it again after an error: as its README shows, or at once. A quick run has no time for the former. */
const README_MS = 5_000;
const PLANS = {
  full: { pods: 10_000, rounds: 5, events: 2_000, warmUp: 5_000, cuts: 6, restartMs: README_MS },
  quick: { pods: 200, rounds: 1, events: 50, warmUp: 50, cuts: 2, restartMs: 500 },
};
/** What is cut often holds no more pods: a list is no part of that. */
const MAX_CUT_PODS = 1_000;

/** Events come as in a busy cluster: so many every ten milliseconds. */
const EVENTS_A_TICK = 20;
const TICK_MS = 10;
/** Handlers, each of which reads two fields of every object. */
const HANDLERS = [1, 10, 100];
/** Handlers of the runs in which each reads more, or less. */
const READERS = 10;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Pods of a shape, as JSON: `item(number)` of the list, `next()` an event's. The server gives them their versions. */
const SHAPES = {
  /** Every event moves all times of a pod. */
  [REPLACED](realPod, pods) {
    const text = differentPods(realPod);
    let beats = 0;
    return { item: (number) => text(number, 1), next: () => text((++beats * 7919) % pods, 1, beats) };
  },
  [CLUSTER](realPod, pods) {
    const events = clusterEvents(realPod, { objects: pods });
    return { item: (number) => events.item(number, 1), next: () => events.next(1).text };
  },
};

/** A server that holds these pods. */
async function serve({ root, page, pods, shape }) {
  const server = await startServer({ port: 0, pods: 0, rate: 0, history: 100_000, root: page });
  const table = server.control.store.table(findResourceByName("pods"));
  const { item, next } = SHAPES[shape](JSON.parse(readFileSync(join(root, "tests/data/pod.json"), "utf8")), pods);
  const put = (text) => table.put(JSON.parse(text));
  for (let number = 0; number < pods; number++) put(item(number));
  /** Changes that many pods, at the pace of a busy cluster. */
  const change = async (count) => {
    for (let i = 0; i < count; i++) {
      if (i > 0 && i % EVENTS_A_TICK === 0) await sleep(TICK_MS);
      put(next());
    }
  };
  return { ...server, change };
}

/** One informer's life: started, filled, told of events, cut off. Checksums are over what handlers were told. */
async function live(open, name, { pods, events, warmUp, cuts, shape, restartMs }, server) {
  const host = await open({ server: server.url, expected: pods, restartMs });
  try {
    await host.ask("load", { name });
    const empty = await host.heap();
    const synced = await host.ask("sync");
    const { extraBytes } = await host.ask("rest");
    const bytes = (await host.heap()) - empty + extraBytes;
    const result = { syncMs: synced.ms, syncCpuMs: synced.cpuMs, bytes, cpu: {}, cut: [], sums: { sync: synced.checksum } };
    const told = async (label, options, count = events) => {
      await expectFrom(host, { events: count, ...options });
      await server.change(count);
      const { cpuMs, checksum } = await host.ask("take");
      result.cpu[label] = (cpuMs * 1000) / count;
      result.sums[label] = checksum;
    };
    // An informer lives for long, so what is timed is code that is compiled already, the host's streams included.
    await told("warm-up", { handlers: READERS, reads: "fields" }, warmUp);
    for (const handlers of HANDLERS) await told(handlers, { handlers, reads: "fields" });
    if (shape === REPLACED) {
      await told("names", { handlers: READERS, reads: "names" });
      await told("object", { handlers: READERS, reads: "object" });
    }
    for (let i = 0; i < cuts; i++) result.cut.push(await cut(host, server));
    await host.ask("close");
    return result;
  } finally {
    await host.close();
  }
}

/** Gets ready for events. What handlers that join leave behind is collected first: it is no part of an event. */
async function expectFrom(host, options) {
  await host.ask("expect", options);
  await host.heap();
  await host.ask("begin");
}

/** Processor time of an event to ten handlers alone, of one that is no part of the comparison. */
async function eventsAlone(open, name, reads, { pods, events, warmUp, restartMs }, server) {
  const host = await open({ server: server.url, expected: pods, restartMs });
  try {
    await host.ask("load", { name });
    await host.ask("sync");
    await host.ask("rest");
    let cpuMs;
    for (const count of [warmUp, events]) {
      await expectFrom(host, { handlers: READERS, events: count, reads });
      await server.change(count);
      ({ cpuMs } = await host.ask("take"));
    }
    await host.ask("close");
    return (cpuMs * 1000) / events;
  } finally {
    await host.close();
  }
}

/** The time from a cut connection to the next event's arrival. */
async function cut(host, server) {
  await host.ask("expect", { handlers: 1, events: 1 });
  const arrived = host.ask("arrived");
  const at = performance.timeOrigin + performance.now();
  server.control.fault("drop", { resource: "pods" });
  await server.change(1);
  return (await arrived).at - at;
}

async function measureHost({ root, page, say }, plan, label, openHost, more) {
  const { pods, events, rounds, warmUp, cuts, restartMs } = plan;
  const results = { [OURS]: [], [PEER]: [], more: Object.fromEntries(more.map(([name]) => [name, []])) };
  results[CLUSTER] = { [OURS]: [], [PEER]: [] };
  // Cut often, where the peer is started again at once, which its README does not say.
  results.eager = { [OURS]: [], [PEER]: [] };
  const often = {
    pods: Math.min(pods, MAX_CUT_PODS),
    events: Math.min(events, EVENTS_A_TICK),
    warmUp: Math.min(warmUp, MAX_CUT_PODS),
    cuts,
    restartMs: 0,
  };
  for (let round = 0; round < rounds; round++) {
    say(`informer in ${label}, round ${round + 1} of ${rounds}`);
    // Equal events for both: each has a server of its own that was filled alike.
    for (const name of round % 2 === 0 ? [OURS, PEER] : [PEER, OURS]) {
      for (const [into, given] of [
        [results, { pods, events, warmUp, cuts: 1, shape: REPLACED, restartMs }],
        [results[CLUSTER], { pods, events, warmUp, cuts: 0, shape: CLUSTER, restartMs }],
        [results.eager, { ...often, shape: REPLACED }],
      ]) {
        const server = await serve({ root, page, ...given });
        try {
          into[name].push(await live((options) => openHost(server, options), name, given, server));
        } finally {
          await server.close();
        }
      }
    }
    for (const [name, reads] of more) {
      const server = await serve({ root, page, pods, shape: REPLACED });
      try {
        results.more[name].push(await eventsAlone((options) => openHost(server, options), name, reads, plan, server));
      } finally {
        await server.close();
      }
    }
  }
  return { pods, ...results };
}

async function measure(context) {
  const plan = PLANS[context.mode];
  return {
    // Node 20 has no WebSocket.
    Node: await measureHost(context, plan, "Node", (_, options) => nodeHost(options), [[STREAM, "names"]]),
    Chromium: await measureHost(context, plan, "Chromium", (server, options) => pageHost(context.browser, server.url, options), [
      [STREAM, "names"],
      [WEBSOCKET, "fields"],
    ]),
  };
}

/** Every round's checksums, of both, by shape. */
function scenarios(results) {
  const sumsOf = (rounds) => {
    const all = [OURS, PEER].map((name) => [
      name,
      { checksum: [...new Set(rounds[name].map(({ sums }) => JSON.stringify(sums)))].join(" ") },
    ]);
    return { harnesses: Object.fromEntries(all) };
  };
  return Object.fromEntries(
    Object.entries(results).flatMap(([host, rounds]) => [
      [ofShape(host, REPLACED), sumsOf(rounds)],
      [ofShape(host, CLUSTER), sumsOf(rounds[CLUSTER])],
      [`${host}, cut often`, sumsOf(rounds.eager)],
    ]),
  );
}

/** The greatest ratio of a cluster's event, by handlers. */
const GOALS = { Node: { 1: "0.45", 10: "0.45", 100: "0.45" }, Chromium: { 1: "0.65", 10: "0.75", 100: "0.85" } };

function hostLines([host, { pods, [OURS]: ours, [PEER]: theirs, [CLUSTER]: cluster, eager, more }]) {
  const of = (rounds, value) => median(rounds.flatMap(value));
  /** Of what each round gave. */
  const compared = (a, b) => ({ ours: median(a), theirs: median(b), ratio: ratioOf(a, b) });
  const line = (what, unit, value, goal, more = {}) => {
    return {
      what: `informer in ${host}: ${what}`,
      peer: PEER,
      unit,
      ...compared(ours.flatMap(value), theirs.flatMap(value)),
      goal,
      ...more,
    };
  };
  const [cutOurs, cutEager] = [OURS, PEER].map((name) => of(eager[name], ({ cut: times }) => times));
  const syncCpu = ratioOf(...[ours, theirs].map((rounds) => rounds.map(({ syncCpuMs }) => syncCpuMs)));
  const cpu = "processor time of an event";
  const handlers = (count) => `${count} handler${count === 1 ? " that reads" : "s that read"}`;
  /** One that is measured apart, beside the peer's ten handlers. */
  const apart = ([name, rounds]) => {
    const beside = theirs.map((round) => round.cpu[name === STREAM ? "names" : READERS]);
    const what = `informer in ${host}: ${cpu}, ${name === STREAM ? "the stream alone, nobody parses" : `${handlers(READERS)} two fields, over a WebSocket`}`;
    return { what, peer: PEER, unit: "µs", ...compared(rounds, beside) };
  };
  /** The same for a cluster's events. */
  const ofCluster = (count) => {
    const [a, b] = [OURS, PEER].map((name) => cluster[name].map((round) => round.cpu[count]));
    const what = ofShape(`informer in ${host}: ${cpu}, ${handlers(count)} two fields`, CLUSTER);
    return { what, peer: PEER, unit: "µs", ...compared(a, b), goal: { ratio: GOALS[host][count] } };
  };
  const cutWhat = "from a cut connection to the next event";
  return [
    line(`${pods.toLocaleString("en")} pods synced`, "ms", ({ syncMs }) => syncMs, { ratio: "1/3" }, { cpuRatio: syncCpu }),
    line("memory after that, all counted", "B", ({ bytes }) => bytes, { ratio: "1/2" }),
    ...HANDLERS.map((count) => {
      const what = ofShape(`${cpu}, ${handlers(count)} two fields`, REPLACED);
      return line(what, "µs", (round) => round.cpu[count], { ratio: "1/3" });
    }),
    ...HANDLERS.map(ofCluster),
    line(`${cpu}, ${handlers(READERS)} key and version`, "µs", (round) => round.cpu.names),
    line(`${cpu}, ${handlers(READERS)} the object`, "µs", (round) => round.cpu.object),
    ...Object.entries(more).map(apart),
    line(cutWhat, "ms", ({ cut: times }) => times, undefined, { peer: `${PEER}, restarted as in its README` }),
    {
      what: `informer in ${host}: ${cutWhat}`,
      peer: `${PEER}, restarted at once`,
      unit: "ms",
      ours: cutOurs,
      theirs: cutEager,
      ratio: cutOurs / cutEager,
    },
  ];
}

export default { name: "informer", measure, scenarios, lines: (results) => Object.entries(results).flatMap(hostLines) };
