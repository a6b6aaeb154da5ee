// What a page feels while much is done at once. That is a large list, the first filter, search and order over it, and a list anew under a
// live table. Each step runs between two marks of the trace, and says when the browser last drew.
import { createWatchCache } from "watchcache";
import { Checksum, settle, turn } from "./measure.js";
import { keyOf } from "./peers/object.js";

const PAGE = 500;
const ROWS = 50;
const WINDOW = { offset: 0, limit: ROWS };
/** The label that the filter asks for. */
const TIER = "frontend";
/** What the search is for, in names. */
const TYPED = "7b";

const byName = (a, b) => (a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0);
const byAge = (a, b) => Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp);
const byKey = (a, b) => (keyOf(a) < keyOf(b) ? -1 : 1);

/** Live tables of the package. */
function ours() {
  const cache = createWatchCache({ pageSize: PAGE, memory: { maxBytes: 2 ** 31 }, linger: 3_600_000 });
  const pods = cache.resource("pods");
  let sorted;
  const shown = (view, holds = () => true) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const { loaded, rows, total, error } = view.getSnapshot();
        if (error) reject(error);
        else if (loaded && holds()) resolve({ rows, total });
      };
      view.subscribe(look);
      look();
    });
  return {
    load: () => pods.synced(),
    filter: () => shown(pods.view({ labelSelector: `tier=${TIER}`, orderBy: [{ path: "metadata.name" }], window: WINDOW })),
    search: () => shown(pods.view({ search: { text: TYPED, paths: ["metadata.name"] }, window: WINDOW })),
    sort: () => {
      sorted = pods.view({ orderBy: [{ path: "metadata.creationTimestamp", as: "time" }], window: WINDOW });
      return shown(sorted);
    },
    async relist(version) {
      // The table of the step before is live; so is the filtered one.
      return shown(sorted, () => Number(pods.resourceVersion) >= version && pods.status.phase === "live");
    },
  };
}

/** The same with what browsers have: what one writes by hand. */
function byHand() {
  let objects = new Map();
  async function list() {
    const found = new Map();
    let next = "";
    do {
      const answer = await fetch(`/api/v1/pods?limit=${PAGE}${next && `&continue=${encodeURIComponent(next)}`}`, { cache: "no-store" });
      const { items, metadata } = JSON.parse(await answer.text());
      for (const object of items) {
        delete object.metadata.managedFields;
        found.set(keyOf(object), object);
      }
      next = metadata.continue ?? "";
    } while (next !== "");
    objects = found;
  }
  const table = (rows) => ({ rows: rows.slice(0, ROWS), total: rows.length });
  const filter = () =>
    table([...objects.values()].filter(({ metadata }) => metadata.labels?.tier === TIER).sort((a, b) => byName(a, b) || byKey(a, b)));
  // As written by hand: in the case that names have.
  const search = () => table([...objects.values()].filter(({ metadata }) => metadata.name.includes(TYPED)).sort(byKey));
  const sort = () => table([...objects.values()].sort((a, b) => byAge(a, b) || byKey(a, b)));
  return {
    load: list,
    filter: async () => filter(),
    search: async () => search(),
    sort: async () => sort(),
    async relist() {
      await list();
      filter();
      return sort();
    },
  };
}

const harnesses = { watchcache: ours, "Map, filter and sort": byHand };
let running;

/** The longest time that the browser did not draw, until `stop`. */
function watchFrames() {
  let last = performance.now();
  let longest = 0;
  let handle = requestAnimationFrame(function look(now) {
    longest = Math.max(longest, now - last);
    last = Math.max(last, now);
    handle = requestAnimationFrame(look);
  });
  return () => (cancelAnimationFrame(handle), Math.max(longest, performance.now() - last));
}

/**
 * One step on this page, and before the first the harness that makes it.
 * @param {{ harness: string, step: "load" | "filter" | "search" | "sort" | "relist", version?: number }} options `version`: what the relist has to reach
 */
export async function slicesStep({ harness, step, version }) {
  running ??= harnesses[harness]();
  await settle();
  await new Promise((resolve) => requestAnimationFrame(resolve));
  const drawn = watchFrames();
  performance.mark(`${step} begins`);
  const began = performance.now();
  // Not within the task that asks for it: as in a handler of an event, and the mark stands before it.
  await turn();
  const result = await running[step](version);
  const ms = performance.now() - began;
  await turn();
  const undrawn = drawn();
  performance.mark(`${step} ends`);
  const checksum = new Checksum();
  for (const { metadata } of result?.rows ?? []) checksum.add(`${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`);
  return { ms, undrawn, checksum: `${result?.total ?? "all"} rows ${checksum}` };
}
