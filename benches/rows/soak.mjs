// Very many pods and a long history in a bound of memory, and no growth with the events that follow. A long row.
import { heapBytes, withPage } from "../lib/pages.mjs";

const MIB = 2 ** 20;
const PLANS = {
  full: { objects: 100_000, history: 100_000, churn: 1_000_000, further: 1_000_000, samples: 10 },
  quick: { objects: 1_000, history: 1_000, churn: 10_000, further: 2_000, samples: 2 },
};

/** Growth that is the collector's chance, not the cache's. */
const FLAT = 1.02;

async function measure({ browser, url, mode, say }) {
  const { objects, history, churn, further, samples } = PLANS[mode];
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
    say(`soak: ${churn} events until every pod has changed more often than its old versions hang together`);
    await run("feedSoak", { count: churn });
    const churned = await look();
    const later = [];
    for (let i = 0; i < samples; i++) {
      say(`soak: further events, ${i + 1} of ${samples}`);
      const { ms } = await run("feedSoak", { count: further / samples });
      later.push({ ...(await look()), ms });
    }
    return { objects, history, churn, further, loaded, full, churned, later };
  });
}

/** The page throws where what is held is not what was fed, so that there are sums at all says that they agree. */
function scenarios({ loaded, full, churned, later }) {
  const looks = Object.entries({ loaded, full, churned, ...later });
  return Object.fromEntries(
    looks.map(([name, { checksum, fed }]) => [
      `look ${name}`,
      { harnesses: { watchcache: { checksum }, "what was fed": { checksum: fed } } },
    ]),
  );
}

function lines({ objects, history, churn, further, full, churned, later }) {
  const n = (count) => count.toLocaleString("en");
  const what = `${n(objects)} different pods, ${n(full.history)} of ${n(history)} events of history`;
  const goal = objects < 100_000 ? {} : { ours: [256 * MIB, "256 MiB"] };
  const after = (events, peer, ours, theirs, goal) => {
    return { what: `the same after ${events} further events`, peer, unit: "B", ours, theirs, ratio: ours / theirs, goal };
  };
  const peak = Math.max(...later.map(({ total }) => total));
  return [
    { what, peer: "after the load", unit: "B", ours: full.total, goal: goal.ours && goal },
    after(n(churn), "before them", churned.total, full.total, goal.ours && goal),
    after(`${n(churn)} and ${n(further)}, at most`, "before the latter", peak, churned.total, { ratio: String(FLAT), ...goal }),
  ];
}

export default { name: "soak", measure, scenarios, lines };
