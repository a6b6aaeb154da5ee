// An API server inside the page: the list is answered by `fetch`, and the watch is a WebSocket that the benchmark itself feeds. All else is
// the package's own way, from the socket's message event to the subscriber.
import { createWatchCache } from "/dist/index.js";
import { podTexts } from "./frames.js";
import { turn } from "./measure.js";

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

/**
 * A cache over that upstream, synced and watching.
 * @returns the cache, its resource, and what takes frames: the socket by its `onmessage`, or the stream by `enqueue`
 */
export async function open(pod, objects, options = {}) {
  const text = podTexts(pod);
  const items = Array.from({ length: objects }, (_, i) => text(i, LISTED)).join(",");
  const list = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${LISTED}"},"items":[${items}]}`;
  let stream;
  const cache = createWatchCache({
    fetch: async (url) => {
      if (!String(url).includes("watch=")) return new Response(list, { headers: { "content-type": "application/json" } });
      const { controller, response } = watchAnswer();
      stream = controller;
      return response;
    },
    WebSocket: FedSocket,
    linger: 3_600_000,
    ...options,
  });
  const resource = cache.resource("pods");
  await resource.synced();
  while (resource.status.phase !== "live") await new Promise((resolve) => setTimeout(resolve));
  return { cache, resource, socket: FedSocket.latest, stream };
}

/** About as much as a busy socket has ready at a time. */
const FRAMES_A_TASK = 20;

/** Hands over the frames as a busy socket does: some in each task, with a microtask checkpoint behind each frame. */
export async function feed(socket, texts) {
  for (let i = 0; i < texts.length; i++) {
    if (i % FRAMES_A_TASK === 0) await turn();
    socket.onmessage({ data: texts[i] });
    await undefined;
  }
}

/** About as much as the network hands over at a time. */
const CHUNK_BYTES = 65_536;

const encoder = new TextEncoder();

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
  while (resource.status.resourceVersion !== String(version)) await turn();
}
