import { useDebugValue, useMemo } from "react";
import type { WatchCacheError } from "../error/errors.js";
import type { Discovery } from "../types.js";
import { type CacheOptions, useCacheOf } from "./provider.js";
import { useAsked } from "./use-asked.js";

/** What a component knows of a server. The same object until something in it changes. */
export interface DiscoveryState {
  /** What the server has; undefined until it has told. */
  readonly discovery: Discovery | undefined;
  /** Why it has not. */
  readonly error: WatchCacheError | undefined;
  /** Asks the server anew, as after an error, or for a custom resource that is new. */
  readonly refresh: () => void;
}

/**
 * What the server has, as `cache.discover()` tells it. Kinds and short names wait for it: `useResource(discovery && { kind: "Deployment" })`.
 *
 * @throws {WatchCacheError} `invalid` where there is no cache. The nearest error boundary gets it.
 */
export function useDiscovery(options?: CacheOptions<any>): DiscoveryState {
  const cache = useCacheOf("useDiscovery", options);
  const { value, error, again } = useAsked(cache, "", (signal, refresh) => cache.discover({ signal, refresh }));
  const state = useMemo(() => Object.freeze({ discovery: value, error, refresh: again }), [value, error, again]);
  useDebugValue(state, ({ discovery, error }) => error?.code ?? (discovery ? `${discovery.resources.length} resources` : "loading"));
  return state;
}
