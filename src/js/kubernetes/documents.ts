// Discovery's documents, read: the aggregated form (apidiscovery.k8s.io v2 and v2beta1) and the classic one. What a member should be is checked; what
// is missing where Kubernetes leaves out the empty is empty.
import { WatchCacheError } from "../error/errors.js";
import { protocol } from "./request.js";
import type { ApiResource, ApiSubresource, DiscoveryFailure } from "./types.js";

/** One group as a server tells of it. */
export interface Group {
  readonly name: string;
  /** The preferred one first. */
  readonly versions: readonly Version[];
}
/** What stands in one version: resources, or why they are not known. Neither in the classic form, where it is asked for. */
export interface Version {
  readonly version: string;
  readonly resources?: readonly Told[];
  readonly error?: WatchCacheError;
}
/** A resource, without what only its neighbours tell. */
export type Told = Omit<ApiResource, "name" | "group" | "version" | "preferred">;

type Bag = Readonly<Record<string, unknown>>;

/** The groups that `/api` or `/apis` tells of. @throws {WatchCacheError} `protocol`. */
export function readRoot(document: unknown, path: string): readonly Group[] {
  const { kind, versions, groups, items } = document as Bag;
  const at = new Reader(path);
  if (kind === "APIGroupDiscoveryList") return at.list(items, "items").map((group) => aggregated(group, at));
  if (kind === "APIVersions") return [{ name: "", versions: at.texts(versions, "versions").map((version) => ({ version })) }];
  if (kind === "APIGroupList") return at.list(groups, "groups").map((group) => classic(group, at));
  throw at.wrong("kind", "APIGroupDiscoveryList, APIVersions or APIGroupList", kind);
}

/** The resources of one version, in the classic form. @throws {WatchCacheError} `protocol`. */
export function readVersion(document: unknown, path: string): readonly Told[] {
  const at = new Reader(path);
  const { kind, resources } = document as Bag;
  if (kind !== "APIResourceList") throw at.wrong("kind", "APIResourceList", kind);
  const all = at.list(resources, "resources").map((resource) => ({
    name: at.text(resource["name"], "name"),
    kind: at.text(resource["kind"], "kind"),
    verbs: at.texts(resource["verbs"], "verbs"),
    told: resource,
  }));
  const whole = all.filter(({ name }) => !name.includes("/"));
  return whole.map(({ name, kind, verbs, told }) => ({
    resource: name,
    singular: at.text(told["singularName"] ?? "", "singularName"),
    kind,
    namespaced: at.flag(told["namespaced"] ?? false, "namespaced"),
    verbs,
    shortNames: at.texts(told["shortNames"], "shortNames"),
    categories: at.texts(told["categories"], "categories"),
    subresources: all
      .filter((part) => part.name.startsWith(`${name}/`))
      .map((part) => ({ name: part.name.slice(name.length + 1), kind: part.kind, verbs: part.verbs })),
  }));
}

function classic(group: Bag, at: Reader): Group {
  const versions = at.list(group["versions"], "versions").map(({ version }) => at.text(version, "version"));
  const preferred = (group["preferredVersion"] as Bag | undefined)?.["version"];
  const [first, rest] = [versions.filter((version) => version === preferred), versions.filter((version) => version !== preferred)];
  return { name: at.text(group["name"], "name"), versions: [...first, ...rest].map((version) => ({ version })) };
}

function aggregated(group: Bag, at: Reader): Group {
  const name = at.text(at.bag(group["metadata"] ?? {}, "metadata")["name"] ?? "", "metadata.name");
  const versions = at.list(group["versions"], "versions").map((told) => {
    const version = at.text(told["version"], "version");
    // The server behind the group does not answer, and what it said last, if anything, is not told by it.
    if (told["freshness"] === "Stale") {
      const error = new WatchCacheError("unavailable", `the server behind ${name}/${version} does not answer`, { retryable: true });
      return { version, error };
    }
    return { version, resources: at.list(told["resources"], "resources").map((resource) => aggregatedResource(resource, at)) };
  });
  return { name, versions };
}

function aggregatedResource(told: Bag, at: Reader): Told {
  const kindOf = (of: Bag) => at.text(at.bag(of["responseKind"] ?? {}, "responseKind")["kind"] ?? "", "responseKind.kind");
  const subresources: ApiSubresource[] = at.list(told["subresources"], "subresources").map((part) => ({
    name: at.text(part["subresource"], "subresource"),
    kind: kindOf(part),
    verbs: at.texts(part["verbs"], "verbs"),
  }));
  return {
    resource: at.text(told["resource"], "resource"),
    singular: at.text(told["singularResource"] ?? "", "singularResource"),
    kind: kindOf(told),
    namespaced: at.text(told["scope"], "scope") === "Namespaced",
    verbs: at.texts(told["verbs"], "verbs"),
    shortNames: at.texts(told["shortNames"], "shortNames"),
    categories: at.texts(told["categories"], "categories"),
    subresources,
  };
}

/** All that a server told, as one list with what it lacks. A resource is preferred in the first version that has it. */
export function joined(groups: readonly Group[]): { resources: ApiResource[]; failed: DiscoveryFailure[] } {
  const resources: ApiResource[] = [];
  const failed: DiscoveryFailure[] = [];
  for (const { name: group, versions } of groups) {
    const seen = new Set<string>();
    for (const { version, resources: told = [], error } of versions) {
      if (error !== undefined) failed.push(Object.freeze({ group, version, error }));
      for (const one of told) {
        const name = `${group && `${group}/`}${version}/${one.resource}`;
        resources.push(Object.freeze({ name, group, version, ...one, preferred: !seen.has(one.resource) }));
      }
      for (const { resource } of told) seen.add(resource);
    }
  }
  return { resources, failed };
}

/** Reads members of one document; what is none of the expected says where it is. */
class Reader {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  text(value: unknown, name: string): string {
    if (typeof value !== "string") throw this.wrong(name, "text", value);
    return value;
  }

  flag(value: unknown, name: string): boolean {
    if (typeof value !== "boolean") throw this.wrong(name, "true or false", value);
    return value;
  }

  bag(value: unknown, name: string): Bag {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw this.wrong(name, "an object", value);
    return value as Bag;
  }

  list(value: unknown, name: string): readonly Bag[] {
    return this.#array(value, name).map((item) => this.bag(item, name));
  }

  texts(value: unknown, name: string): readonly string[] {
    return Object.freeze(this.#array(value, name).map((item) => this.text(item, name)));
  }

  wrong(name: string, wanted: string, value: unknown): WatchCacheError {
    return protocol(this.#path, `its ${name} should be ${wanted}, and is ${JSON.stringify(value)?.slice(0, 40) ?? "missing"}`);
  }

  /** Go writes an empty list as null, or leaves it out. */
  #array(value: unknown, name: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.wrong(name, "an array", value);
    return value as unknown[];
  }
}
