// What a page has of its own goes in, and what comes out is that of a page.
import { createWatchCache, init, initSync } from "watchcache";
import type { DetailEvent, ResourceStatus, Source } from "watchcache";
import { same } from "./same.js";

export async function start(module: WebAssembly.Module, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  await init();
  await init("/watchcache_bg.wasm");
  await init(new URL("https://host/watchcache_bg.wasm"));
  await init(new Request("/watchcache_bg.wasm"));
  await init(fetch("/watchcache_bg.wasm"));
  await init(bytes);
  await init(module);
  initSync(module);
  // @ts-expect-error: those are no bytes
  await init(5);
}

const cache = createWatchCache({
  server: new URL("https://host"),
  fetch: async (input, init) => {
    same<typeof input, RequestInfo | URL>();
    same<typeof init, RequestInit | undefined>();
    return fetch(input, init);
  },
  WebSocket,
  auth: () => ({ headers: new Headers() }),
  logger: console,
  signal: AbortSignal.timeout(5),
});
createWatchCache({ fetch, WebSocket: window.WebSocket, auth: () => ({ headers: [["a", "b"]] }), server: location });
createWatchCache({ auth: () => ({ headers: { a: "b" } }) });

const target: EventTarget = cache;
target.dispatchEvent(new Event("error"));
const pods = cache.resource("pods");
export const targets: EventTarget[] = [pods, cache];
pods.addEventListener("status", (event: CustomEvent<ResourceStatus>) => event.preventDefault());
pods.addEventListener("status", (event) => same<typeof event, DetailEvent<ResourceStatus>>(), {
  once: true,
  signal: AbortSignal.timeout(5),
});
pods.addEventListener("status", { handleEvent: (event: Event) => void event.type });
const listener = (event: Event) => void event.type;
pods.addEventListener("sync", listener);
pods.removeEventListener("sync", listener);
// @ts-expect-error: it tells of its status
pods.addEventListener("status", (event: CustomEvent<string>) => void event);

export const source: Source = {
  async list(_request, signal) {
    same<typeof signal, AbortSignal>();
    const { body } = await fetch("/things", { signal });
    return { body: body! };
  },
  async *watch(_request, signal) {
    yield await (await fetch("/things", { signal })).text();
  },
};
