// The whole path: from a frame of a socket to the subscribers that want it, in a store of many objects. One harness a page, so that none
// pays for the garbage of another; the rounds of all pages take turns.
import { flat } from "./frames.js";
import { Checksum, settle, until } from "./measure.js";
import { harnesses } from "./peers/index.js";
import { GROUP } from "./peers/object.js";
import { events } from "./shapes.js";
import { LISTED, play, record } from "./upstream.js";

/** The harness of this page, between `openPath` and `closePath`. */
let running;

/** How many objects the checksum of the state looks at, at most. */
const LOOKED_AT = 300;

/**
 * @param {{ harness: string, objects: number, shape: string, size?: "large" | "small", watchers: number, matching: number, reads?: "nothing"
 * | "drops" | "keeps" }} options `watchers` subscribers, of which `matching` want any given event; `reads`: what each does with the object
 * it is given. Who keeps holds the newest of each object, from the list on
 */
export async function openPath({ harness, objects, shape, size, watchers, matching, reads = "nothing" }) {
  const groups = matching > 0 ? Math.max(1, Math.round(watchers / matching)) : 1;
  const { items, frames } = events({ shape, objects, groups, size });
  const peer = await harnesses[harness]({ items: items(LISTED), version: LISTED });
  const told = { count: 0, sum: 0 };
  const kept = [];
  for (let i = 0; i < watchers; i++) {
    const group = matching === 0 ? "none" : groups === 1 ? undefined : `g-${i % groups}`;
    if (reads === "keeps") kept.push(new Map());
    peer.subscribe(group, subscriber(told, i + 1, reads, kept[i]));
  }
  if (reads === "keeps") fill(kept, peer, groups);
  running = { peer, frames, told, kept, matching, version: LISTED };
  await settle();
}

/** Who keeps objects has those of the list. */
function fill(kept, peer, groups) {
  for (const key of peer.keys()) {
    const object = peer.get(key);
    const group = groups === 1 ? 0 : Number(object.metadata.labels[GROUP].slice("g-".length));
    for (let i = group; i < kept.length; i += groups) kept[i].set(key, object);
  }
}

/** What a subscriber does with a change: it counts it, so that none can be left out or told twice unseen. */
function subscriber(told, weight, reads, kept) {
  const hear = (key, version) => {
    told.count++;
    told.sum = (told.sum + Math.imul(weight, Number(version) + key.length)) | 0;
  };
  if (reads === "nothing") return hear;
  return (key, version, event) => {
    hear(key, version);
    // The package gives an event, Immutable.js an immutable object, all others the plain one.
    const object = event.object ?? (event.toJS ? event.toJS() : event);
    told.sum = (told.sum + object.metadata.name.length + Object.keys(object.metadata.labels).length + object.spec.nodeName.length) | 0;
    kept?.set(key, object);
  };
}

/** What is kept: that it is the newest of each object. */
function keptSum(kept) {
  let sum = 0;
  for (const objects of kept) {
    for (const [key, { metadata }] of objects) sum = (sum + Math.imul(key.length, Number(metadata.resourceVersion))) | 0;
  }
  return `${kept.reduce((count, { size }) => count + size, 0)} kept, ${sum}`;
}

/** @param {{ count: number, batch: number }} options `count` events, `batch` in each task */
export async function roundPath({ count, batch }) {
  const { peer, frames, told, matching } = running;
  // What is timed are the frames alone, each decoded just before it is taken: see `play`.
  const tape = record(frames(running.version + 1, count));
  running.version += count;
  const expected = told.count + count * matching;
  await settle();
  const socket = { onmessage: ({ data }) => peer.take(data) };
  const ms = await play(socket, tape, batch, () => peer.flush());
  const began = performance.now();
  await peer.settled(running.version);
  await until(() => told.count >= expected, "its subscribers were not told of every event");
  return { ms: ms + performance.now() - began };
}

/** Ends the harness; gives the checksum over what its subscribers heard and what it holds. */
export async function closePath() {
  const { peer, told, kept, version } = running;
  const keys = peer.keys().sort();
  const state = new Checksum();
  const step = Math.max(1, Math.floor(keys.length / LOOKED_AT));
  for (let i = 0; i < keys.length; i += step) state.add(canonical(peer.get(keys[i])));
  await peer.close();
  running = undefined;
  return { checksum: `${told.count} told, ${told.sum} at ${version}, ${keys.length} held, ${state}, ${keptSum(kept)}` };
}

/** JSON with sorted keys and without managedFields: what all of them keep. */
export function canonical(object) {
  const { managedFields, ...metadata } = object.metadata;
  const sorted = (_, value) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return flat(JSON.stringify({ ...object, metadata }, sorted));
}
