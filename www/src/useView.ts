import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { KubeObject, Resource, ResourceStatus, View, ViewSpec, WatchCacheError } from "watchcache";

/** Rows of a view, and where in the whole order they stand. */
export interface Rows<T> {
  view: View<T> | undefined;
  rows: readonly T[];
  offset: number;
  total: number;
  counts: ReadonlyMap<string, number>;
  /** Why the latest spec was refused. The rows are then those of the last good spec. */
  error: WatchCacheError | undefined;
  setWindow(window: { offset: number; limit: number }): void;
}

const NO_COUNTS: ReadonlyMap<string, number> = new Map();

/**
 * A live view for a component. A new spec opens a new view and closes the old one; a spec that is refused keeps the old one, so rows
 * never vanish over a typo.
 */
export function useView<T extends KubeObject>(resource: Resource<T>, spec: ViewSpec<T>): Rows<T> {
  const [view, setView] = useState<View<T>>();
  const [error, setError] = useState<WatchCacheError>();
  const window = useRef({ offset: 0, limit: 0 });
  const offset = useRef(0);
  const identity = JSON.stringify(spec);

  const held = useRef<View<T>>(undefined);
  useEffect(() => {
    try {
      const opened = resource.view(spec);
      held.current?.close();
      held.current = opened;
      window.current = spec.window ?? { offset: 0, limit: 0 };
      offset.current = window.current.offset;
      setView(opened);
      setError(undefined);
    } catch (refused) {
      setError(refused as WatchCacheError);
    }
    // The spec is compared by its content.
  }, [resource, identity]);
  useEffect(() => () => held.current?.close(), []);

  // A snapshot is the same array until its rows change, but total and counts may change beside it: so count the changes.
  const changes = useRef(0);
  const subscribe = useCallback(
    (notify: () => void) =>
      view?.subscribe(() => {
        changes.current++;
        // A moved window comes with the first change after `setWindow`.
        offset.current = window.current.offset;
        notify();
      }) ?? (() => {}),
    [view],
  );
  useSyncExternalStore(subscribe, () => changes.current);

  const setWindow = useCallback(
    (wanted: { offset: number; limit: number }) => {
      if (!view || (wanted.offset === window.current.offset && wanted.limit === window.current.limit)) return;
      window.current = wanted;
      view.setWindow(wanted);
    },
    [view],
  );
  return {
    view,
    rows: view?.getSnapshot() ?? [],
    offset: offset.current,
    total: view?.total ?? 0,
    counts: view?.counts ?? NO_COUNTS,
    error,
    setWindow,
  };
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
