/**
 * `watchcache/compat/client-node`: `makeInformer`, `ListWatch` and `Watch` as programs know them from `@kubernetes/client-node`, over the
 * streams of a `WatchCache`. The signatures are those of its versions 1.4 to 2.0, but:
 *
 * - Where a `KubeConfig` stood stands a `WatchCache`, or the options of one. The same options object gives the same cache.
 * - A path names the collection of a resource, `/api/v1/namespaces/default/pods` or `/apis/apps/v1/deployments`, which is checked at once.
 * - `listFn` may be left out, and is never called: the cache lists by itself, in pages, with the selectors given to `makeInformer`.
 * - `makeInformer` takes a field selector, too.
 *
 * What they do otherwise than the original, on purpose:
 *
 * 1. An informer recovers by itself from broken connections and from 429, 5xx, 401 and 403, with backoff and Retry-After. The original
 *    ends with `error` until someone calls `start`. Here `error` tells of what failed and is tried again: not of 410, and not of a connection that
 *    is resumed at once. `start` does nothing while it runs, so restarting five seconds after an `error`, as the original's documentation
 *    has it, does no harm.
 * 2. `stop` emits no `error`, is heeded at any moment, and nothing is called after it. A start after it opens one watch.
 * 3. After a restart callbacks hear of what differs from what they were told before, whether the server still has the version or not.
 *    What came and went meanwhile is not told.
 * 4. `connect` tells that the watch stands, when it first does and after each interruption; not that it will be tried.
 * 5. What a callback throws or rejects with is reported (`reportError`, or the cache's logger), and the others are called all the same.
 * 6. The store is never a mixture of two lists, and may be ahead of what callbacks have been told. `list` gives a new array in the order of
 *    the keys, of any length. Its objects are plain JSON as the server sent it, without `metadata.managedFields` unless the cache's option
 *    `strip` keeps them. They are shared: copy what you change.
 * 7. `start` resolves when the first list was told, or with the first `error`.
 * 8. A `Watch` resumes by itself, and after 410 goes on with the difference. Its `done` is called once: at `timeoutSeconds`, after an abort
 *    (with the `AbortError`), and when the server refuses for good.
 * 9. Errors are `WatchCacheError`s with a `statusCode`; their `code` is a word.
 * 10. Streams are shared with everybody who uses the same cache, and watches see bookmarks, so that quiet resources do not age into 410.
 *
 * @module
 */
import { createWatchCache } from "../index.js";
import type { WatchCache, WatchCacheOptions } from "../types.js";
import { cacheOf } from "./config.js";
import { informersOf, type MakeInformer } from "./make-informer.js";
import { WatchOver } from "./watch.js";

export * from "./entry.js";

/** Watches by path, on a cache or the options of one. */
export class Watch extends WatchOver {
  /** @param config a cache, or options for one: the same object gives the same cache */
  constructor(config: WatchCache | WatchCacheOptions) {
    super(cacheOf(config, createWatchCache));
  }
}

/** An informer of a collection; see `MakeInformer`. */
export const makeInformer: MakeInformer = /* @__PURE__ */ informersOf(Watch);
