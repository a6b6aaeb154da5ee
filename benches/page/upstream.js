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

/**
 * A cache over that upstream, synced and watching.
 * @returns the cache, its resource, and the socket whose `onmessage` takes frames
 */
export async function open(pod, objects, options = {}) {
  const text = podTexts(pod);
  const items = Array.from({ length: objects }, (_, i) => text(i, LISTED)).join(",");
  const list = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${LISTED}"},"items":[${items}]}`;
  const cache = createWatchCache({
    fetch: async () => new Response(list, { headers: { "content-type": "application/json" } }),
    WebSocket: FedSocket,
    linger: 3_600_000,
    ...options,
  });
  const resource = cache.resource("pods");
  await resource.synced();
  while (resource.status.phase !== "live") await new Promise((resolve) => setTimeout(resolve));
  return { cache, resource, socket: FedSocket.latest };
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

/** Waits until a change has been applied. */
export async function reached(resource, version) {
  while (resource.status.resourceVersion !== String(version)) await turn();
}
