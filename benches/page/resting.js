// The first read of an object that rests, against parsing its text.
import { differentPods } from "./different-pods.js";
import { flat } from "./frames.js";
import { Checksum, settle, timed } from "./measure.js";
import { canonical } from "./path.js";
import { idle, LISTED, openCache } from "./upstream.js";
import realPod from "../../tests/data/pod.json";

let running;

const stripped = (text) => {
  const { metadata, ...object } = JSON.parse(text);
  const { managedFields, ...kept } = metadata;
  return flat(JSON.stringify({ ...object, metadata: kept }));
};

const readers = {
  async watchcache(items) {
    const { cache, resource } = await openCache(items, LISTED);
    await idle(cache);
    return { get: (key) => resource.peek(key), close: () => cache.close() };
  },
  async "JSON.parse"(items) {
    const texts = new Map(items.map((text) => [keyOf(JSON.parse(text)), stripped(text)]));
    return { get: (key) => JSON.parse(texts.get(key)), close() {} };
  },
};

const keyOf = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;

/** @param {{ harness: keyof typeof readers, objects: number }} options */
export async function openResting({ harness, objects }) {
  const text = differentPods(realPod);
  const items = Array.from({ length: objects }, (_, i) => flat(text(i, LISTED)));
  const keys = items.map((item) => keyOf(JSON.parse(item)));
  running = { ...(await readers[harness](items)), keys, at: 0, sum: 0 };
  await settle();
}

/** @param {{ count: number }} options so many objects that were not read before */
export async function roundResting({ count }) {
  const { get, keys, at } = running;
  if (at + count > keys.length) throw new Error("too few objects for so many first reads");
  running.at += count;
  let sum = 0;
  const time = await timed(async () => {
    for (let i = at; i < at + count; i++) {
      const { metadata, spec, status } = get(keys[i]);
      sum =
        (Math.imul(sum, 31) + metadata.name.length + spec.containers.length + status.conditions.length + metadata.uid.charCodeAt(9)) | 0;
    }
  });
  running.sum = (running.sum + sum) | 0;
  return time;
}

/** Ends the harness; gives the checksum over what was read, and over some objects whole. */
export async function closeResting() {
  const { get, keys, sum, close } = running;
  const whole = new Checksum();
  for (let i = 0; i < keys.length; i += 50) whole.add(canonical(get(keys[i])));
  await close();
  running = undefined;
  return { checksum: `${sum}, ${whole}` };
}
