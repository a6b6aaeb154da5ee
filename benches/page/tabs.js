// A tab whose streams a worker holds, beside a page that holds its own. How soon it has its rows, and what an event costs its thread.
import { createWatchCache } from "watchcache";
import { Checksum, settle, timed, until } from "./measure.js";

const MODES = {
  watchcache: () => ({ mode: "shared", identity: "bench" }),
  "a first tab": () => ({}),
  "a stream of its own": () => ({}),
};

let running;

/** A cache that has begun, and what it hears. No object is read. */
function start(mode) {
  const cache = createWatchCache({ linger: 3_600_000, flush: "microtask", ...mode });
  const pods = cache.resource("pods");
  const heard = { events: 0 };
  return { cache, pods, heard, close: () => cache.close() };
}

/** Has a watch count events. */
async function follow(tab) {
  await tab.pods.synced();
  const watcher = tab.pods.watch({ resourceVersion: tab.pods.resourceVersion });
  void (async () => {
    for await (const batch of watcher.batches()) {
      tab.heard.events += batch.length;
      tab.arrived?.(batch);
      if (tab.heard.events >= tab.due) tab.enough?.();
    }
  })();
}

/** @param {{ harness: keyof typeof MODES, what: "second" | "event", pods: number, events: number }} asked */
export async function openTabs(asked) {
  running = { ...asked, checksum: new Checksum() };
  if (asked.what === "second" && asked.harness !== "watchcache") return;
  running.first = start(MODES[asked.harness]());
  if (asked.what === "second") await running.first.pods.synced();
}

export async function roundTabs() {
  await settle();
  return running.what === "second" ? second() : events();
}

async function second() {
  const { harness, pods, checksum } = running;
  let tab;
  const time = await timed(async () => {
    tab = start(MODES[harness]());
    const view = tab.pods.view({ window: { offset: 0, limit: 1 } });
    tab.end = view.subscribe(() => {});
    await until(() => tab.pods.size === pods, "not all is there");
  });
  // A view that comes anew finds its rows some at a time. A list has all of them.
  await tab.pods.synced();
  for (const { metadata } of (await tab.pods.list()).items)
    checksum.add(`${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`);
  tab.end();
  await tab.close();
  return time;
}

async function events() {
  const { first, checksum } = running;
  if (first.heard.events === 0) await follow(first);
  const time = await timed(() => {
    // Only now: what comes before this is not waited for. Nobody looks whether it is time: that would take the thread which is measured.
    first.due = first.heard.events + running.events;
    return new Promise((resolve) => (first.enough = resolve));
  });
  checksum.add(`${running.events}`);
  return time;
}

/** Gives the checksum of the work done. */
export async function closeTabs() {
  const { first, checksum } = running;
  await first?.close();
  running = undefined;
  return { checksum: `${checksum}` };
}

/**
 * Opens caches as so many tabs would, each with these resources, until all are live. They are closed with the page.
 * @param {{ harness: keyof typeof MODES, tabs: number, resources: string[] }} asked
 */
export async function openManyTabs({ harness, tabs, resources }) {
  const all = Array.from({ length: tabs }, () => createWatchCache({ linger: 3_600_000, transport: "websocket", ...MODES[harness]() }));
  const opened = all.flatMap((cache) => resources.map((name) => cache.resource(name)));
  await Promise.all(opened.map((resource) => resource.synced()));
  await until(() => opened.every(({ status }) => status.phase === "live"), "not all are live");
}

/**
 * Both ways in one page.
 * @param {{ events: number }} options
 * @returns how many milliseconds later each event came by way of the worker
 */
export async function delaysOfTabs({ events }) {
  const tabs = [start(MODES["a stream of its own"]()), start(MODES.watchcache())];
  const arrivals = tabs.map(() => new Map());
  for (const [at, tab] of tabs.entries()) {
    tab.arrived = (batch) => {
      for (const { resourceVersion } of batch) arrivals[at].set(resourceVersion, performance.now());
    };
    await follow(tab);
  }
  const delays = () => [...arrivals[1]].flatMap(([version, at]) => (arrivals[0].has(version) ? at - arrivals[0].get(version) : []));
  await until(() => delays().length >= events, "too few events");
  for (const tab of tabs) await tab.close();
  return delays();
}
