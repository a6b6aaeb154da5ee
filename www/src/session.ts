import { createWatchCache, init, type Resource, type WatchCache } from "watchcache";
import { Feed } from "./feed";
import { PodHistory } from "./history";
import { Journal } from "./journal";
import type { Pod } from "./pod";
import { Renders } from "./renders";
import { Samples } from "./samples";

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
  /** Of the cluster's events, which may be silent for long: another cache, because its options are others. */
  events: WatchCache;
}

export async function openSession(): Promise<Session> {
  // Compiled before anything is drawn, so that a selector can be refused on the spot.
  const [server] = await Promise.all([describeServer(), init()]);
  const embedded = server?.mode === "embedded";
  // A server that sends many events a second is never silent for long, so silence is noticed early. Others keep the default of 90 s.
  const busy = embedded && server.eventsPerSecond >= 10;
  const cache = createWatchCache(busy ? { idleTimeout: 5_000 } : {});
  const pods = cache.resource<Pod>({ version: "v1", resource: "pods" });
  const journal = new Journal(pods);
  const history = new PodHistory(cache, pods);
  const feed = new Feed(pods, history);
  void feed.run();
  const [renders, samples, events] = [new Renders(feed), new Samples(cache, feed), createWatchCache()];
  return { embedded, cache, pods, feed, renders, history, samples, journal, events };
}

async function describeServer(): Promise<{ mode: "embedded" | "proxy"; eventsPerSecond: number } | undefined> {
  const answer = await fetch("/demo/status").catch(() => undefined);
  return answer?.ok ? answer.json() : undefined;
}
