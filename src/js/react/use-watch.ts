import { useDebugValue, useEffect, useMemo, useState } from "react";
import { closedError, toError, type WatchCacheError } from "../error/errors.js";
import { callback } from "../options/kinds.js";
import type { Resource } from "../resource/types.js";
import type { ResourceStatus } from "../status/types.js";
import type { WatchEvent, WatchOptions } from "../watch/types.js";
import { checkResource } from "./check.js";
import { contentOf } from "./content.js";
import { originOf } from "../cache/origin.js";
import { useNewest } from "./newest.js";
import type { MaybeResource } from "./types.js";
import { useOfStatus } from "./use-status.js";

/** How a watch of a component goes. */
export interface WatchState {
  /** Why no event comes: the options were refused, or the server said no. Absent while it runs. */
  readonly error?: WatchCacheError;
}

const RUNS: WatchState = Object.freeze({});

/**
 * Calls a handler with each event while the component is mounted, with bookmarks only where they are asked for. The handler may be written in
 * place: the newest one is called, and another one does not begin the watch anew.
 *
 * A relist or a slow handler does not end it: `onOverflow` is `"resync"` where nothing else is said. Where a watch ends all the same, as after
 * `timeoutSeconds`, another one goes on from its last version. Where the server says no, another one begins once the resource is live again.
 * Such a one begins as the options say: without a version, with an ADDED for each object.
 *
 * @param handler where it returns a promise, the next event waits for it. What it throws is reported, and the next event comes.
 * @param options as `Resource.watch` takes them, without `signal`. They may be written in place: they are compared by content.
 * @throws {WatchCacheError} `invalid` for a handler that is no function.
 */
export function useWatch<T, Access>(
  resource: MaybeResource<T, Access>,
  handler: (event: WatchEvent<T, Access>) => void | PromiseLike<unknown>,
  options?: Omit<WatchOptions, "signal">,
): WatchState {
  checkResource(resource, "useWatch");
  callback(handler, "handler");
  const newest = useNewest(handler);
  const [failed, setFailed] = useState<WatchCacheError>();
  const content = contentOf(options);
  useEffect(() => {
    setFailed(undefined);
    if (resource === null || resource === undefined) return undefined;
    const abort = new AbortController();
    void follow(resource, (event) => newest.current?.(event), options, abort.signal, setFailed);
    return () => abort.abort();
  }, [resource, content]);
  const refusal = useOfStatus(resource, refusalOf);
  const error = failed ?? refusal;
  const state = useMemo(() => (error === undefined ? RUNS : Object.freeze({ error })), [error]);
  useDebugValue(state, ({ error }) => (error === undefined ? "watching" : error.code));
  return state;
}

/** What the server says, where it says no: a watch waits then, because somebody may resume the resource. */
function refusalOf(status: ResourceStatus): WatchCacheError | undefined {
  return status.phase === "failed" || status.phase === "needs-auth" ? status.error : undefined;
}

type From = Pick<WatchOptions, "resourceVersion" | "resourceVersionMatch" | "sendInitialEvents">;

/** Where a watch begins that goes on from a version, or, without one, from nothing. */
const from = (resourceVersion?: string): From => ({ resourceVersion, resourceVersionMatch: undefined, sendInitialEvents: undefined });

async function follow<T, Access>(
  resource: Resource<T, Access, any>,
  handler: (event: WatchEvent<T, Access>) => void | PromiseLike<unknown>,
  options: WatchOptions | undefined,
  signal: AbortSignal,
  tell: (error?: WatchCacheError) => void,
): Promise<void> {
  let start: From | undefined;
  let isHeard = true;
  while (!signal.aborted) {
    try {
      const watcher = resource.watch({ onOverflow: "resync", ...options, ...start, signal });
      const heard = (event: WatchEvent<T, Access>) => {
        if (event.type !== "ERROR") isHeard = true;
        // The one that begins a difference comes unasked.
        return event.type === "BOOKMARK" && options?.allowWatchBookmarks !== true ? undefined : handler(event);
      };
      await watcher.forEach(heard);
      const { reason, lastResourceVersion } = await watcher.ended;
      if (reason === "stopped") return;
      if (reason === "closed") return tell(closedError(originOf(resource)?.name));
      start = from(lastResourceVersion);
      if (reason !== "error") continue;
      // Its version is gone: everything is told anew. What ends again before it brought anything waits.
      start = from();
      if (!isHeard && !(await isLive(resource, signal))) return;
      isHeard = false;
    } catch (thrown) {
      if (signal.aborted) return;
      const error = toError(thrown, originOf(resource)?.name);
      tell(error);
      if (error.code === "invalid" || error.code === "closed" || !(await isLive(resource, signal))) return;
      tell();
    }
  }
}

/** Waits until the status tells that a resource is live; false where that never comes, or nobody wants to know any more. */
function isLive(resource: Resource<any, any, any>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (live: boolean) => {
      resource.removeEventListener("status", look);
      signal.removeEventListener("abort", stop);
      resolve(live);
    };
    const stop = () => end(false);
    const look = () => {
      const { phase } = resource.status;
      if (phase === "live" || phase === "closed") end(phase === "live");
    };
    resource.addEventListener("status", look);
    signal.addEventListener("abort", stop);
  });
}
