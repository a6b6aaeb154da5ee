// Events of a real server to many subscribers, each of which reads the value. Of etcd: the package's `watchcache/etcd`, and what one writes by
// hand over the same JSON gateway.
import { createWatchCache } from "watchcache";
import { etcdSource } from "watchcache/etcd";
import { timed, turn } from "./measure.js";
import { kubernetes } from "./served-kubernetes.js";

const PATIENCE_MS = 60_000;
const SUBSCRIBERS = 100;

const now = () => performance.timeOrigin + performance.now();
const utf8 = new TextDecoder();
const fromBase64 = (text) => utf8.decode(Uint8Array.fromBase64(text));
const toBase64 = (text) => btoa(text);
/** The key behind all that begin so. */
const endOf = (prefix) => prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/** What subscribers were told: how often, and the sum of what they read, whatever the order of writers was. */
class Told {
  count = 0;
  sum = 0;
  delays = [];

  /** A subscriber; the last one also notes how long the event took from its put. @param {boolean} isLast */
  subscriber(isLast) {
    return (value) => {
      this.count++;
      this.sum += value.n;
      if (isLast) this.delays.push(now() - value.at);
    };
  }
}

async function byHand({ endpoint, prefix }, subscribers, more) {
  const range = { key: toBase64(prefix), range_end: toBase64(endOf(prefix)) };
  const answer = await fetch(`${endpoint}/v3/kv/range`, { method: "POST", body: JSON.stringify(range) });
  const { header, kvs = [] } = await answer.json();
  const held = new Map(kvs.map((kv) => [fromBase64(kv.key), JSON.parse(fromBase64(kv.value))]));
  const socket = new WebSocket(`${endpoint.replace("http", "ws")}/v3/watch`);
  await new Promise((resolve) => (socket.onopen = resolve));
  await new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      const { result } = JSON.parse(data);
      if (result.created) resolve();
      for (const { type, kv } of result.events ?? []) {
        const key = fromBase64(kv.key);
        if (type === "DELETE") {
          held.delete(key);
          continue;
        }
        const value = JSON.parse(fromBase64(kv.value));
        held.set(key, value);
        for (const tell of subscribers) tell(value);
      }
    };
    socket.send(JSON.stringify({ create_request: { ...range, start_revision: String(BigInt(header.revision) + 1n), ...more } }));
  });
  return { held: () => held.size, end: () => socket.close() };
}

const etcd = {
  async watchcache({ endpoint, prefix }, subscribers) {
    const cache = createWatchCache({ linger: 3_600_000, idleTimeout: 3_600_000 });
    const resource = cache.resource({ source: etcdSource({ endpoints: [endpoint], prefix }), id: "keys" });
    await resource.synced();
    const from = resource.resourceVersion;
    for (const tell of subscribers) {
      const watcher = resource.watch({ resourceVersion: from, bufferSize: 100_000 });
      void watcher.forEach(({ object }) => tell(object.value));
    }
    return { held: () => resource.size, end: () => cache.close() };
  },

  "WebSocket and JSON.parse by hand": (where, subscribers) => byHand(where, subscribers, {}),

  // What ours asks for, so that each deletion can tell what it deleted.
  "the same by hand, with prev_kv": (where, subscribers) => byHand(where, subscribers, { prev_kv: true }),
};

const servers = { etcd, kubernetes };

let running;

/** @param {{ server: keyof typeof servers, harness: string }} options and where the server is, as its harnesses want it */
export async function openServed({ server, harness, ...where }) {
  const told = new Told();
  const subscribers = Array.from({ length: SUBSCRIBERS }, (_, i) => told.subscriber(i === SUBSCRIBERS - 1));
  running = { told, expected: 0, ...(await servers[server][harness](where, subscribers)) };
}

/** Waits until all subscribers were told of so many more events. @param {{ events: number }} options */
export async function roundServed({ events }) {
  const { told } = running;
  told.delays = [];
  running.expected += events * SUBSCRIBERS;
  const times = await timed(async () => {
    const deadline = performance.now() + PATIENCE_MS;
    // By a timer: a loop of tasks would be counted as work of the harness.
    while (told.count < running.expected) {
      if (performance.now() > deadline) throw new Error(`${told.count} of ${running.expected} were told`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  await turn();
  const sorted = told.delays.sort((a, b) => a - b);
  return { ...times, delayMs: sorted[sorted.length >> 1], lateMs: sorted[Math.floor(sorted.length * 0.99)] };
}

/** Ends the harness; gives what was told and held. */
export async function closeServed() {
  const { told, held, end } = running;
  const checksum = `${told.count} told, sum ${told.sum}, ${held()} held`;
  await end();
  running = undefined;
  return { checksum };
}
