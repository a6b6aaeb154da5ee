// An API server inside the page: the list is answered by `fetch`, and the watch is a WebSocket that the benchmark itself feeds. All else is
// the package's own way, from the socket's message event to the subscriber.
import { createWatchCache } from "watchcache";
import { turn, until } from "./measure.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The list's version; frames come after it. */
export const LISTED = 1000;

/** Stands for the browser's WebSocket. */
class FedSocket {
  static latest;
  binaryType = "blob";
  onopen = null;
  onmessage = null;
  onclose = null;
  onerror = null;

  constructor() {
    FedSocket.latest = this;
    queueMicrotask(() => this.onopen?.(new Event("open")));
  }

  close() {}
}

/** The answer to a watch by fetch: a stream of lines that the benchmark itself fills. */
function watchAnswer() {
  let controller;
  const body = new ReadableStream({ start: (given) => void (controller = given) });
  return { controller, response: new Response(body, { headers: { "content-type": "application/json" } }) };
}

/** Objects a page of the list. */
const PAGE = 500;

/** One page of the list, as a Kubernetes server pages it. */
function listPage(items, version, url) {
  const { searchParams } = new URL(url, "http://upstream");
  const from = Number(searchParams.get("continue") ?? 0);
  const to = Math.min(from + Number(searchParams.get("limit") ?? items.count), items.count);
  const metadata = {
    resourceVersion: String(version),
    ...(to < items.count && { continue: String(to), remainingItemCount: items.count - to }),
  };
  const body = [`{"kind":"PodList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`];
  for (let i = from; i < to; i++) body.push(i === from ? "" : ",", items(i));
  return new Response(`${body.join("")}]}`, { headers: { "content-type": "application/json" } });
}

/**
 * A cache over a list of these texts, synced and watching.
 * @param {readonly string[] | ((index: number) => string) & { count: number }} items texts of objects, or what makes them
 * @returns the cache, its resource, and what takes frames: the socket by its `onmessage`, or the stream by `enqueue`
 */
export async function openCache(items, version, options = {}) {
  const texts = Array.isArray(items) ? Object.assign((i) => items[i], { count: items.length }) : items;
  let stream;
  const cache = createWatchCache({
    fetch: async (url) => {
      if (!String(url).includes("watch=")) return listPage(texts, version, String(url));
      const { controller, response } = watchAnswer();
      stream = controller;
      return response;
    },
    WebSocket: FedSocket,
    linger: 3_600_000,
    // Its peers may have the machine for minutes before its own turn comes.
    idleTimeout: 3_600_000,
    pageSize: PAGE,
    ...options,
  });
  const resource = cache.resource("pods");
  await resource.synced();
  while (resource.status.phase !== "live") await new Promise((resolve) => setTimeout(resolve));
  // Where the cache connects anew, what it has opened last is what takes frames.
  const socket = { onmessage: (message) => FedSocket.latest.onmessage(message) };
  return { cache, resource, socket, stream };
}

/** About as much as a busy socket has ready at a time. */
export const FRAMES_A_TASK = 20;

/** Hands over the frames as a busy socket does: some in each task, with a microtask checkpoint behind each frame. */
export async function feed(socket, texts, framesATask = FRAMES_A_TASK) {
  for (let i = 0; i < texts.length; i++) {
    if (i % framesATask === 0) await turn();
    socket.onmessage({ data: texts[i] });
    await undefined;
  }
}

/**
 * The same, but each frame is decoded just before, as a socket decodes it in the task of its message event. If it were made long before,
 * whoever takes it would first have to fetch it from slow memory. What is timed is the taking alone, and all that it causes up to the
 * host's next turn.
 * @param {readonly Uint8Array[]} tape the frames' bytes
 * @param {() => void} [taken] is called in each task when its last frame has been taken
 * @returns milliseconds
 */
export async function play(socket, tape, framesATask = FRAMES_A_TASK, taken = undefined) {
  let ms = 0;
  for (let i = 0; i < tape.length; i += framesATask) {
    const texts = tape.slice(i, i + framesATask).map((bytes) => decoder.decode(bytes));
    await turn();
    const began = performance.now();
    for (const data of texts) {
      socket.onmessage({ data });
      await undefined;
    }
    taken?.();
    await turn();
    ms += performance.now() - began;
  }
  return ms;
}

/** The frames' bytes, to be played. */
export function record(texts) {
  return texts.map((text) => encoder.encode(text));
}

/** About as much as the network hands over at a time. */
const CHUNK_BYTES = 65_536;

/** The same frames as lines, cut where the network would cut them. */
export function chunks(texts) {
  const bytes = encoder.encode(`${texts.join("\n")}\n`);
  const count = Math.ceil(bytes.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, i) => bytes.slice(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES));
}

/** Hands over chunks, one in each task. */
export async function pour(stream, pieces) {
  for (const piece of pieces) {
    await turn();
    stream.enqueue(piece);
  }
}

/** Waits until a change has been applied. */
export async function reached(resource, version) {
  const there = () => resource.resourceVersion === String(version);
  await until(there, `version ${version} was not reached in phase ${resource.status.phase}`);
}

/** How long nothing may change before a cache counts as idle, and how long that is waited for. */
const STILL_MS = 500;
const IDLE_PATIENCE_MS = 60_000;

/** Waits until a cache has nothing left to do in its idle time: what it holds no longer changes its size. */
export async function idle(cache, stillMs = STILL_MS) {
  const held = () => {
    const { memoryBytes, resources } = cache.stats();
    return [memoryBytes, ...resources.map(({ bytes, historyBytes }) => `${bytes}/${historyBytes}`)].join();
  };
  const deadline = performance.now() + IDLE_PATIENCE_MS;
  let last = held();
  for (let since = performance.now(); performance.now() - since < stillMs && performance.now() < deadline;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const now = held();
    if (now === last) continue;
    last = now;
    since = performance.now();
  }
}
