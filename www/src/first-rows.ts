import type { Resource, WatchCache } from "watchcache";
import type { Pod } from "./pod";

/** Where the first rows of this page came from, and when, in ms since its navigation began. */
export interface FirstRows {
  from: "the disk" | "another tab" | "the network";
  atMs: number;
}

const ONE = { window: { offset: 0, limit: 1 } };

/** Looks at the first rows as they come. */
export function lookAtFirstRows(cache: WatchCache, pods: Resource<Pod>): { readonly found: FirstRows | undefined } {
  const look: { found: FirstRows | undefined } = { found: undefined };
  const view = pods.view(ONE);
  const end = view.subscribe(() => {
    if (look.found !== undefined || view.rows.length === 0) return;
    look.found = { from: originOf(cache, pods), atMs: performance.now() };
    // Not in its own call.
    queueMicrotask(() => end());
  });
  return look;
}

/** What the worker said of itself before it was asked for pods: it held them already, where another tab had asked. */
function originOf(cache: WatchCache, pods: Resource<Pod>): FirstRows["from"] {
  if (pods.status.stale) return "the disk";
  const held = cache.stats().worker?.resources.find(({ name }) => name === "pods");
  return held?.phase === "live" ? "another tab" : "the network";
}
