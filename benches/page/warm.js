// A page that starts: from the network, or from what an earlier one has kept. Until there are rows to show, and until all of them are held.
import { createWatchCache, forgetPersisted } from "watchcache";
import { Checksum, settle, timed, until } from "./measure.js";

const ROWS = 50;
const IDENTITY = "bench";

let running;

const options = { "a cold list": {}, watchcache: { identity: IDENTITY, persist: { maxBytes: Infinity } } };

/** A cache that has just begun, and a view as a table has it. */
function start({ harness }) {
  const cache = createWatchCache({ linger: 3_600_000, ...options[harness] });
  const pods = cache.resource("pods");
  const view = pods.view({ window: { offset: 0, limit: ROWS } });
  const end = view.subscribe(() => {});
  const close = () => {
    end();
    return cache.close();
  };
  return { pods, view, close };
}

/** The version of the state that is kept, once there is one. */
async function keptVersion() {
  const opening = indexedDB.open("watchcache");
  const database = await new Promise((resolve) => (opening.onsuccess = () => resolve(opening.result)));
  try {
    if (!database.objectStoreNames.contains("states")) return undefined;
    const asked = database.transaction("states").objectStore("states").getAll();
    const [state] = await new Promise((resolve) => (asked.onsuccess = () => resolve(asked.result)));
    return state && JSON.parse(new TextDecoder().decode(state.head).slice(16)).version;
  } finally {
    database.close();
  }
}

/** @param {{ harness: keyof typeof options, pods: number }} asked */
export async function openWarm(asked) {
  running = { ...asked, checksum: new Checksum() };
  if (asked.harness !== "watchcache") return;
  await forgetPersisted(IDENTITY);
  const { pods, close } = start(asked);
  await pods.synced();
  const deadline = performance.now() + 60_000;
  while ((await keptVersion()) !== pods.resourceVersion) {
    if (performance.now() > deadline) throw new Error("nothing was kept");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await close();
}

/** @param {{ what: "first" | "all" }} options how far it has to come */
export async function roundWarm({ what }) {
  await settle();
  let begun;
  const holds = what === "first" ? () => begun.view.rows.length === ROWS : () => begun.pods.size === running.pods;
  const time = await timed(async () => {
    begun = start(running);
    await until(holds, "not all is there");
  });
  // What is shown follows what is held with the next frame.
  const shown = ({ pods, view }) => pods.status.phase === "live" && view.total === running.pods && view.rows.length === ROWS;
  await until(() => shown(begun), "it is not live");
  for (const { metadata } of begun.view.rows) running.checksum.add(`${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`);
  await begun.close();
  return time;
}

/** A page that keeps what changes, or keeps nothing. @param {{ harness: keyof typeof options, pods: number }} asked */
export async function openWriting(asked) {
  running = { ...asked, checksum: new Checksum() };
  await forgetPersisted(IDENTITY);
  running.begun = start(asked);
  await running.begun.pods.synced();
  const watcher = running.begun.pods.watch({ resourceVersion: running.begun.pods.resourceVersion });
  running.heard = 0;
  void (async () => {
    for await (const batch of watcher.batches()) {
      running.heard += batch.length;
      if (running.heard >= running.due) running.enough?.();
    }
  })();
}

/** @param {{ events: number }} options so many are heard, which nobody reads */
export async function roundWriting({ events }) {
  await settle();
  return timed(() => {
    running.due = running.heard + events;
    return new Promise((resolve) => (running.enough = resolve));
  });
}

export async function closeWriting() {
  if (running.harness === "watchcache" && (await keptVersion()) === undefined) throw new Error("nothing was written");
  await running.begun.close();
  running.checksum.add("heard");
  return closeWarm();
}

/** Gives the checksum over the rows that were shown after each round. */
export async function closeWarm() {
  await forgetPersisted(IDENTITY);
  const { checksum } = running;
  running = undefined;
  return { checksum: `${checksum}` };
}
