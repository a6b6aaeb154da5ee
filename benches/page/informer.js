// The informers in the page; see benches/informer.
import { makeInformer } from "@kubernetes/client-node/dist/informer.js";
import { createWatchCache } from "watchcache";
import { informerClient } from "../informer/client.js";

let client;

/** The page has all of them. */
const load = {
  watchcache: () => ({ createWatchCache }),
  "watchcache over a WebSocket": () => ({ createWatchCache }),
  "client-node informer": () => ({ kubeConfig: { getCurrentCluster: () => ({ server: location.origin }) }, makeInformer, list }),
  "the stream alone": () => ({}),
};

const list = async () => (await fetch("/api/v1/pods", { cache: "no-store" })).json();

/** One step of the client, as benches/informer/node.mjs takes them; `prepare` comes first. */
export async function informer({ step, options }) {
  if (step !== "prepare") return client[step](options);
  client = informerClient({
    server: location.origin,
    ...options,
    load,
    cpuMs: async () => (await globalThis.threadSeconds()) * 1000,
    now: () => performance.timeOrigin + performance.now(),
  });
}
