// The first read of objects that rest, one by one or a table's rows at once, against parsing their texts.
import { differentPods } from "./different-pods.js";
import { flat } from "./frames.js";
import { Checksum, settle, timed, until } from "./measure.js";
import { canonical } from "./path.js";
import { keyOf } from "./peers/object.js";
import { idle, LISTED, openCache } from "./upstream.js";
import realPod from "../../tests/data/pod.json";

let running;

const stripped = (text) => {
  const { metadata, ...object } = JSON.parse(text);
  const { managedFields, ...kept } = metadata;
  return flat(JSON.stringify({ ...object, metadata: kept }));
};

/** `get` reads one object, and `rows` those from an offset on, as a table does that shows another page. Both are in the order of keys. */
const readers = {
  async watchcache(items) {
    const { cache, resource } = await openCache(items, LISTED);
    await idle(cache);
    const view = resource.view({ window: { offset: 0, limit: 0 } });
    const end = view.subscribe(() => {});
    await until(() => view.getSnapshot().loaded, "the view was not loaded");
    return {
      get: (key) => resource.peek(key),
      async rows(offset, limit) {
        view.setWindow({ offset, limit });
        // Rows of another window come with the next microtask.
        await undefined;
        const shown = view.getSnapshot();
        if (shown.offset !== offset || shown.rows.length !== limit) throw new Error(`the view is at ${shown.offset}, not at ${offset}`);
        return shown.rows;
      },
      close: () => (end(), cache.close()),
    };
  },
  async "JSON.parse"(items) {
    const texts = new Map(items.map((text) => [keyOf(JSON.parse(text)), stripped(text)]));
    const keys = [...texts.keys()].sort();
    const get = (key) => JSON.parse(texts.get(key));
    return { get, rows: async (offset, limit) => keys.slice(offset, offset + limit).map(get), close() {} };
  },
};

/** @param {{ harness: keyof typeof readers, objects: number }} options */
export async function openResting({ harness, objects }) {
  const text = differentPods(realPod);
  const items = Array.from({ length: objects }, (_, i) => flat(text(i, LISTED)));
  const keys = items.map((item) => keyOf(JSON.parse(item))).sort();
  running = { ...(await readers[harness](items)), keys, at: 0, sum: 0 };
  await settle();
}

/** What a table reads of a pod, as a number. */
const looked = ({ metadata, spec, status }) =>
  metadata.name.length + spec.containers.length + status.conditions.length + metadata.uid.charCodeAt(9);

/** @param {{ count: number, atOnce?: number }} options so many objects that were not read before, one by one or so many rows at once */
export async function roundResting({ count, atOnce = 1 }) {
  const { get, rows, keys, at } = running;
  if (at + count > keys.length) throw new Error("too few objects for so many first reads");
  running.at += count;
  let sum = 0;
  const look = (object) => void (sum = (Math.imul(sum, 31) + looked(object)) | 0);
  const time = await timed(async () => {
    if (atOnce === 1) for (let i = at; i < at + count; i++) look(get(keys[i]));
    else for (let i = at; i < at + count; i += atOnce) (await rows(i, atOnce)).forEach(look);
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
