import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { Resource, ResourceStatus, View, ViewSnapshot, ViewWindow, WatchCacheError } from "watchcache";

/** What a component shows of a view. */
export interface Rows<T> extends ViewSnapshot<T> {
  /** The view that the rows are of. */
  view: View<T>;
  setWindow(window: ViewWindow): void;
}

const nothing = () => () => {};

/**
 * A live view for a component. Another identity is a new view; until that is loaded the rows before it stay. A refused one leaves the last good
 * one in force, which goes on loading and living, so rows never vanish over a typo. Nothing needs to be closed: a view that nobody reads ends by
 * itself.
 */
export function useView<T>(make: () => View<T>, identity: string): Rows<T> {
  const [opened, refused] = useMemo(() => open(make), [identity]);
  // Of the last good spec, whether or not it was loaded before the typo came.
  const [accepted, setAccepted] = useState(opened);
  if (opened !== undefined && opened !== accepted) setAccepted(opened);
  const view = opened ?? accepted;
  const snapshot = useSyncExternalStore(view?.subscribe ?? nothing, () => view?.getSnapshot());

  const [shown, setShown] = useState<{ view: View<T>; snapshot: ViewSnapshot<T> }>();
  const usable = view !== undefined && snapshot !== undefined && snapshot.error?.code !== "invalid";
  const fresh = usable && (snapshot.loaded || shown === undefined || shown.view === view);
  if (fresh && shown?.snapshot !== snapshot) setShown({ view, snapshot });

  const current = fresh ? { view, snapshot } : shown;
  const target = current?.view;
  const setWindow = useCallback((window: ViewWindow) => target?.setWindow(window), [target]);
  const error: WatchCacheError | undefined = refused ?? snapshot?.error;
  return { ...EMPTY, ...current?.snapshot, view: target, error, setWindow } as Rows<T>;
}

const EMPTY = { rows: [], keys: [], offset: 0, total: 0, counts: new Map<string, number>(), loaded: false, stale: false };

function open<T>(make: () => View<T>): [View<T>, undefined] | [undefined, WatchCacheError] {
  try {
    return [make(), undefined];
  } catch (refused) {
    return [undefined, refused as WatchCacheError];
  }
}

/** The resource's status, live. */
export function useStatus<T>(resource: Resource<T>): ResourceStatus {
  const subscribe = useCallback(
    (notify: () => void) => {
      resource.addEventListener("status", notify);
      return () => resource.removeEventListener("status", notify);
    },
    [resource],
  );
  return useSyncExternalStore(subscribe, () => resource.status);
}

/** The time, again every `everyMs`: for ages, countdowns and meters. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
