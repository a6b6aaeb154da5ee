// A table: the first rows of many objects in an order that changes, kept up to date flush by flush.
import { flat, frame } from "./frames.js";
import { settle, timed, turn, until } from "./measure.js";
import { harnesses } from "./peers/index.js";
import { LISTED } from "./upstream.js";

const GROUPS = 10;
const ORIGIN = Date.parse("2026-01-01T00:00:00Z");
/** Starts of events are after all starts of the list. */
const LATER_MS = 1_000_000_000;

/** A pod of some hundred bytes; no two start at the same time. */
function pod(number, version, startedMs) {
  const startTime = new Date(ORIGIN + startedMs).toISOString();
  return flat(
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-${number}","namespace":"team-${number % 50}","resourceVersion":"${version}",` +
      `"uid":"00000000-0000-0000-0000-${String(number).padStart(12, "0")}","labels":{"app":"web","group":"g-${number % GROUPS}"}},` +
      `"spec":{"nodeName":"node-${number % 300}","containers":[{"name":"main","image":"registry.example/web:1.2.3"}]},` +
      `"status":{"phase":"Running","podIP":"10.0.0.1","startTime":"${startTime}"}}`,
  );
}

let running;

/** What waits for the screen's next frame. */
let drawing;

/** Frames come when all events of a flush are in. A flush of all of them is what is measured, not when the screen happens to ask. */
function holdFrames() {
  globalThis.requestAnimationFrame = (call) => {
    drawing = call;
    return 1;
  };
  globalThis.cancelAnimationFrame = () => {};
}

function draw() {
  const call = drawing;
  drawing = undefined;
  call?.(performance.now());
}

/** @param {{ harness: string, objects: number }} options */
export async function openView({ harness, objects }) {
  holdFrames();
  const items = Array.from({ length: objects }, (_, i) => pod(i, LISTED, (i * 7919) % objects));
  const peer = await harnesses[harness]({ items, version: LISTED });
  running = { peer, objects, version: LISTED, sum: 0, heard: 0 };
  await settle();
}

/**
 * Two flushes of `count` events, one without the view and one with it. What the view costs is the difference.
 * @param {{ count: number }} options
 */
export async function roundView({ count }) {
  const without = await flush(count);
  let newest;
  const close = await running.peer.view((rows) => {
    running.heard++;
    newest = rows;
  });
  // Some find their rows in slices. To find them is no part of a flush.
  await until(() => (draw(), newest.length > 0), "the view did not show its first rows");
  await settle();
  const before = running.heard;
  const last = String(running.version + count);
  // The pod of the last event that the view shows is its first row.
  const shown = () => newest[0]?.metadata.resourceVersion === expectedFirst(running, last);
  const view = await flush(count, shown);
  for (const { metadata } of newest)
    running.sum = (Math.imul(running.sum, 31) + Number(metadata.resourceVersion) + metadata.name.length) | 0;
  const { length } = newest;
  await close();
  const cpuMs = view.cpuMs === undefined ? undefined : view.cpuMs - without.cpuMs;
  return { ms: view.ms - without.ms, cpuMs, flushes: running.heard - before, rows: length };
}

/** The version of the newest event whose pod is not of the hidden group. */
function expectedFirst({ objects }, last) {
  let version = Number(last);
  while (numberOf(version, objects) % GROUPS === 0) version--;
  return String(version);
}

/** Events hit the objects all over the list. */
const numberOf = (version, objects) => (version * 7919) % objects;

async function flush(count, shown = () => true) {
  const { peer, objects } = running;
  const first = running.version + 1;
  const input = Array.from({ length: count }, (_, i) => frame(pod(numberOf(first + i, objects), first + i, LATER_MS + first + i)));
  running.version += count;
  await settle();
  return timed(async () => {
    await turn();
    for (const text of input) peer.take(text);
    peer.flush();
    await peer.settled(running.version);
    // What has settled may tell its views, and so ask for a frame, only after this.
    await until(() => (draw(), shown()), "the view did not show the newest pod");
  });
}

/** Ends the harness; gives the checksum over the rows that its view has shown. */
export async function closeView() {
  const { peer, sum, version } = running;
  await peer.close();
  running = undefined;
  return { checksum: `${sum} at ${version}` };
}
