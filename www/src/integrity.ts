import type { Resource } from "watchcache";
import { keyOf, type Pod } from "./pod";

/** What the server holds at one version: each object's own version by "namespace/name". */
export interface Digest {
  resourceVersion: string;
  versions: ReadonlyMap<string, string>;
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

/** Compares object by object. Both sides must be of the same version. */
export function compare(held: readonly Pod[], server: Digest): Verdict {
  const versions = new Map<string, string | undefined>();
  let duplicated = 0;
  for (const pod of held) {
    const key = keyOf(pod);
    if (versions.has(key) || !server.versions.has(key)) duplicated++;
    versions.set(key, pod.metadata.resourceVersion);
  }
  let lost = 0;
  for (const [key, version] of server.versions) if (versions.get(key) !== version) lost++;
  return { resourceVersion: server.resourceVersion, held: held.length, expected: server.versions.size, lost, duplicated };
}

/**
 * One comparison of the cache with its server. The cache is read first; then the server tells what it held at that version. Undefined
 * when the server answers for another version (it may be behind, or have forgotten): ask again later.
 */
export async function check(pods: Resource<Pod>, embedded: boolean, signal: AbortSignal): Promise<Verdict | undefined> {
  const { items, resourceVersion } = await pods.list({ resourceVersion: "0", signal });
  const server = await (embedded ? digestOf(resourceVersion, signal) : listExactly(resourceVersion, signal));
  return server?.resourceVersion === resourceVersion ? compare(items, server) : undefined;
}

/** The embedded server digests its store. */
async function digestOf(resourceVersion: string, signal: AbortSignal): Promise<Digest | undefined> {
  const answer = await fetch(`/demo/digest?resource=pods&resourceVersion=${resourceVersion}`, { signal });
  if (!answer.ok) return undefined;
  const body = (await answer.json()) as { resourceVersion: string; objects: Record<string, string> };
  return { resourceVersion: body.resourceVersion, versions: new Map(Object.entries(body.objects)) };
}

interface PartialList {
  metadata: { resourceVersion: string; continue?: string };
  items: { metadata: { namespace: string; name: string; resourceVersion: string } }[];
}

/** Any other server is asked for a list at exactly that version, in pages, and for the metadata alone. */
async function listExactly(resourceVersion: string, signal: AbortSignal): Promise<Digest | undefined> {
  const versions = new Map<string, string>();
  let query = `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
  for (;;) {
    const answer = await fetch(`/api/v1/pods?limit=500&${query}`, {
      headers: { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" },
      signal,
    });
    if (!answer.ok) return undefined;
    const page = (await answer.json()) as PartialList;
    for (const { metadata } of page.items) versions.set(`${metadata.namespace}/${metadata.name}`, metadata.resourceVersion);
    if (!page.metadata.continue) return { resourceVersion: page.metadata.resourceVersion, versions };
    query = `continue=${encodeURIComponent(page.metadata.continue)}`;
  }
}
