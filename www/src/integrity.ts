import type { Resource } from "watchcache";
import type { Pod } from "./pod";

/** What the server held at one version: "namespace/name" and that object's own version. */
interface Digest {
  resourceVersion: string;
  items: [key: string, resourceVersion: string][];
}

export interface Verdict {
  resourceVersion: string;
  /** Objects in the cache, and on the server. */
  held: number;
  expected: number;
  /** On the server, but not in the cache in that very version. */
  lost: number;
  /** In the cache twice, or still in the cache though the server has it no more. */
  duplicated: number;
}

/** What the cache holds, of one version. A list may hold a key twice if something is wrong, so this is no map. */
interface Held {
  resourceVersion: string;
  items: [key: string, resourceVersion: string][];
}

/**
 * The cache's state at its version, by a watch that starts with it and ends at the bookmark behind it. `pods.list()` gives the same
 * objects, but decodes them. 5,000 pods would stop the page for a moment each time, and only keys and versions are needed here.
 */
async function heldBy(pods: Resource<Pod>, signal: AbortSignal): Promise<Held | undefined> {
  const items: Held["items"] = [];
  const watcher = pods.watch({
    resourceVersion: "0",
    resourceVersionMatch: "NotOlderThan",
    sendInitialEvents: true,
    allowWatchBookmarks: true,
    signal,
  });
  for await (const batch of watcher.batches()) {
    for (const event of batch) {
      if (event.initialEventsEnd) return { resourceVersion: event.resourceVersion, items };
      if (event.type === "ADDED") items.push([event.key, event.resourceVersion]);
    }
  }
  return undefined;
}

/** Compares object by object. Both sides are of the same version. */
export function compare(held: Held, server: Digest): Verdict {
  const expected = new Map(server.items);
  const seen = new Map<string, string>();
  let duplicated = 0;
  for (const [key, version] of held.items) {
    if (seen.has(key) || !expected.has(key)) duplicated++;
    seen.set(key, version);
  }
  let lost = 0;
  for (const [key, version] of expected) if (seen.get(key) !== version) lost++;
  return { resourceVersion: server.resourceVersion, held: held.items.length, expected: expected.size, lost, duplicated };
}

/**
 * One comparison of the cache with its server. The cache is read first; then the server tells what it held at that version (before a
 * real cluster, by an exact list). Undefined when it can not: ask again later.
 */
export async function check(pods: Resource<Pod>, signal: AbortSignal): Promise<Verdict | undefined> {
  const held = await heldBy(pods, signal);
  if (!held) return undefined;
  const answer = await fetch(`/demo/digest?resource=pods&resourceVersion=${held.resourceVersion}`, { signal });
  if (!answer.ok) return undefined;
  const server = (await answer.json()) as Digest;
  return server.resourceVersion === held.resourceVersion ? compare(held, server) : undefined;
}
