import type { WatchCacheError } from "../error/errors.js";
import type { AbortSignalLike } from "../host/types.js";
import type { Path } from "../object/path.js";
import type { Immutable, Read } from "../object/readonly.js";

/** Which objects a view shows, and in what order. Views of equal specs share their work: make one wherever you need it. */
export interface ViewSpec<T, Access = Immutable> {
  /** Only these namespaces. */
  namespaces?: readonly string[] | undefined;
  /** As in a Kubernetes list request: `app=web,tier in (a,b)`. Evaluated on the stored bytes: nothing is decoded for it. */
  labelSelector?: string | undefined;
  /** Any scalar path may be named: `status.phase!=Succeeded,spec.nodeName=node-1`. Evaluated on the stored bytes. */
  fieldSelector?: string | undefined;
  /** A filter in JavaScript. It decodes each object that the selectors let through, so prefer those. Keep the same function: another one is another view. It answers at once: a promise is `invalid`, which the snapshot tells as `error`. */
  where?: ((object: Read<T, Access>) => boolean) | undefined;
  /** The order of the rows; equal rows, and all without it, follow their keys. */
  orderBy?: readonly ViewOrder[] | undefined;
  /** The rows that a snapshot gives: only these are decoded. Default: all. Each handle has its own. */
  window?: ViewWindow | undefined;
  /** Counts the rows by the value of this field. */
  groupBy?: Path | undefined;
}

/** One level of an order. */
export interface ViewOrder {
  /** Of the values that are compared. */
  path: Path;
  /** The greatest first; what is missing still comes last. Default false. */
  descending?: boolean | undefined;
  /**
   * How values compare. Values that are not of the kind come last, `descending` as well.
   * - `text`: by Unicode code points. The default.
   * - `natural`: as text, but digits in it as numbers: `web-2` before `web-10`
   * - `number`: JSON numbers, and texts that are numbers
   * - `quantity`: Kubernetes quantities: `500m` before `1`, `1Gi` after `1G`
   * - `time`: RFC 3339 times
   */
  as?: "text" | "natural" | "number" | "quantity" | "time" | undefined;
}

/** Rows from `offset`, counted from 0, and at most `limit` of them. */
export interface ViewWindow {
  /** The first row. */
  offset: number;
  /** The most rows. */
  limit: number;
}

/** What a render may show. Frozen, and all of one state. */
export interface ViewSnapshot<R, Access = Immutable> {
  /** The window's rows. The same array until one of them changes, and the same object for a row until its object changes. */
  readonly rows: readonly Read<R, Access>[];
  /** Their keys, `"namespace/name"` or `"name"`. */
  readonly keys: readonly string[];
  /** The number of the first row in `rows`, counted from 0 over all rows. */
  readonly offset: number;
  /** How many rows there are, in the window and outside. Not final before `loaded`. */
  readonly total: number;
  /** Rows by value of `groupBy`, in the order of the values; empty without it. The same map until a count changes. */
  readonly counts: ReadonlyMap<string, number>;
  /** The list is whole, and every object was asked. Until then rows show only where nothing orders them. */
  readonly loaded: boolean;
  /** Something is held, but changes are not arriving: see the resource's `status`. */
  readonly stale: boolean;
  /** Why nothing more comes before somebody acts: the spec was refused, the server says no, the resource was closed. The rows stay. */
  readonly error?: WatchCacheError;
}

/**
 * An observer of a resource: a live, filtered, ordered, windowed and counted list.
 *
 * It costs nothing before it is read or subscribed to, and ends `linger` after its last subscriber or read. A later read or subscription
 * goes on. Its methods may be taken off it: `const { subscribe, getSnapshot } = view`.
 */
export interface View<R, Access = Immutable> {
  /**
   * Calls back whenever the snapshot has changed, and only then. All views that one flush changed have their new snapshots before the first
   * callback.
   *
   * @returns a function that ends the subscription.
   */
  subscribe(onChange: () => void, options?: { signal?: AbortSignalLike | undefined }): () => void;
  /**
   * The snapshot: the same object until subscribers are told of another. Never throws. It opens the resource, except where a server renders
   * (no `document`, and no worker): there `subscribe`, `watch`, `synced` and informers do.
   */
  getSnapshot(): ViewSnapshot<R, Access>;
  /** Always the same empty snapshot, and opens nothing: what a server renders, and the first render that takes it over. */
  getServerSnapshot(): ViewSnapshot<R, Access>;
  /** `getSnapshot().rows` */
  readonly rows: readonly Read<R, Access>[];
  /** `getSnapshot().total` */
  readonly total: number;
  /** `getSnapshot().counts` */
  readonly counts: ReadonlyMap<string, number>;
  /** The row number of an object in the snapshot, counted from 0 over all rows, not only the window; -1 when it is no row. */
  indexOf(key: string): number;
  /**
   * The keys of all rows, in order, not of the window's alone: for "select all" and exports. Waits until the view is loaded.
   *
   * @throws {WatchCacheError} the snapshot's `error`; `closed` when the view is closed meanwhile; `unavailable` while the resource is paused
   *   and nothing of it is held.
   */
  keys(): Promise<readonly string[]>;
  /** Moves this handle's window. Subscribers hear of the new rows in the next microtask. @throws {WatchCacheError} `invalid`. */
  setWindow(window: ViewWindow): void;
  /** Ends its subscriptions and lets go of the view at once, without `linger`. Not final: a later read or subscription goes on. */
  close(): void;
}
