// Loading a large list and what it then holds: each run on a fresh page, as a user's page is.
import { heapBytes, longestTask, withPage } from "../lib/pages.mjs";
import { OURS } from "../lib/peers.mjs";
import { startPodServer } from "../lib/pod-server.mjs";
import { median, ratioOf } from "../lib/report.mjs";

const MAP = "fetch into a Map";
const STRIPPED = "fetch into a Map, stripped";
/** Chromium's own part, of which nobody can be quicker. */
const DROPPED = "read and dropped";
const PEERS = [MAP, STRIPPED, "client-node informer", "MobX", "TanStack DB", "Immutable.js"];
const PLANS = { full: { pods: 10_000, rounds: 5, peerRounds: 2, probes: 3 }, quick: { pods: 500, rounds: 1, peerRounds: 1, probes: 1 } };

/** Who takes part in a round: all in the first ones, then the two that the goals are about; the last rounds are traced. */
function participants(round, { rounds, peerRounds }) {
  if (round >= rounds) return [OURS, MAP];
  return round < 0 || round >= peerRounds ? [OURS, MAP, DROPPED] : [OURS, ...PEERS, DROPPED];
}

async function measure({ browser, root, page, mode, say }) {
  const plan = PLANS[mode];
  const server = await startPodServer({ root, page, pods: plan.pods, pageSize: 500 });
  const results = Object.fromEntries(
    [OURS, ...PEERS, DROPPED].map((name) => [name, { ms: [], cpuMs: [], longest: [], heap: [], wasm: [], checksums: new Set() }]),
  );
  try {
    // The first round only warms the server up.
    for (let round = -1; round < plan.rounds + plan.probes; round++) {
      const probe = round >= plan.rounds;
      const harnesses = participants(round, plan);
      say(`load of ${plan.pods} pods, ${round < 0 ? "to warm up" : `round ${round + 1} of ${plan.rounds + plan.probes}`}`);
      for (let i = 0; i < harnesses.length; i++) {
        const harness = harnesses[(i + round + 1) % harnesses.length];
        await withPage(browser, server.url, async ({ run, protocol }) => {
          const empty = await heapBytes(protocol);
          const load = () => run("load", { harness, pods: plan.pods });
          const { ms, cpuMs, longest } = probe ? { longest: await longestTask(browser, load) } : await load();
          const result = results[harness];
          if (probe) return void result.longest.push(longest);
          if (round >= 0) {
            result.ms.push(ms);
            result.cpuMs.push(cpuMs);
          }
          if (harness === DROPPED) return;
          await run("rest");
          const heap = (await heapBytes(protocol)) - empty;
          const { memoryBytes, checksum } = await run("loaded");
          result.checksums.add(checksum);
          if (round < 0) return;
          result.heap.push(heap);
          result.wasm.push(memoryBytes);
        });
      }
    }
  } finally {
    await server.close();
  }
  for (const result of Object.values(results)) {
    result.checksum = [...result.checksums].join(" ");
    delete result.checksums;
  }
  const { pods, bytes, strippedBytes } = server;
  return { pods, bytes, strippedBytes, harnesses: results };
}

function lines({ pods, bytes, strippedBytes, harnesses }) {
  const named = `${pods.toLocaleString("en")} pods (${Math.round(bytes / 1e6)} MB)`;
  const ours = harnesses[OURS];
  const held = ({ heap, wasm }) => median(heap.map((used, i) => used + wasm[i]));
  const row = (what, unit, peer, a, b, more) => ({ what, peer, unit, ours: a, theirs: b, ratio: a / b, ...more });
  const times = [...PEERS, DROPPED].map((peer) => {
    const theirs = harnesses[peer];
    const [ratio, cpuRatio] = ["ms", "cpuMs"].map((kind) => ratioOf(ours[kind], theirs[kind]));
    const goal = peer === MAP ? { ratio: "0.45", cpu: "1/3" } : undefined;
    return row(`${named}: time until loaded`, "ms", peer, median(ours.ms), median(theirs.ms), { ratio, cpuRatio, goal });
  });
  const longest = row(`${named}: longest task`, "ms", MAP, median(ours.longest), median(harnesses[MAP].longest), {
    goal: { ours: [50, "50 ms"] },
  });
  const pod = held(ours) / pods;
  const memory = [
    row("memory of a pod at rest, all counted", "B", "its text, stripped", pod, strippedBytes / pods, { goal: { ratio: "0.2" } }),
    ...PEERS.map((peer) =>
      row("memory of a pod at rest, all counted", "B", peer, pod, held(harnesses[peer]) / pods, {
        goal: peer === MAP ? { ratio: "1/12" } : undefined,
      }),
    ),
  ];
  return [...times, longest, ...memory];
}

export default { name: "load", measure, scenarios: (result) => ({ load: { ...result, alike: [[OURS, ...PEERS]] } }), lines };
