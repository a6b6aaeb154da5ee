import type { WatchCacheError } from "../error/errors.js";
import type { AbortSignalLike } from "../host/types.js";
import type { ObjectLike } from "../object/metadata.js";
import type { Path } from "../object/path.js";
import type { Immutable, Read } from "../object/readonly.js";

/**
 * What belongs to an object, live: rows come and go as owners and labels change. Evaluated on the stored bytes. `null` finds nothing: give it while
 * the object is not known yet, because an option that is `undefined` is left out.
 */
export interface RelationOptions {
  /**
   * Only what has this owner among its `ownerReferences`: the owner, or its uid. What an owner of one namespace owns lies in that namespace.
   * An owner of the cluster may own anything.
   */
  childrenOf?: string | ObjectLike | null | undefined;
  /**
   * Only what this selects, in its own namespace. It is an object with a `spec.selector`, such as a Service or a Deployment, or with a `spec.podSelector`. Or
   * it is a `LabelSelector` alone, which selects in all namespaces. As in Kubernetes an empty `LabelSelector` selects everything, and an
   * object without a selector nothing, such as a Service without one.
   */
  selectedBy?: ObjectLike | LabelSelector | null | undefined;
  /** Of events: only those about this object, or about the object of this uid. */
  eventsOf?: string | ObjectLike | null | undefined;
}

/** Kubernetes' `metav1.LabelSelector`: all of it has to hold. */
export interface LabelSelector {
  /** Labels with their values. */
  readonly matchLabels?: { readonly [key: string]: string | undefined } | null | undefined;
  /** Requirements on labels. */
  readonly matchExpressions?: readonly LabelRequirement[] | null | undefined;
}

/** Kubernetes' `metav1.LabelSelectorRequirement`. */
export interface LabelRequirement {
  /** The label's key. */
  readonly key: string;
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`. */
  readonly operator: string;
  /** For `In` and `NotIn` at least one. */
  readonly values?: readonly string[] | null | undefined;
}

/** Which objects a view shows, and in what order. Views of equal specs share their work: make one wherever you need it. */
export interface ViewSpec<T, Access = Immutable> extends RelationOptions {
  /** Only these namespaces. */
  namespaces?: readonly string[] | undefined;
  /** As in a Kubernetes list request: `app=web,tier in (a,b)`. Evaluated on the stored bytes: nothing is decoded for it. */
  labelSelector?: string | undefined;
  /** Any scalar path may be named: `status.phase!=Succeeded,spec.nodeName=node-1`. Evaluated on the stored bytes. */
  fieldSelector?: string | undefined;
  /** What a filter box says: a row has each word of it. Text alone is looked for in `namespace/name`. Without a word every object passes. {@link View.setSearch} changes it. */
  search?: ViewSearch | string | null | undefined;
  /** A filter in JavaScript. It decodes each object that the selectors let through, so prefer those. Keep the same function: another one is another view. It answers at once: a promise is `invalid`, which the snapshot tells as `error`. */
  where?: ((object: Read<T, Access>) => boolean) | undefined;
  /** The order of the rows; equal rows, and all without it, follow their keys. */
  orderBy?: readonly ViewOrder[] | undefined;
  /** The rows that a snapshot gives: only these are decoded. Default: all. Each handle has its own. */
  window?: ViewWindow | undefined;
  /** Counts the rows by the value of this field, or of a derived column. */
  groupBy?: Path | undefined;
  /**
   * Columns that functions compute, by name. Such a name stands where `orderBy`, `groupBy` and `select` take a path; a path of the same text
   * is written `$.name` there. Keep the same functions: others are another view.
   */
  derive?: { readonly [name: string]: DerivedColumn } | undefined;
  /** Selected fields make other rows: see {@link SelectedViewSpec}. */
  select?: undefined;
}

/** What a derived column may have as a value; `undefined` and `null` are none. */
export type DerivedValue = string | number | boolean | null | undefined;

/** A column that a function computes from some fields of each object, such as the READY and STATUS of kubectl. */
export interface DerivedColumn<Value extends DerivedValue = DerivedValue> {
  /**
   * The fields that the function reads. It is called for an object only where one of these is another than when it was called last. What it gave
   * outlives a search, and goes to other views of the same columns that are made meanwhile. A view that begins anew without such a one calls it for all
   * its objects: after `linger` without readers.
   */
  paths: readonly Path[];
  /**
   * The value. Fields are as `JSON.parse` gives them, in the order of the paths; `undefined` where there is none.
   *
   * Where rows are ordered or grouped by it, it is called for every object that passes, a few milliseconds at a time. The view is not loaded
   * before that is done. Where rows only show it, it is called for the rows of the window, in the same way. The snapshot stays as it is before
   * that is done.
   *
   * It answers at once, and by its fields alone. Where it throws, there is no value, and that is reported once, as `invalid`. So is
   * what is no {@link DerivedValue}, such as a promise, or no finite number. While it has given nothing but promises, the snapshot's `error` tells
   * that, too.
   */
  value(fields: readonly any[]): Value;
}

/** A row of selected fields of which some are derived: these are what the functions give. */
export type DerivedRow<
  Select extends { readonly [name: string]: Path },
  Values extends { readonly [name: string]: DerivedValue },
> = SelectedRow<{ [Name in keyof Select]: Select[Name] extends keyof Values ? Values[Select[Name]] : unknown }>;

/** What a filter box says. Evaluated on the stored bytes: nothing is decoded for it. */
export interface ViewSearch {
  /**
   * Words, with whitespace between them. Each has to stand in one of the texts that are searched, anywhere in it. Letters of ASCII match in
   * either case, all others as they are written.
   */
  text: string;
  /**
   * The texts that are searched; `[]` is none. Default: `namespace/name`, as keys are written.
   * - `metadata.namespace`, `metadata.name`: both together are `namespace/name`
   * - `metadata.labels`: each label as `key=value`
   * - any other path: the scalar there. An object or an array is no text.
   *
   * Names and labels are at hand. Another path is read from each object once, when it is first asked for.
   */
  paths?: readonly Path[] | undefined;
}

/** A view whose rows show some fields of their objects. */
export interface SelectedViewSpec<T, Fields extends object, Access = Immutable> extends Omit<ViewSpec<T, Access>, "select"> {
  /**
   * What rows show in place of whole objects: a path for each field, or the name of a derived column. No object is decoded, many rows cross at once, and a row is the same
   * object until one of its fields differs. Subscribers are told of nothing else. No field is called `key`: that is the object's. An array
   * of paths is `invalid`: it names no fields.
   */
  select: { readonly [Name in keyof Fields]-?: Path } & FieldNames;
}

/** What `select` is not: a list, or fields of which one is called `key`. */
export interface FieldNames {
  /** Every row has its object's key under this name. */
  readonly key?: never;
  /** An array names no fields. */
  readonly [Symbol.iterator]?: never;
}

/**
 * A row of selected fields, frozen. A field is what `JSON.parse` gives of the value at its path, and `undefined` where there is none. What
 * the fields are is yours to say: `pods.view<{ phase: string; node?: string }>({ select: { phase: "status.phase", node: "spec.nodeName" } })`.
 */
export type SelectedRow<Fields extends object> = { readonly [Name in keyof Fields]: Fields[Name] } & {
  /** `"namespace/name"` or `"name"`. */
  readonly key: string;
};

/** One level of an order. */
export interface ViewOrder {
  /** Of the values that are compared; or the name of a derived column. */
  path: Path;
  /** The greatest first; what is missing still comes last. Default false. */
  descending?: boolean | undefined;
  /**
   * How values compare. Values that are not of the kind come last, `descending` as well. Without it derived columns compare numbers as
   * numbers, and texts behind these as `text`.
   * - `text`: by Unicode code points. The default of paths.
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

/** A row, and where it stands. */
export interface ViewRow<R, Access = Immutable> {
  /** `"namespace/name"` or `"name"`. */
  readonly key: string;
  /** The object. */
  readonly row: Read<R, Access>;
  /** Its place in `snapshot.rows`, counted from 0. Of a removed row it is the place before. */
  readonly index: number;
}

/**
 * What leads from one snapshot to a later one. A row may be both `moved` and `updated`.
 *
 * Who keeps an array takes out `removed` and `moved` by their keys. Then it puts in `moved` and `added`, all by ascending `index`. Then it sets each of
 * `updated` at its `index`. That is `snapshot.rows`.
 */
export interface ViewChange<R, Access = Immutable> {
  /** Where it leads. What is no row changes with it: `total`, `counts`, `loaded`, `stale`, `error`. */
  readonly snapshot: ViewSnapshot<R, Access>;
  /** Rows that were not there. */
  readonly added: readonly ViewRow<R, Access>[];
  /** Rows whose object is another. */
  readonly updated: readonly ViewRow<R, Access>[];
  /** Rows that stand elsewhere among those that stayed; as few as can be. */
  readonly moved: readonly ViewRow<R, Access>[];
  /** Rows that are gone, as they were told last and where they stood then. */
  readonly removed: readonly ViewRow<R, Access>[];
}

/**
 * A live, filtered, ordered, windowed and counted list of a resource.
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
  /**
   * What changes from snapshot to snapshot, for grids and others who keep rows of their own. The first is there at once: all rows are added. Each
   * later one leads from the last that was taken to the newest snapshot, when that is another. A slow reader gets fewer and larger ones, and loses
   * nothing.
   *
   * It subscribes when it is first read. It ends with its signal, when the view is closed, and after the change that tells `closed`. It never
   * throws: `snapshot.error` tells what is wrong. Leaving `for await` ends it.
   *
   * @throws {WatchCacheError} `invalid`.
   */
  changes(options?: { signal?: AbortSignalLike | undefined }): AsyncIterableIterator<ViewChange<R, Access>>;
  /** Moves this handle's window. Subscribers hear of the new rows in the next microtask. @throws {WatchCacheError} `invalid`. */
  setWindow(window: ViewWindow): void;
  /**
   * Searches for something else, or for nothing: with `null`, `undefined` or a text without words. All else of the spec stays, the window as well.
   * The rows of before stay until those that are found are whole; `loaded` is false meanwhile. Subscribers hear of it from the next microtask on.
   *
   * @throws {WatchCacheError} `invalid`.
   */
  setSearch(search: ViewSearch | string | null | undefined): void;
  /** Ends its subscriptions and lets go of the view at once, without `linger`. Not final: a later read or subscription goes on. */
  close(): void;
}
