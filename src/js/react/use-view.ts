import { type DependencyList, useDebugValue, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import type { WatchCacheError } from "../error/errors.js";
import type { Path } from "../object/path.js";
import type { Resource } from "../resource/types.js";
import type { DerivedColumn, DerivedRow, DerivedValue, FieldNames, SelectedRow, SelectedViewSpec, View, ViewSpec } from "../view/types.js";
import { checkResource } from "./check.js";
import { Followed } from "./followed.js";
import type { LiveView, MaybeResource } from "./types.js";
import { useCommit, useWanted } from "./use-wanted.js";

/**
 * A live view for a component. The spec may be written in place: it is compared by content.
 *
 * - Another window or search moves the view: the rows stay until others are there. So does another filter or order of the same resource; then `loaded` is
 *   false meanwhile, and what was shown goes on living.
 * - A spec that is refused keeps the last rows, which go on living, and is told by `error`.
 * - Another resource shows none of the last one's rows.
 * - Without a resource there are no rows, and `loaded` is false.
 * - A server renders no rows, and neither does the render that takes that over.
 *
 * @param deps what the functions of the spec (`where`, `derive`) depend on, as `useMemo` has it. They are taken anew when one of these is another.
 *   Without it they are compared by identity, so they stand outside of the component or in `useCallback`.
 */
export function useView<T, Access>(
  resource: MaybeResource<T, Access>,
  spec?: ViewSpec<T, Access> | null,
  deps?: DependencyList,
): LiveView<T, Access>;
/** The same with rows that show selected fields of their objects and derived columns. */
export function useView<
  T,
  Access,
  const Select extends { readonly [name: string]: Path },
  Values extends { readonly [name: string]: DerivedValue },
>(
  resource: MaybeResource<T, Access>,
  spec: Omit<ViewSpec<T, Access>, "derive" | "select"> & {
    select: Select & FieldNames;
    derive: { readonly [Name in keyof Values]: DerivedColumn<Values[Name]> };
  },
  deps?: DependencyList,
): LiveView<DerivedRow<Select, Values>, Access>;
/** The same, with what the fields are said by you: `useView<{ phase: string }>(pods, { select: { phase: "status.phase" } })`. */
export function useView<Fields extends object>(
  resource: Resource<any, any, any> | null | undefined,
  spec: SelectedViewSpec<any, Fields, any>,
  deps?: DependencyList,
): LiveView<SelectedRow<Fields>>;
export function useView(
  resource: MaybeResource<any, any>,
  spec?: ViewSpec<any, any> | SelectedViewSpec<any, any, any> | null,
  deps?: DependencyList,
): LiveView<any, any> {
  checkResource(resource, "useView");
  const { view, refused } = useWanted(resource, spec as ViewSpec<any, any>, deps);
  return useFollowed(resource, view, refused);
}

/**
 * Shows the wanted view once it is loaded, and until then the one that was shown before.
 *
 * @param waits whether the caller suspends until it is
 */
export function useFollowed(
  resource: MaybeResource<any, any>,
  wanted: View<any, any> | undefined,
  refused: WatchCacheError | undefined,
  waits = false,
): LiveView<any, any> {
  // Of the last render that was committed. It is no state: nothing has to be rendered when it changes.
  const shown = useRef<{ resource: unknown; view: View<any, any> | undefined }>(undefined);
  const last = shown.current?.resource === resource ? shown.current?.view : undefined;
  const before = last === wanted ? undefined : last;
  const followed = useMemo(() => new Followed(wanted, before, waits), [wanted, before, waits]);
  const live = useSyncExternalStore(followed.subscribe, followed.getSnapshot, followed.getServerSnapshot);
  const used = useRef(new Set<View<any, any>>());
  // With the commit, as the next key may be rendered before effects run: it shows what is on the screen, and nothing older.
  useCommit(() => {
    // Rows that were whole stay until others are.
    if (live.loaded || live.view === undefined) shown.current = { resource, view: live.view };
  }, [resource, live.view, live.loaded]);
  useEffect(() => {
    followed.settle();
    // What was wanted in between and is no more: its rows never came.
    const kept = new Set([wanted, live.view]);
    for (const view of used.current) if (!kept.has(view)) view.close();
    used.current = new Set([...kept].filter((view) => view !== undefined));
  }, [wanted, live.view, live.loaded, followed]);

  const told = useMemo(() => (refused === undefined ? live : Object.freeze({ ...live, error: refused })), [live, refused]);
  useDebugValue(told, describe);
  return told;
}

/** What React's developer tools show beside the hook. */
function describe({ rows, total, loaded, stale, error }: LiveView<any, any>): string {
  const shown = loaded ? `${rows.length} of ${total} rows` : `loading, ${rows.length} rows`;
  return `${shown}${stale ? ", stale" : ""}${error ? `, ${error.code}` : ""}`;
}
