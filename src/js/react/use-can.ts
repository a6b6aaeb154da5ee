import { useDebugValue, useMemo } from "react";
import type { WatchCacheError } from "../error/errors.js";
import type { AccessQuestion } from "../types.js";
import { contentOf } from "./content.js";
import { type CacheOptions, useCacheOf } from "./provider.js";
import { useAsked } from "./use-asked.js";

/** What a component knows of a right. The same object until something in it changes. */
export interface AccessState {
  /** Whether the server would let it through; undefined until it has answered, and where it cannot. */
  readonly allowed: boolean | undefined;
  /** What the server says about it. */
  readonly reason: string | undefined;
  /** Why there is no answer. */
  readonly error: WatchCacheError | undefined;
}

/**
 * Whether the server would let a request through, as `cache.can` tells it: for a button that is shown or not. The question may be written in place: it
 * is compared by content. Components that ask the same within ten seconds share the answer. A question that is refused, such as a kind before
 * discovery, is told by `error`.
 *
 * @param question With `null` or `undefined` nothing is asked.
 * @throws {WatchCacheError} `invalid` where there is no cache. The nearest error boundary gets it.
 */
export function useCan(question: Omit<AccessQuestion, "signal"> | null | undefined, options?: CacheOptions<any>): AccessState {
  const cache = useCacheOf("useCan", options);
  const isAsked = question !== null && question !== undefined;
  const { value, error } = useAsked(isAsked ? cache : undefined, contentOf(question), (signal) => cache.can({ ...question!, signal }));
  const state = useMemo(() => Object.freeze({ allowed: value?.allowed, reason: value?.reason, error }), [value, error]);
  useDebugValue(state, ({ allowed, error }) => error?.code ?? allowed);
  return state;
}
