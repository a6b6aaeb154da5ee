// Rows of a table, and metadata alone, against whole objects: bytes that travel, time until loaded, and what is held. Each run on a fresh page.
import { heapBytes, withPage } from "../lib/pages.mjs";
import { startPartsServer } from "../lib/parts-server.mjs";
import { OURS } from "../lib/peers.mjs";
import { median, ratioOf } from "../lib/report.mjs";

const MAP = "fetch into a Map";
const NAMES = { Object: "whole objects", Table: "rows of a table", PartialObjectMetadata: "metadata alone" };
const PLANS = { full: { pods: 10_000, rounds: 5 }, quick: { pods: 500, rounds: 1 } };

const nameOf = (harness, part) => `${harness}, ${NAMES[part]}`;

async function measure({ browser, page, mode, say }) {
  const { pods, rounds } = PLANS[mode];
  const server = await startPartsServer({ page, pods, pageSize: 500 });
  const all = Object.keys(NAMES).flatMap((part) => [OURS, MAP].map((harness) => ({ harness, part, name: nameOf(harness, part) })));
  const results = Object.fromEntries(all.map(({ name }) => [name, { ms: [], cpuMs: [], held: [], checksums: new Set() }]));
  try {
    // The first round only warms the server up.
    for (let round = -1; round < rounds; round++) {
      say(`parts of ${pods} pods, ${round < 0 ? "to warm up" : `round ${round + 1} of ${rounds}`}`);
      for (let i = 0; i < all.length; i++) {
        const { harness, part, name } = all[(i + round + 1) % all.length];
        await withPage(browser, server.url, async ({ run, protocol }) => {
          const empty = await heapBytes(protocol);
          const { ms, cpuMs } = await run("loadPart", { harness, part });
          await run("restPart");
          const heap = (await heapBytes(protocol)) - empty;
          const { memoryBytes, checksum } = await run("loadedPart");
          results[name].checksums.add(checksum);
          if (round < 0) return;
          results[name].ms.push(ms);
          results[name].cpuMs.push(cpuMs);
          results[name].held.push(heap + memoryBytes);
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
  return { pods, bytes: server.bytes, harnesses: results };
}

function lines({ pods, bytes, harnesses }) {
  const count = pods.toLocaleString("en");
  const timed = (what, ours, theirs, peer) => {
    const [ratio, cpuRatio] = ["ms", "cpuMs"].map((kind) => ratioOf(ours[kind], theirs[kind]));
    return { what: `${what}: time until loaded`, unit: "ms", peer, ours: median(ours.ms), theirs: median(theirs.ms), ratio, cpuRatio };
  };
  return ["Table", "PartialObjectMetadata"].flatMap((part) => {
    const what = `${count} pods as ${NAMES[part]}`;
    const [ours, whole, map] = [nameOf(OURS, part), nameOf(OURS, "Object"), nameOf(MAP, part)].map((name) => harnesses[name]);
    const perPod = (what, a, b, peer) => ({ what, unit: "B", peer, ours: a / pods, theirs: b / pods, ratio: a / b });
    return [
      perPod(`${what}: bytes of one on the wire`, bytes[part], bytes.Object, NAMES.Object),
      timed(what, ours, whole, NAMES.Object),
      timed(what, ours, map, MAP),
      perPod(`${what}: memory of one at rest`, median(ours.held), median(whole.held), NAMES.Object),
      perPod(`${what}: memory of one at rest`, median(ours.held), median(map.held), MAP),
    ];
  });
}

export default { name: "parts", measure, scenarios: (result) => ({ parts: result }), lines };
