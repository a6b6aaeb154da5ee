import { createWatchCache, init, type Resource, type WatchCache } from "watchcache";
import { Feed } from "./feed";
import { Journal } from "./journal";
import type { Pod } from "./pod";

/** What the page lives on: one cache, one resource, and two things that listen to it. */
export interface Session {
  /** The embedded server can be broken on demand and knows its own digest; a real cluster behind a proxy can not. */
  embedded: boolean;
  cache: WatchCache;
  pods: Resource<Pod>;
  feed: Feed;
  journal: Journal;
}

export async function openSession(): Promise<Session> {
  // Compiled before anything is drawn, so that a selector can be refused on the spot.
  const [embedded] = await Promise.all([isEmbedded(), init()]);
  // The embedded server is never silent for long, so silence is noticed early. A real cluster keeps the default of 90 s.
  const cache = createWatchCache(embedded ? { idleTimeout: 5_000 } : {});
  const pods = cache.resource<Pod>({ version: "v1", resource: "pods" });
  const journal = new Journal(pods);
  const feed = new Feed(pods);
  void feed.run();
  return { embedded, cache, pods, feed, journal };
}

async function isEmbedded(): Promise<boolean> {
  const answer = await fetch("/demo/status").catch(() => undefined);
  if (!answer?.ok) return false;
  return !((await answer.json()) as { proxy?: unknown }).proxy;
}
