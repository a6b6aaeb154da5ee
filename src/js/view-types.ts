import type { Path } from "./types.js";

/** Which objects a view shows, and in what order. */
export interface ViewSpec<T> {
  /** Only these namespaces. */
  namespaces?: readonly string[];
  labelSelector?: string;
  /** Any scalar path may be named. Evaluated on the stored bytes: nothing is decoded for it. */
  fieldSelector?: string;
  /** A filter in JavaScript. It decodes each object that the selectors let through, so prefer those. */
  where?: (object: T) => boolean;
  /** The order of the rows; equal rows, and all without it, follow their keys. */
  orderBy?: readonly { path: Path; descending?: boolean; as?: "text" | "natural" | "number" | "quantity" | "time" }[];
  /** The rows that `getSnapshot` gives: only these are decoded. Default: all. */
  window?: { offset: number; limit: number };
  /** Counts the rows by the value of this field. */
  groupBy?: Path;
}

/** A live list. Its snapshots change only with a flush (see `WatchCacheOptions.flush`), so they suit `useSyncExternalStore`. */
export interface View<R> {
  /**
   * Calls back whenever the rows, `total` or `counts` have changed.
   *
   * @returns a function that ends the subscription.
   */
  subscribe(onChange: () => void, options?: { signal?: AbortSignal }): () => void;
  /** The window's rows. The same array until they change, and the same object for a row until its object changes. */
  getSnapshot(): readonly R[];
  /** Always empty: a server renders no rows. */
  getServerSnapshot(): readonly R[];
  /** Rows that pass the filter, in the window and outside. */
  readonly total: number;
  /** Rows by value of `groupBy`; empty without it. The same map until a count changes. */
  readonly counts: ReadonlyMap<string, number>;
  /** The row number of an object, counted from 0 over all rows, not only the window; -1 when it is no row. */
  indexOf(key: string): number;
  /** Moves the window. Subscribers hear of the new rows in the next microtask. */
  setWindow(window: { offset: number; limit: number }): void;
  /** Ends the view and its subscriptions. The last snapshot stays readable. */
  close(): void;
}
