import type { CollectionConfig, LoadSubsetOptions, SyncConfig } from "@tanstack/db";
import { callback, flag, invalid, is, object, text, word } from "../options/kinds.js";
import { type Bag, read } from "../options/read.js";
import type { WatchCacheError } from "../error/errors.js";
import type { ObjectLike } from "../object/metadata.js";
import type { Path } from "../object/path.js";
import type { Resource } from "../resource/types.js";
import type { ResourceStatus } from "../status/types.js";
import type { DerivedColumn, DerivedRow, DerivedValue, FieldNames, SelectedRow, SelectedViewSpec, ViewSpec } from "../view/types.js";
import { pathsOf, type Pushed, pushedOf } from "./pushed.js";
import { Rows } from "./rows.js";
import { Subset } from "./subset.js";
import { writes } from "./writes.js";

/** What a collection holds of a resource: everything, or what a view shows. No window: TanStack DB has queries for that. */
type Spec<S> = Omit<S, "window" | "orderBy" | "groupBy">;

/** What is of the collection, and not of its rows. */
interface Common {
  /** As of any collection: its name in TanStack DB's tools. */
  id?: string | undefined;
  /** How long, in milliseconds, a collection without subscribers keeps its rows; 0 for ever. Default of TanStack DB: five minutes. */
  gcTime?: number | undefined;
  /** Whether it begins at once, not with its first subscriber. Default false. */
  startSync?: boolean | undefined;
  /** As of any collection: whether queries make indexes. */
  autoIndex?: "off" | "eager" | undefined;
  /** As of any collection: of which class indexes are, such as `BTreeIndex` of TanStack DB. */
  defaultIndexType?: CollectionConfig["defaultIndexType"] | undefined;
  /**
   * - `eager`: the collection holds all rows. The default.
   * - `on-demand`: it holds what live queries ask for. What selectors can decide of their `where` is decided on the stored bytes, and only
   *   what passes is decoded. That is `eq` and `inArray` of `metadata.namespace` and of labels, and `eq` of any other text.
   */
  syncMode?: "eager" | "on-demand" | undefined;
}

/** Options of a collection of whole objects. */
export interface ObjectCollectionOptions<T, Access> extends Common {
  /** Whose objects. */
  resource: Resource<T, Access, any>;
  /** Which of them. */
  view?: Spec<ViewSpec<T, Access>> | undefined;
}

/** What `collection.utils` has. */
export interface WatchCacheUtils extends Record<string, any> {
  /** Where the resource's stream stands. It tells of changes by its `status` event. */
  readonly status: ResourceStatus;
  /** Why no rows come before somebody acts. */
  readonly error: WatchCacheError | undefined;
  /** Lists anew, as `resource.refresh`. */
  refetch(): Promise<void>;
}

const anything: Bag<Common & { resource: unknown; view: unknown }>["view"] = (value) => value as unknown;
const OPTIONS: Bag<Common & { resource: unknown; view: unknown }> = {
  resource: (value: { view?: unknown } | null) => {
    if (typeof value?.view !== "function") throw invalid("a collection is of a resource: give { resource: cache.resource(…) }");
    return value;
  },
  view: anything,
  id: text,
  gcTime: is("a number of milliseconds from 0 up", (value) => typeof value === "number" && value >= 0),
  startSync: flag,
  autoIndex: word("off", "eager"),
  defaultIndexType: callback,
  syncMode: word("eager", "on-demand"),
};

type Config<Row extends object> = CollectionConfig<Row, string, never, WatchCacheUtils> & {
  schema?: never;
  utils: WatchCacheUtils;
};

/**
 * Options for `createCollection`: a collection over a resource, which live queries read and join. Rows are the resource's objects, by
 * `"namespace/name"` or `"name"`. They stay while the connection is down.
 *
 * `collection.insert`, `update` and `delete` write to the server. They show at once, and are rolled back where the server refuses them. An update
 * keeps what others have changed beside it. Where somebody else has changed the same value, it is a `conflict`.
 *
 * @throws {WatchCacheError} `invalid` for options that cannot be meant.
 */
export function watchCacheCollectionOptions<T extends ObjectLike, Access>(options: ObjectCollectionOptions<T, Access>): Config<T & object>;
/** The same with rows of selected fields and derived columns. They are read only: what they are made of is another object. */
export function watchCacheCollectionOptions<
  T extends ObjectLike,
  Access,
  const Select extends { readonly [name: string]: Path },
  Values extends { readonly [name: string]: DerivedValue },
>(
  options: Common & {
    resource: Resource<T, Access, any>;
    view: Spec<Omit<ViewSpec<T, Access>, "derive" | "select">> & {
      select: Select & FieldNames;
      derive: { readonly [Name in keyof Values]: DerivedColumn<Values[Name]> };
    };
  },
): Config<DerivedRow<Select, Values>>;
/** The same, with what the fields are said by you. */
export function watchCacheCollectionOptions<Fields extends object>(
  options: Common & { resource: Resource<any, any, any>; view: Spec<SelectedViewSpec<any, Fields, any>> },
): Config<SelectedRow<Fields>>;
export function watchCacheCollectionOptions(options: any): any {
  const given = read<Common & { resource: unknown; view: unknown }>(OPTIONS, "a collection", options, undefined, "resource");
  const { syncMode = "eager", resource: _, view: __, ...common } = given;
  const resource = given.resource as Resource<any, any, any>;
  const spec = object(given.view ?? {}, "view") as ViewSpec<any, any>;
  for (const name of ["window", "orderBy", "groupBy"]) {
    if (name in spec) throw invalid(`view.${name} is no option of a collection: its queries have orderBy, limit and groupBy`);
  }
  // A mistake is told here, not when somebody subscribes.
  resource.view(spec);
  const isSelected = spec.select !== undefined;
  const keys = new WeakMap<object, string>();
  const keyOf = (row: object) => keys.get(row) ?? (isSelected ? (row as { key: string }).key : keyOfObject(row as ObjectLike));
  const run: { rows?: Rows<any>; error?: () => WatchCacheError | undefined } = {};
  const sync: SyncConfig<any, string> = {
    rowUpdateMode: "full",
    sync: (params) => {
      const rows = new Rows<any>(params, keys);
      run.rows = rows;
      return syncMode === "eager" ? syncAll(resource, spec, rows, params, run) : syncSubsets(resource, spec, rows, params, run);
    },
  };
  const utils: WatchCacheUtils = {
    get status() {
      return resource.status;
    },
    get error() {
      return run.error?.();
    },
    refetch: () => resource.refresh(),
  };
  const config = { ...common, syncMode, getKey: keyOf, sync, utils };
  return isSelected ? config : { ...config, ...writes(resource, () => run.rows) };
}

/** As resources name their objects. */
function keyOfObject({ metadata }: ObjectLike): string {
  const { namespace, name } = metadata ?? {};
  if (!name) throw invalid("an object of a collection has metadata.name: a server that makes the name up tells it too late");
  return namespace ? `${namespace}/${name}` : name;
}

type Params = Parameters<SyncConfig<any, string>["sync"]>[0];
interface Run {
  rows?: Rows<any>;
  error?: () => WatchCacheError | undefined;
}

function syncAll(resource: Resource<any, any, any>, spec: object, rows: Rows<any>, { markReady, markError }: Params, run: Run) {
  let isReady = false;
  let told: WatchCacheError | undefined;
  const look = () => {
    if (subset === undefined || isReady) return;
    const { loaded, error } = subset;
    if (loaded) {
      isReady = true;
      markReady();
    } else if (error !== undefined && error !== told) {
      // The first list was refused. It may still come, when somebody has acted.
      told = error;
      markError(error);
    }
  };
  let subset: Subset<any> | undefined;
  subset = new Subset<any>(resource.view(spec), rows, look);
  run.error = () => subset.error;
  look();
  return () => subset.abandon();
}

function syncSubsets(resource: Resource<any, any, any>, spec: ViewSpec<any, any>, rows: Rows<any>, { markReady }: Params, run: Run) {
  const subsets = new Map<string, Subset<any>>();
  run.error = () => [...subsets.values()].find(({ error }) => error !== undefined)?.error;
  const pathOf = pathsOf(spec);
  const asked = (where: LoadSubsetOptions["where"]) => narrow(spec, pushedOf(where, pathOf));
  markReady();
  return {
    cleanup: () => {
      for (const subset of subsets.values()) subset.abandon();
      subsets.clear();
    },
    loadSubset: ({ where, refetch }: LoadSubsetOptions) => {
      const narrowed = asked(where);
      const name = JSON.stringify(narrowed);
      let subset = subsets.get(name);
      if (subset === undefined) subsets.set(name, (subset = new Subset<any>(resource.view(narrowed), rows)));
      subset.demands++;
      if (refetch !== true) return subset.ready();
      const { ready } = subset;
      return resource.refresh().then(() => ready.call(subset) as Promise<void>);
    },
    unloadSubset: ({ where }: LoadSubsetOptions) => {
      const name = JSON.stringify(asked(where));
      const subset = subsets.get(name);
      if (subset === undefined || --subset.demands > 0) return;
      subsets.delete(name);
      subset.close();
    },
  };
}

/** The collection's own spec, and what a query adds to it. Functions are those of the collection, so content tells subsets apart. */
function narrow(spec: ViewSpec<any, any>, pushed: Pushed): ViewSpec<any, any> {
  const both = (a: string | undefined, b: string | undefined) => [a?.trim(), b].filter(Boolean).join() || undefined;
  const namespaces =
    spec.namespaces && pushed.namespaces
      ? spec.namespaces.filter((name) => pushed.namespaces!.includes(name))
      : (pushed.namespaces ?? spec.namespaces);
  return {
    ...spec,
    namespaces,
    labelSelector: both(spec.labelSelector, pushed.labelSelector),
    fieldSelector: both(spec.fieldSelector, pushed.fieldSelector),
  };
}
