// A project with no library but the language's: the declarations ask for none, and bring none.
import { createInformerFactory, createWatchCache, init, waitForSync, WatchCacheError } from "watchcache";
import type { ResourceStatus, Source } from "watchcache";
import { Watch } from "watchcache/compat/client-node";
import { same } from "./same.js";

await init(new Uint8Array());
const cache = createWatchCache({
  server: { href: "https://host" },
  fetch: async (input, request) => {
    same<typeof input, string>();
    void request?.signal.aborted;
    return { ok: true, status: 200, headers: new Map() as never, body: null };
  },
  WebSocket: class {},
  auth: () => ({ headers: { a: "b" } }),
});
const pods = cache.resource("pods");
pods.addEventListener("status", ({ type, detail }) => [same<typeof type, string>(), same<typeof detail, ResourceStatus>()]);
export const source: Source = {
  async list(_request, signal) {
    signal.throwIfAborted();
    return { body: "{}" };
  },
  async *watch(_request, signal) {
    if (!signal.aborted) yield "{}";
  },
};
for await (const event of pods.watch()) void event.key;
await waitForSync({ pods: createInformerFactory(cache).forResource("pods") });
export const watch = new Watch(cache);
export const told = (error: unknown) => error instanceof WatchCacheError && error.code === "closed";

// @ts-expect-error: of no library here
void fetch;
// @ts-expect-error: of no library here
void AbortSignal;
// @ts-expect-error: of no library here
void EventTarget;
// @ts-expect-error: of no library here
void URL;
// @ts-expect-error: of no library here
void console;
// @ts-expect-error: of no library here
void Symbol.asyncDispose;
