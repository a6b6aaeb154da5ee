// How the cost of an event grows: each sweep changes one thing about the path from a frame to its subscribers. Every peer takes part until an
// event takes it so long that nobody would go on.
import { ALL } from "../lib/peers.mjs";
import { median, table } from "../lib/report.mjs";
import { takeTurns, withPages } from "../lib/turns.mjs";

const PLANS = { full: { rounds: 3, count: 200, points: Infinity }, quick: { rounds: 1, count: 20, points: 2 } };

/** A harness that takes longer for an event, in µs, is not asked for more. */
const TOO_LONG_US = 5_000;

const BASE = { objects: 1_000, size: 1_000, watchers: 10, matching: 1 };

/** `at` gives the options of a point; `batch` and `count` may differ too. */
const SWEEPS = {
  objects: {
    title: "µs an event, by objects held",
    label: "objects",
    points: [1_000, 3_000, 10_000, 30_000, 100_000],
    at: (objects) => ({ objects }),
  },
  watchers: {
    title: "µs an event, by subscribers, one of which wants it",
    label: "subscribers",
    points: [1, 10, 100, 1_000, 10_000, 100_000],
    at: (watchers) => ({ watchers }),
    // Each of its subscriptions takes as long to set up as to ask, so more would take minutes.
    most: { "TanStack DB": 1_000 },
  },
  size: {
    title: "µs an event, by bytes of its object",
    label: "bytes",
    points: [1_000, 2_000, 4_000, 9_000, 14_500, 40_000],
    at: (size) => ({ size, objects: 200 }),
  },
  selectivity: {
    title: "µs an event, by how many of 1,000 subscribers want it",
    label: "subscribers that want it",
    points: [1, 10, 100, 1_000],
    at: (matching) => ({ watchers: 1_000, matching }),
  },
  batch: {
    title: "µs an event, by events that arrive in one task",
    label: "events a task",
    points: [1, 10, 100, 1_000],
    at: () => ({}),
    round: (batch, count) => ({ batch, count: Math.max(count, batch) }),
  },
};

const BATCH = 20;

async function sweep({ browser, url, say }, name, { rounds, count, points }) {
  const { at, most = {}, round = () => ({ batch: BATCH, count }), ...about } = SWEEPS[name];
  return withPages(browser, url, ALL, async (pages) => {
    const result = { title: about.title, label: about.label, points: [] };
    let taking = pages;
    for (const x of about.points.slice(0, points)) {
      say(`sweep of ${name}: ${x}`);
      taking = taking.filter((page) => x <= (most[page.name] ?? Infinity));
      const plan = round(x, count);
      const options = (harness) => ({ harness, ...BASE, ...at(x) });
      const harnesses = await takeTurns(taking, { rounds, scenario: "Path", options, round: plan });
      result.points.push({ x, units: plan.count, harnesses });
      taking = taking.filter((page) => (median(harnesses[page.name].ms) * 1000) / plan.count < TOO_LONG_US);
    }
    return result;
  });
}

async function measure(context) {
  const results = {};
  for (const name of Object.keys(SWEEPS)) results[name] = await sweep(context, name, PLANS[context.mode]);
  return results;
}

/** µs an event of a harness at each point; null where it took no part. */
function series({ points }, harness) {
  return points.map(({ units, harnesses }) => (harnesses[harness] ? (median(harnesses[harness].ms) * 1000) / units : null));
}

function scenarios(results) {
  const points = Object.entries(results).flatMap(([name, result]) => result.points.map((point) => [`${name} ${point.x}`, point]));
  return Object.fromEntries(points.map(([name, { harnesses }]) => [name, { harnesses }]));
}

/** One table a sweep. */
function sweepTables(results) {
  return Object.values(results)
    .map((result) => {
      const head = [result.title, ...result.points.map(({ x }) => x.toLocaleString("en"))];
      const cell = (value) => (value === null ? "" : value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(2));
      return table(
        head,
        ALL.map((harness) => [harness, ...series(result, harness).map(cell)]),
      );
    })
    .join("\n\n");
}

/** One plot a sweep: what the page draws. */
function plots(results) {
  return Object.entries(results).map(([name, result]) => ({
    name: `sweep-${name}`,
    title: result.title,
    label: result.label,
    x: result.points.map(({ x }) => x),
    series: ALL.map((harness) => ({ name: harness, values: series(result, harness) })),
  }));
}

export default { name: "sweeps", measure, scenarios, lines: () => [], table: sweepTables, plots };
