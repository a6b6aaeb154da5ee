// Frames in: from the text of a socket's message to the state that answers reads.
import { frames, template } from "./frames.js";
import { Checksum, interleave, timed } from "./measure.js";
import { feed, LISTED, open, reached } from "./upstream.js";

/** What everybody writes by hand: parse, and keep the newest by name. */
class ParsingPeer {
  objects = new Map();
  onmessage = ({ data }) => {
    const { type, object } = JSON.parse(data);
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    if (type === "DELETED") this.objects.delete(key);
    else this.objects.set(key, object);
    this.onobject?.(object);
  };
}

/** Reads of an event what a table's row would. */
function reader() {
  let sum = 0;
  return {
    take(object) {
      sum = (Math.imul(sum, 31) + Number(object.metadata.resourceVersion) + object.metadata.name.length) | 0;
    },
    sum: () => sum,
  };
}

/** The state at the end, without what the package does not keep by default. */
function stateChecksum(keys, get) {
  const checksum = new Checksum();
  for (const key of keys) {
    const { managedFields, ...metadata } = get(key).metadata;
    checksum.add(JSON.stringify({ ...get(key), metadata }));
  }
  return checksum;
}

/**
 * @param {{ rounds: number, count: number, objects: number, read: boolean }} options `count` frames a round, about `objects` pods;
 * `read`: one subscriber reads every object
 */
export async function ingest({ rounds, count, objects, read }) {
  const pod = await template("large");
  const keys = Array.from({ length: objects }, (_, i) => `${pod.metadata.namespace}/${pod.metadata.name}-${i}`);
  const warmUp = LISTED + objects;
  const last = warmUp + count;
  const texts = () => [frames(pod, objects, LISTED + 1, objects), frames(pod, objects, warmUp + 1, count)];
  const bytes = frames(pod, objects, LISTED + 1, objects).reduce((sum, frame) => sum + frame.length, 0) / objects;

  const harnesses = {
    async watchcache() {
      const [first, input] = texts();
      const { cache, resource, socket } = await open(pod, objects);
      const row = reader();
      if (read) void resource.watch({ resourceVersion: String(LISTED) }).forEach((event) => row.take(event.object));
      await feed(socket, first);
      await reached(resource, warmUp);
      const time = await timed(async () => {
        await feed(socket, input);
        await reached(resource, last);
      });
      const checksum = `${stateChecksum(keys, (key) => resource.peek(key))}/${row.sum()}`;
      await cache.close();
      return { ...time, checksum };
    },
    async "JSON.parse"() {
      const [first, input] = texts();
      const peer = new ParsingPeer();
      const row = reader();
      if (read) peer.onobject = row.take;
      await feed(peer, first);
      const time = await timed(() => feed(peer, input));
      return { ...time, checksum: `${stateChecksum(keys, (key) => peer.objects.get(key))}/${row.sum()}` };
    },
  };
  return { unit: "frame", bytes, units: count, harnesses: await interleave(rounds, harnesses) };
}
