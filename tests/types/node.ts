// A program for Node has what Node has, and nothing of a browser comes with the package.
import { readFile } from "node:fs/promises";
import { ReadableStream } from "node:stream/web";
import { createWatchCache, init } from "watchcache";
import type { ResourceStatus, Source } from "watchcache";
import { ListWatch, Watch } from "watchcache/compat/client-node";
import { WebSocket as Socket } from "ws";
import { same } from "./same.js";

await init(await readFile("watchcache_bg.wasm"));
await init(new URL("file:///watchcache_bg.wasm"));
const controller = new AbortController();
const cache = createWatchCache({
  server: new URL("https://host"),
  fetch,
  WebSocket: Socket,
  auth: () => ({ headers: new Headers() }),
  logger: console,
  signal: controller.signal,
});
createWatchCache({ fetch: async (input, init) => fetch(input, init) });
const target: EventTarget = cache;
target.dispatchEvent(new Event("error"));
cache.resource("pods").addEventListener("status", ({ detail }) => same<typeof detail, ResourceStatus>());
export const source: Source = {
  async list(_request, signal) {
    same<typeof signal, AbortSignal>();
    await fetch("https://host", { signal });
    return { body: new ReadableStream<Uint8Array>() };
  },
  async *watch(_request, signal) {
    signal.throwIfAborted();
    yield "{}";
  },
};
export const pods = new ListWatch("/api/v1/pods", new Watch(cache));
const watching: AbortController = await new Watch(cache).watch(
  "/api/v1/pods",
  {},
  () => {},
  () => {},
);
watching.abort();

// @ts-expect-error: Node has no page
void document;
// @ts-expect-error: nor a window
void window;
// @ts-expect-error: nor its elements
export type Element = HTMLElement;
