import type { Resource } from "watchcache";
import { keyOf, type Pod } from "./pod";

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

/** Compares object by object. Both sides are of the same version. */
export function compare(held: readonly Pod[], server: Digest): Verdict {
  const expected = new Map(server.items);
  const seen = new Map<string, string>();
  let duplicated = 0;
  for (const pod of held) {
    const key = keyOf(pod);
    if (seen.has(key) || !expected.has(key)) duplicated++;
    seen.set(key, pod.metadata.resourceVersion);
  }
  let lost = 0;
  for (const [key, version] of expected) if (seen.get(key) !== version) lost++;
  return { resourceVersion: server.resourceVersion, held: held.length, expected: expected.size, lost, duplicated };
}

/**
 * One comparison of the cache with its server. The cache is read first; then the server tells what it held at that version (before a
 * real cluster, by an exact list). Undefined when it can not: ask again later.
 */
export async function check(pods: Resource<Pod>, signal: AbortSignal): Promise<Verdict | undefined> {
  const { items, resourceVersion } = await pods.list({ resourceVersion: "0", signal });
  const answer = await fetch(`/demo/digest?resource=pods&resourceVersion=${resourceVersion}`, { signal });
  if (!answer.ok) return undefined;
  const server = (await answer.json()) as Digest;
  return server.resourceVersion === resourceVersion ? compare(items, server) : undefined;
}
