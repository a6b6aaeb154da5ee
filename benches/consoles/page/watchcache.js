// The package: `useView`, windowed by what the virtual list shows. All that it offers for a table is used here and nowhere else.
import { createElement, useCallback } from "react";
import { createWatchCache } from "watchcache";
import { useResource, useView, WatchCacheProvider } from "watchcache/react";
import { FIELDS, podOf } from "../../page/table/fields.js";
import { COLUMNS, HIDDEN, ROWS } from "../../page/table/columns.js";
import { idle } from "../../page/upstream.js";

const SPEC = {
  labelSelector: `group!=${HIDDEN}`,
  orderBy: [{ path: "metadata.creationTimestamp", as: "time", descending: true }, { path: "metadata.name" }],
  window: { offset: 0, limit: ROWS },
  select: FIELDS,
};

/** @param {boolean} [orderedBefore] whether another view has the order when the list comes: its fields are then read as the objects come */
export function watchcache(orderedBefore = false) {
  const cache = createWatchCache({ pageSize: 500, linger: 3_600_000, idleTimeout: 3_600_000 });
  const resource = cache.resource("pods");
  return {
    columns: COLUMNS.map(({ title, cell }) => ({ title, cell: (row) => cell(podOf(row)) })),
    keyOf: ({ key }) => key,
    Around: ({ children }) => createElement(WatchCacheProvider, { cache }, children),
    async hold() {
      if (orderedBefore) resource.view({ orderBy: SPEC.orderBy, window: { offset: 0, limit: 0 } }).subscribe(() => {});
      await resource.synced();
      await idle(cache);
    },
    rest: () => idle(cache),
    useRows() {
      const { rows, offset, total, setWindow } = useView(useResource("pods"), SPEC);
      const show = useCallback((first, last) => setWindow({ offset: first, limit: last - first + 1 }), [setWindow]);
      return { total, rowAt: (index) => rows[index - offset], show };
    },
    reached: ({ version }) => Number(resource.resourceVersion) >= version,
    memoryBytes: () => cache.stats().memoryBytes,
    close: () => cache.close(),
  };
}
