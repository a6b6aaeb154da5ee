// Very many pods and a long history in a bound of memory, and no growth with the events that follow. A long row.
import { heapBytes, withPage } from "../lib/browser.mjs";

const MIB = 2 ** 20;
const PLANS = {
  full: { objects: 100_000, history: 100_000, further: 1_000_000, samples: 10 },
  quick: { objects: 1_000, history: 1_000, further: 2_000, samples: 2 },
};

/** Growth that is the collector's chance, not the cache's. */
const FLAT = 1.02;

async function measure({ browser, url, mode, say }) {
  const { objects, history, further, samples } = PLANS[mode];
  return withPage(browser, url, async ({ run, protocol }) => {
    const look = async () => {
      const seen = await run("lookSoak");
      return { ...seen, total: (await heapBytes(protocol)) + seen.memoryBytes };
    };
    say(`soak: ${objects} different pods`);
    await run("openSoak", { objects, history });
    const loaded = await look();
    say(`soak: ${history} events of history`);
    await run("feedSoak", { count: history });
    const full = await look();
    const later = [];
    for (let i = 0; i < samples; i++) {
      say(`soak: further events, ${i + 1} of ${samples}`);
      const { ms } = await run("feedSoak", { count: further / samples });
      later.push({ ...(await look()), ms });
    }
    return { objects, history, further, loaded, full, later };
  });
}

/** The page throws where what is held is not what was fed, so that there are sums at all says that they agree. */
function scenarios({ loaded, full, later }) {
  const looks = Object.entries({ loaded, full, ...later });
  return Object.fromEntries(
    looks.map(([name, { checksum, fed }]) => [
      `look ${name}`,
      { harnesses: { watchcache: { checksum }, "what was fed": { checksum: fed } } },
    ]),
  );
}

function lines({ objects, history, further, full, later }) {
  const n = (count) => count.toLocaleString("en");
  const peak = Math.max(...later.map(({ total }) => total));
  const what = `${n(objects)} different pods, ${n(full.history)} of ${n(history)} events of history`;
  const bound = { ours: [256 * MIB, "256 MiB"] };
  return [
    { what, peer: "after the load", unit: "B", ours: full.total, goal: objects < 100_000 ? undefined : bound },
    {
      what: `the same after ${n(further)} further events, at most`,
      peer: "before them",
      unit: "B",
      ours: peak,
      theirs: full.total,
      ratio: peak / full.total,
      goal: { ratio: String(FLAT) },
    },
  ];
}

export default { name: "soak", measure, scenarios, lines };
