import { useEffect, useMemo, useState } from "react";
import type { List, WatchCacheError } from "watchcache";
import { BY_KEY, orderOf, type Sort } from "./columns";
import { compareVersions } from "./format";
import type { PodHistory } from "./history";
import { fieldsOf, type Pod, type PodRow } from "./pod";
import { sorted } from "./sorted";

/** The most pods that a list of the past has: it holds nothing up, however large the cluster is. */
export const MOST = 500;

/** Which pods, and in which order, as for the live table. */
export interface Wanted {
  label: string;
  field: string;
  namespace: string | undefined;
  sort: Sort;
  /** Whether the cache can answer. While it lists anew it cannot, and the server is not to be asked. */
  ready: boolean;
}

/** The rows as they were. */
export interface Past {
  rows: readonly PodRow[];
  offset: number;
  /** Rows that there are here; `more` says that there were others behind them. */
  total: number;
  more: boolean;
  /** The order that the rows have: where there are more, that of their keys. */
  sort: Sort;
  indexOf(key: string): number;
  setWindow(window: { offset: number; limit: number }): void;
  /** The version that is shown: that of the last list that came. */
  version: string;
  /** When that was, in ms since the epoch, as far as it is known. */
  at: number | undefined;
  error: WatchCacheError | undefined;
}

/**
 * The list at a version, from the event window; undefined without one. Where another version is wanted before an answer has come, the newest
 * wish wins, and no more than one is asked a frame. Only the rows of the window are decoded, or all that are to be sorted.
 */
export function usePast(
  history: PodHistory,
  version: string | undefined,
  { label, field, namespace, sort, ready }: Wanted,
): Past | undefined {
  const [list, setList] = useState<List<Pod>>();
  const [error, setError] = useState<WatchCacheError>();
  const [window, setWindow] = useState({ offset: 0, limit: 64 });

  useEffect(() => {
    if (version === undefined) return setList(undefined);
    // The server would have to be asked for it.
    if (!ready || history.held[0] === undefined || compareVersions(version, history.held[0].version) < 0) return;
    const abort = new AbortController();
    const { signal } = abort;
    const exactly = { resourceVersion: version, resourceVersionMatch: "Exact", limit: MOST, signal } as const;
    const frame = requestAnimationFrame(() => {
      history.pods.list({ ...exactly, labelSelector: label, fieldSelector: field, namespace }).then(
        (answer) => {
          if (signal.aborted) return;
          setList(answer);
          setError(undefined);
        },
        // A selector that makes no sense is told under its box.
        (reason) => signal.aborted || reason.code === "invalid" || setError(reason),
      );
    });
    return () => {
      cancelAnimationFrame(frame);
      abort.abort();
    };
  }, [history, version, label, field, namespace, ready]);

  const more = list?.continue !== undefined;
  const order = more ? BY_KEY : sort;
  const ordered = useMemo(
    () => list && (order.column === BY_KEY.column && !order.descending ? list.items : sorted(list.items, orderOf(order))),
    [list, order],
  );
  const { offset, limit } = window;
  const rows = useMemo(() => ordered?.slice(offset, offset + limit).map(fieldsOf) ?? [], [ordered, offset, limit]);
  if (version === undefined || !list || !ordered) return undefined;
  return {
    rows,
    offset,
    total: ordered.length,
    more,
    sort: order,
    indexOf: (key) => offset + rows.findIndex((row) => row.key === key),
    setWindow,
    version: list.resourceVersion,
    at: history.timeOf(list.resourceVersion),
    error,
  };
}
