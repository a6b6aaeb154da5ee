import { createWatchCache, init, type Resource, type WatchCache, type WatchCacheOptions } from "watchcache";
import { Feed } from "./feed";
import { type FirstRows, lookAtFirstRows } from "./first-rows";
import { PodHistory } from "./history";
import { Journal } from "./journal";
import type { Pod } from "./pod";
import { Renders } from "./renders";
import { Samples } from "./samples";
import script from "./worker?sharedworker&url";

/** What the page lives on: one cache, one resource, and what listens to it. */
export interface Session {
  /** The embedded server can be broken on demand; a real cluster behind a proxy is left alone. */
  embedded: boolean;
  cache: WatchCache;
  pods: Resource<Pod>;
  feed: Feed;
  renders: Renders;
  history: PodHistory;
  samples: Samples;
  journal: Journal;
  firstRows: { readonly found: FirstRows | undefined };
  /** Of the cluster's events, which may be silent for long: another cache, because its options are others. It looks at one pod's, which no other tab does. */
  events: WatchCache;
}

export async function openSession(): Promise<Session> {
  // Compiled before anything is drawn, so that a selector can be refused on the spot.
  const [server] = await Promise.all([describeServer(), init()]);
  const embedded = server?.mode === "embedded";
  // A server that sends many events a second is never silent for long, so silence is noticed early. Others keep the default of 90 s.
  const busy = embedded && server.eventsPerSecond >= 10;
  const shared = sharing();
  const cache = createWatchCache({ ...shared, ...(busy && { idleTimeout: 5_000 }), ...(shared.identity && { persist: {} }) });
  const pods = cache.resource<Pod>({ version: "v1", resource: "pods" });
  const firstRows = lookAtFirstRows(cache, pods);
  const journal = new Journal(pods);
  const history = new PodHistory(cache, pods);
  const feed = new Feed(pods, history);
  void feed.run();
  const [renders, samples, events] = [new Renders(feed), new Samples(cache, feed), createWatchCache()];
  return { embedded, cache, pods, feed, renders, history, samples, journal, firstRows, events };
}

/** All tabs of this page share one stream a resource, and a reload begins with what was held. With `?mode=inline` each page has its own streams. */
function sharing(): Pick<WatchCacheOptions, "mode" | "identity" | "worker"> {
  if (new URLSearchParams(location.search).get("mode") === "inline") return {};
  // Whoever opens this page sees the same. An application gives the id of its user.
  return { mode: "shared", identity: "visitor", worker: script };
}

async function describeServer(): Promise<{ mode: "embedded" | "proxy"; eventsPerSecond: number } | undefined> {
  const answer = await fetch("/demo/status").catch(() => undefined);
  return answer?.ok ? answer.json() : undefined;
}
