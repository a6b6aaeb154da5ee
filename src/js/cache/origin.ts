// Where a resource comes from, for bindings: they name it in messages, and open a narrower stream beside it. It is no part of the public shape,
// because a resource is what it holds and not where that is from.
import type { WatchCache } from "./types.js";
import type { ResourceSpec } from "../upstream/types.js";

/** The cache that a resource is of, and what names it there. */
export interface Origin {
  readonly cache: WatchCache;
  /** Such as `pods`. */
  readonly name: string;
  /** None for a custom source, which nothing can narrow. */
  readonly spec: ResourceSpec | undefined;
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
