// What a server has: its documents asked for in the aggregated form, and in the classic one where it knows no other.
import { toError, WatchCacheError } from "../error/errors.js";
import { type Group, joined, readRoot, readVersion, type Version } from "./documents.js";
import { Names } from "./names.js";
import type { Asker } from "./request.js";

const AS = "as=APIGroupDiscoveryList";
/** As client-go asks: an older server gives v2beta1, and one that knows neither the classic form. */
const AGGREGATED = `application/json;g=apidiscovery.k8s.io;v=v2;${AS},application/json;g=apidiscovery.k8s.io;v=v2beta1;${AS},application/json`;
const CLASSIC = "application/json";

/** Where groups are told of, and which. */
const ROOTS = [
  { path: "/api", group: "" },
  { path: "/apis", group: "*" },
];

/** Classic documents that are asked for at once: as many connections as a browser has to a server of HTTP/1.1. */
const AT_ONCE = 6;

/**
 * Asks for all that a server has.
 *
 * @throws {WatchCacheError} `not-found` where it tells nothing at all, and as requests fail. What only some groups lack is told by `failed`.
 */
export async function discover(asker: Asker): Promise<Names> {
  const roots = await Promise.all(ROOTS.map(({ path }) => root(asker, path)));
  const [refused] = roots.flatMap(({ error }) => error ?? []);
  const groups = roots.flatMap(({ groups }) => groups ?? []);
  // A server may have one of both, or let nobody see one. With neither it is none that tells.
  if (refused !== undefined && roots.every(({ error }) => error !== undefined)) {
    if (refused.code !== "not-found") throw refused;
    throw new WatchCacheError(
      "not-found",
      'the server has no discovery: neither /api nor /apis is there. Name resources as "apps/v1/deployments"',
      {
        status: refused.status,
      },
    );
  }
  const { resources, failed } = joined(await completed(asker, groups));
  const hidden = roots.flatMap(({ error }, i) => (error?.code === "forbidden" ? Object.freeze({ group: ROOTS[i]!.group, error }) : []));
  return new Names(resources, [...hidden, ...failed]);
}

/** @throws {WatchCacheError} what is more than that nobody may see it */
async function root(asker: Asker, path: string): Promise<{ groups?: readonly Group[]; error?: WatchCacheError }> {
  try {
    return { groups: readRoot(await asker.ask({ path, accept: AGGREGATED }), path) };
  } catch (thrown) {
    const error = toError(thrown);
    if (error.code === "not-found" || error.code === "forbidden") return { error };
    throw error;
  }
}

/** Each version with its resources, or why they are not known. */
async function completed(asker: Asker, groups: readonly Group[]): Promise<readonly Group[]> {
  const left = groups.flatMap(({ name, versions }) => versions.filter(isOpen).map(({ version }) => ({ group: name, version })));
  const told = new Map<string, Version>();
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { group, version } = next;
      const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      try {
        told.set(path, { version, resources: readVersion(await asker.ask({ path, accept: CLASSIC }), path) });
      } catch (thrown) {
        const error = toError(thrown);
        if (error.code === "closed") throw error;
        told.set(path, { version, error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const completedVersion = (group: string, one: Version) =>
    isOpen(one) ? told.get(group === "" ? `/api/${one.version}` : `/apis/${group}/${one.version}`)! : one;
  return groups.map(({ name, versions }) => ({ name, versions: versions.map((one) => completedVersion(name, one)) }));
}

const isOpen = ({ resources, error }: Version): boolean => resources === undefined && error === undefined;
