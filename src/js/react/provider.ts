import { createContext, createElement, type ReactElement, type ReactNode, useContext, useDebugValue, useMemo } from "react";
import { invalid, shown } from "../options/kinds.js";
import type {
  KindSpec,
  KubeObject,
  ObjectLike,
  PartialObjectMetadata,
  PolledSourceSpec,
  ResourceSpec,
  ResourceTypes,
  SourceSpec,
  TableRow,
  WatchCache,
} from "../types.js";
import type { Immutable, Mutable } from "../object/readonly.js";
import { originOf } from "../cache/origin.js";
import type { Resource } from "../resource/types.js";
import { checkCall } from "./check.js";
import { contentOf } from "./content.js";

const Context = createContext<WatchCache<any> | undefined>(undefined);
Context.displayName = "WatchCache";

/** Gives a cache to what is below it. Providers nest: the nearest one counts, so two clusters can stand in one tree. */
export function WatchCacheProvider({ cache, children }: { cache: WatchCache<any>; children?: ReactNode }): ReactElement {
  if (typeof cache?.resource !== "function")
    throw invalid(`WatchCacheProvider takes the cache that createWatchCache gives, as cache={cache}, not ${shown(cache)}`);
  return createElement(Context.Provider, { value: cache }, children);
}

/** Whose resources a hook uses. */
export interface CacheOptions<Index extends string = string> {
  /** Default: that of the nearest `WatchCacheProvider`. */
  cache?: WatchCache<Index> | undefined;
}

/**
 * The cache of the nearest provider.
 *
 * @throws {WatchCacheError} `invalid` where there is none.
 */
export function useWatchCache(): WatchCache {
  checkCall("useWatchCache");
  const cache = useContext(Context);
  useDebugValue(cache);
  return given(cache);
}

function given(cache: WatchCache<any> | undefined): WatchCache<any> {
  if (cache === undefined) throw invalid("there is no cache here: put a WatchCacheProvider above this component, or give { cache }");
  return cache;
}

/** The cache that a hook is given, or that of the nearest provider. @throws {WatchCacheError} `invalid` where there is none. */
export function useCacheOf(hook: string, options: CacheOptions<any> | undefined): WatchCache<any> {
  checkCall(hook);
  const nearest = useContext(Context);
  return given(options?.cache ?? nearest);
}

/** The same, for bindings that know of another one where there is no provider. */
export function useNearestCache(): WatchCache<any> | undefined {
  return useContext(Context);
}

/**
 * The resource that a spec names. Equal specs are compared by content, so the spec may be written in place. A `source` is
 * the same only by identity: it stands outside of components. The hook opens nothing: a view, a watch or
 * an object does.
 *
 * @param spec as `cache.resource` takes it. With `null` or `undefined` there is no resource, and hooks that are given none wait for one.
 * @throws {WatchCacheError} `invalid` for a spec that names nothing, and where there is no cache; `closed` after the cache was closed. The
 *   nearest error boundary gets it.
 */
export function useResource<
  Name extends keyof ResourceTypes,
  Access extends Immutable | Mutable = Immutable,
  Index extends string = string,
>(spec: Name, options?: CacheOptions<Index>): Resource<ResourceTypes[Name], Access, Index>;
/** The resource of a source, whose objects have the type that the source says. */
export function useResource<
  T extends ObjectLike = KubeObject,
  Access extends Immutable | Mutable = Immutable,
  Index extends string = string,
>(spec: SourceSpec<T> | PolledSourceSpec<T>, options?: CacheOptions<Index>): Resource<T, Access, Index>;
/** The same, where there is a name. */
export function useResource<
  Name extends keyof ResourceTypes,
  Access extends Immutable | Mutable = Immutable,
  Index extends string = string,
>(spec: Name | null | undefined, options?: CacheOptions<Index>): Resource<ResourceTypes[Name], Access, Index> | undefined;
/** The same, where there is a source. */
export function useResource<
  T extends ObjectLike = KubeObject,
  Access extends Immutable | Mutable = Immutable,
  Index extends string = string,
>(spec: SourceSpec<T> | PolledSourceSpec<T> | null | undefined, options?: CacheOptions<Index>): Resource<T, Access, Index> | undefined;
/** The rows of a resource as the server makes them, or the metadata of its objects. */
export function useResource<
  As extends "PartialObjectMetadata" | "Table",
  Access extends Immutable | Mutable = Immutable,
  Index extends string = string,
>(
  spec: (ResourceSpec | KindSpec) & { as: As },
  options?: CacheOptions<Index>,
): Resource<As extends "Table" ? TableRow : PartialObjectMetadata, Access, Index>;
/** The same, where there is a spec. */
export function useResource<
  As extends "PartialObjectMetadata" | "Table",
  Access extends Immutable | Mutable = Immutable,
  Index extends string = string,
>(
  spec: ((ResourceSpec | KindSpec) & { as: As }) | null | undefined,
  options?: CacheOptions<Index>,
): Resource<As extends "Table" ? TableRow : PartialObjectMetadata, Access, Index> | undefined;
/** The resource that a spec names, whose objects have the type that you give. */
export function useResource<
  T extends ObjectLike = KubeObject,
  Access extends Immutable | Mutable = Immutable,
  Index extends string = string,
>(spec: string | ResourceSpec | KindSpec | SourceSpec | PolledSourceSpec, options?: CacheOptions<Index>): Resource<T, Access, Index>;
/** The resource that a spec names, where there is a spec. */
export function useResource<
  T extends ObjectLike = KubeObject,
  Access extends Immutable | Mutable = Immutable,
  Index extends string = string,
>(
  spec: string | ResourceSpec | KindSpec | SourceSpec | PolledSourceSpec | null | undefined,
  options?: CacheOptions<Index>,
): Resource<T, Access, Index> | undefined;
export function useResource(
  spec: string | ResourceSpec | KindSpec | SourceSpec | PolledSourceSpec | null | undefined,
  options?: CacheOptions<any>,
): Resource<any, any, any> | undefined {
  checkCall("useResource");
  const nearest = useContext(Context);
  const cache = options?.cache ?? nearest;
  const resource = useMemo(() => (spec === null || spec === undefined ? undefined : given(cache).resource(spec)), [cache, contentOf(spec)]);
  useDebugValue(resource, (resource) => resource && originOf(resource)?.name);
  return resource;
}
