/**
 * The package's side of the storage tests: caches over a source that the Go program answers, and what that program asks of them.
 *
 * Both speak lines of JSON over stdin and stdout. `{ id, call, … }` is answered by `{ id, result }` or `{ id, error }`. What the source is asked goes the
 * other way as `{ ask, call, … }`; a watch of it is answered by frames and an end.
 * @module
 */
import { createInterface } from "node:readline";
import { createWatchCache, init } from "watchcache";

const text = (/** @type {Uint8Array} */ bytes) => new TextDecoder().decode(bytes);
const send = (/** @type {object} */ message) => process.stdout.write(`${JSON.stringify(message)}\n`);

/** What was asked of the Go program and has no answer yet. @type {Map<number, { resolve(value: any): void, reject(error: unknown): void }>} */
const asked = new Map();
/** The watches of sources. @type {Map<number, { frames: string[], end?: { error?: unknown }, wake(): void }>} */
const streams = new Map();
let asks = 0;

/** @param {string} cache @param {string} call @param {object} [more] @returns {Promise<any>} */
const ask = (cache, call, more = {}) =>
  new Promise((resolve, reject) => {
    asked.set(++asks, { resolve, reject });
    send({ ask: asks, cache, call, ...more });
  });

/** What was asked for a current version and has no answer yet, by whatever watch. @type {Set<Promise<unknown>>} */
const currents = new Set();

/** A source whose lists and watches are those of the etcd store. @param {string} cache @param {{ progress: boolean }} can */
function sourceOf(cache, { progress }) {
  const source = {
    // Its continue tokens are the apiserver's.
    collection: {},
    list: async (/** @type {object} */ request) => ({ body: await ask(cache, "list", { request }) }),
    async *watch(/** @type {object} */ request, /** @type {AbortSignal} */ signal) {
      const number = ++asks;
      const stream = { frames: /** @type {string[]} */ ([]), end: /** @type {{ error?: unknown } | undefined} */ (undefined), wake() {} };
      streams.set(number, stream);
      const stop = () => stream.wake();
      signal.addEventListener("abort", stop, { once: true });
      send({ ask: number, cache, call: "watch", request });
      try {
        while (!signal.aborted) {
          const frame = stream.frames.shift();
          if (frame !== undefined) yield frame;
          else if (stream.end?.error) throw stream.end.error;
          else if (stream.end) return;
          else await new Promise((resolve) => (stream.wake = () => resolve(undefined)));
        }
      } finally {
        streams.delete(number);
        send({ ask: number, cache, call: "abort" });
      }
    },
    compactedResourceVersion: () => ask(cache, "compacted"),
  };
  if (!progress) return source;
  const currentResourceVersion = () => {
    const current = ask(cache, "current");
    currents.add(current);
    const done = () => currents.delete(current);
    current.then(done, done);
    return current;
  };
  return { ...source, currentResourceVersion, requestProgress: () => ask(cache, "progress") };
}

/** @type {Map<string, { cache: import("watchcache").WatchCache, resource: any }>} */
const caches = new Map();
/** @type {Map<number, import("watchcache").Watcher<any>>} */
const watches = new Map();

/** What the Go program may ask. @type {Record<string, (message: any) => Promise<unknown>>} */
const CALLS = {
  async open({ cache: name, progress }) {
    const cache = createWatchCache({ flush: "microtask", linger: 3_600_000, retry: { initialMs: 10, capMs: 100 } });
    const resource = cache.resource({ source: sourceOf(name, { progress }), id: "pods" });
    caches.set(name, { cache, resource });
    await resource.synced();
  },
  async close({ cache: name }) {
    const held = caches.get(name);
    caches.delete(name);
    await held?.cache.close();
  },
  async list({ cache, options }) {
    const list = await of(cache).list(options);
    const { resourceVersion, continue: token, remainingItemCount } = list;
    return { items: text(list.raw), resourceVersion, continue: token, remainingItemCount };
  },
  async get({ cache, key, options }) {
    return JSON.stringify(await of(cache).get(key, options));
  },
  async peek({ cache, key }) {
    const held = of(cache).peek(key);
    return held === undefined ? null : JSON.stringify(held);
  },
  /** Opens a watch, and answers once it knows where it starts, if that is asked for. A refusal that comes at once is the answer. */
  async watch({ id, cache, options }) {
    const watcher = of(cache).watch(options);
    watches.set(id, watcher);
    const ended = watcher.ended.then(({ reason }) => reason);
    const turn = new Promise((resolve) => setImmediate(resolve, ""));
    await turn;
    await Promise.allSettled([...currents]);
    if ((await Promise.race([ended, turn])) === "error") {
      watches.delete(id);
      await watcher.next();
    }
  },
  async next({ watch }) {
    const { value: event, done } = await /** @type {any} */ (watches.get(watch)).next();
    if (!done) return { type: event.type, object: text(event.raw) };
    watches.delete(watch);
    return null;
  },
  async stop({ watch }) {
    watches.get(watch)?.stop();
    watches.delete(watch);
  },
  /** Forgets the changes so far: the resource is listed anew. */
  async refresh({ cache }) {
    await of(cache).refresh();
  },
};

const of = (/** @type {string} */ name) => {
  const held = caches.get(name);
  if (held === undefined) throw new Error(`there is no cache ${name}`);
  return held.resource;
};

/** @param {any} message */
async function answer(message) {
  const { id, call } = message;
  try {
    const result = await CALLS[call](message);
    send({ id, result: result ?? null });
  } catch (error) {
    const { message: said, status } = /** @type {any} */ (error);
    send({ id, error: { message: String(said ?? error), status } });
  }
}

await init();
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.call !== undefined) {
    void answer(message);
    continue;
  }
  const { ask: number, frame, end, error, result } = message;
  const refusal = error && (error.status ? { status: error.status } : { code: 500, reason: "InternalError", message: error.message });
  const stream = streams.get(number);
  if (stream !== undefined) {
    if (frame !== undefined) stream.frames.push(frame);
    if (end) stream.end = { error: refusal };
    stream.wake();
    continue;
  }
  const waiting = asked.get(number);
  asked.delete(number);
  if (refusal) waiting?.reject(refusal);
  else waiting?.resolve(result);
}
process.exit(0);
