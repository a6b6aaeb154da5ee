// Where a resource comes from, for bindings: they name it in messages, and open a narrower stream beside it. It is no part of the public shape,
// because a resource is what it holds and not where that is from.
import { self } from "../language/bound.js";
import type { Resource, ResourceStats } from "../resource/types.js";
import type { WatchCache } from "./types.js";
import type { ResourceSpec } from "../upstream/types.js";
import type { Phase } from "../wire/numbers.js";

/** The cache that a resource is of, and what names it there. */
export interface Origin {
  readonly cache: WatchCache;
  /** Such as `pods`. */
  readonly name: string;
  /** None for a custom source, which nothing can narrow. */
  readonly spec: ResourceSpec | undefined;
  /** What it does at this moment. Its status tells that a microtask later. */
  readonly phase: () => Phase;
}

const origins = new WeakMap<object, Origin>();

/** Called once, by the cache that makes it. */
export function noteOrigin(resource: object, origin: Origin): void {
  origins.set(resource, origin);
}

/** Of a resource that is none of this copy of the package: undefined. */
export function originOf(resource: object): Origin | undefined {
  return origins.get(resource);
}

/** A resource that is open, for who looks at all of them. */
export interface OpenResource {
  readonly resource: Resource<any>;
  /** Its name, with what narrows it. */
  readonly label: string;
  readonly stats: ResourceStats;
}

const listings = new WeakMap<object, () => readonly OpenResource[]>();

/** Called once, by each cache. */
export function noteListing(cache: object, list: () => readonly OpenResource[]): void {
  listings.set(cache, list);
}

/** What lists the open resources of a cache; undefined for what is no cache of this copy of the package. */
export function resourcesOf(cache: unknown): (() => readonly OpenResource[]) | undefined {
  return typeof cache === "object" && cache !== null ? listings.get(self(cache)) : undefined;
}
