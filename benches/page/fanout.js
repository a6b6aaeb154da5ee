// One event to many callbacks: what it costs beyond the event itself.
import { interleave, timed } from "./measure.js";
import { events } from "./shapes.js";
import { feed, LISTED, openCache, reached } from "./upstream.js";

/**
 * Callbacks that all count, so that none can be left out or called twice unseen. They are of different code, as the components of a page
 * are. An engine that sees one function only would fold it into the peer's loop. The first one keeps the last event.
 */
function subscribers(count) {
  const seen = { sum: 0, last: undefined };
  const kinds = [
    (weight) => () => void (seen.sum = (seen.sum + weight) | 0),
    (weight) => (event) => void (seen.sum = (seen.sum + (event ? weight : 0)) | 0),
    (weight) => (event) => {
      if (event !== undefined) seen.sum = (seen.sum + weight) | 0;
    },
    (weight) => () => {
      seen.sum = (weight + seen.sum) | 0;
    },
    (weight) => (event) => {
      seen.sum += event === null ? 0 : weight;
      seen.sum |= 0;
    },
    (weight) => {
      const twice = 2 * weight;
      return () => {
        seen.sum = (seen.sum + twice - weight) | 0;
      };
    },
  ];
  const handlers = Array.from({ length: count }, (_, i) => kinds[i % kinds.length](i + 1));
  if (count > 0) {
    handlers[0] = (event) => {
      seen.sum = (seen.sum + 1) | 0;
      seen.last = event;
    };
  }
  const checksum = () => `${seen.sum}@${seen.last?.object.metadata.resourceVersion}`;
  return { handlers, checksum };
}

/** The peer's event: parsed when somebody reads it, once for all. */
class LazyEvent {
  #text;
  #parsed;

  constructor(text) {
    this.#text = text;
  }

  get object() {
    return (this.#parsed ??= JSON.parse(this.#text).object);
  }
}

/** Pods of a cluster, among which its events go around. A replaced pod is one alone. */
const PODS = { replaced: 1, cluster: 20 };

/**
 * @param {{ rounds: number, count: number, callbacks: number, shape: string, size?: "small" | "large" }} options `count` events a round,
 * each in a flush of its own
 */
export async function fanout({ rounds, count, callbacks, shape, size }) {
  const warmUp = LISTED + count;
  const last = warmUp + count;
  // A page holds its subscriptions for long, so what is timed is a loop that is compiled already.
  const texts = () => {
    const { items, frames } = events({ shape, objects: PODS[shape], size });
    return [items(LISTED), frames(LISTED + 1, count), frames(warmUp + 1, count)];
  };

  /** The package with so many callbacks; 0 gives the price of the events alone. */
  const through = async (subscriberCount) => {
    const [list, first, input] = texts();
    const { cache, resource, socket } = await openCache(list, LISTED);
    const { handlers, checksum } = subscribers(subscriberCount);
    for (const handler of handlers) void resource.watch({ resourceVersion: String(LISTED) }).forEach(handler);
    await feed(socket, first);
    await reached(resource, warmUp);
    const time = await timed(async () => {
      await feed(socket, input);
      await reached(resource, last);
    });
    const result = { ...time, checksum: checksum() };
    await cache.close();
    return result;
  };

  const by = async (subscriberCount, toEvent) => {
    const [, first, input] = texts();
    const { handlers, checksum } = subscribers(subscriberCount);
    const socket = {
      onmessage({ data }) {
        const event = toEvent(data);
        for (const handler of handlers) handler(event);
      },
    };
    await feed(socket, first);
    return { ...(await timed(() => feed(socket, input))), checksum: checksum() };
  };
  const lazily = (data) => new LazyEvent(data);

  const harnesses = {
    watchcache: () => through(callbacks),
    "watchcache, no callbacks": () => through(0),
    loop: () => by(callbacks, lazily),
    "loop, no callbacks": () => by(0, lazily),
    "JSON.parse and loop": () => by(callbacks, JSON.parse),
  };
  const alike = [
    ["watchcache", "loop", "JSON.parse and loop"],
    ["watchcache, no callbacks", "loop, no callbacks"],
  ];
  return { unit: "event", units: count, callbacks, alike, harnesses: await interleave(rounds, harnesses) };
}
