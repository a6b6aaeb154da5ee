// Loading a large list: each run on a fresh page, as a user's page is.
import { startServer } from "../../www/server/index.mjs";
import { heapBytes, longestTask, withPage } from "./browser.mjs";

const HARNESSES = ["watchcache", "fetch into a Map"];

/** @param {{ rounds: number, pods: number, probes: number, root: string }} options */
export async function measureLoad(browser, { rounds, pods, probes, root }) {
  const server = await startServer({ port: 0, pods, rate: 0, seed: 1, root });
  const results = Object.fromEntries(
    HARNESSES.map((name) => [name, { ms: [], cpuMs: [], longest: [], heap: [], wasm: [], checksums: new Set() }]),
  );
  try {
    // The first round only warms the server up.
    for (let round = -1; round < rounds + probes; round++) {
      const probe = round >= rounds;
      for (let i = 0; i < HARNESSES.length; i++) {
        const harness = HARNESSES[(i + round + 1) % HARNESSES.length];
        await withPage(browser, server.url, async ({ run, protocol }) => {
          const empty = await heapBytes(protocol);
          const load = () => run("load", { harness });
          const { ms, cpuMs, longest } = probe ? { longest: await longestTask(browser, load) } : await load();
          const heap = (await heapBytes(protocol)) - empty;
          const { memoryBytes, checksum } = await run("loaded");
          const result = results[harness];
          result.checksums.add(checksum);
          if (round < 0) return;
          if (probe) result.longest.push(longest);
          else {
            result.ms.push(ms);
            result.cpuMs.push(cpuMs);
            result.heap.push(heap);
            result.wasm.push(memoryBytes);
          }
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
  return { unit: "load", units: 1, pods, harnesses: results };
}
