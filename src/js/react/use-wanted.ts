import { type DependencyList, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { toError, WatchCacheError } from "../error/errors.js";
import { originOf } from "../cache/origin.js";
import { related } from "../view/relations.js";
import type { View, ViewSpec } from "../view/types.js";
import { contentOf } from "./content.js";
import { checkDeps } from "./check.js";
import type { MaybeResource } from "./types.js";

type AnySpec = ViewSpec<any, any>;

/** A view as a component wants it, or why there is none. */
export interface Wanted {
  readonly view: View<any, any> | undefined;
  readonly refused: WatchCacheError | undefined;
  /** What the spec says, whichever its functions are. */
  readonly plain: string;
}

/** An effect that runs with the commit. React 18 warns of layout effects where a server renders. */
export const useCommit = typeof document === "undefined" ? useEffect : useLayoutEffect;

/** All rows. */
const EVERYTHING = { offset: 0, limit: 0xffff_ffff };

/** Renders in a row, each no later than a second after the one before, of which each brings other functions: no program means that. */
const MAX_IN_A_ROW = 20;
const IN_A_ROW_MS = 1_000;

/** The part of a spec that makes another view. The rest moves the same one, so its rows stay until others are there. */
function filterOf(spec: AnySpec | null | undefined): AnySpec | null | undefined {
  if (typeof spec !== "object" || spec === null) return spec;
  const { search, window, ...filter } = spec;
  try {
    // Of an object that selects or owns only that makes another view, and not each of its versions.
    return related(filter, "");
  } catch {
    return filter;
  }
}

/**
 * The view that a spec says: the same one while the spec says the same, with the search and the window that it names.
 *
 * @param deps tells when functions of the spec are others, as `useMemo` has it. Without it they are compared by identity.
 */
export function useWanted(resource: MaybeResource<any, any>, spec: AnySpec | null | undefined, deps: DependencyList | undefined): Wanted {
  checkDeps(deps);
  const byIdentity = deps === undefined || deps === null;
  const filter = contentOf(filterOf(spec), byIdentity);
  const [search, window] = [contentOf(spec?.search), contentOf(spec?.window)];
  // The view of this filter: the first one that was not refused. Another search or window is tried on a view that nobody reads.
  const ofFilter = useMemo<{ view?: View<any, any> | undefined }>(() => ({}), [resource, filter, ...(deps ?? [])]);
  const [tried, mistake] = useMemo(() => open(resource, spec), [resource, filter, search, window, ...(deps ?? [])]);
  const opened = (ofFilter.view ??= tried);

  const plain = contentOf(spec, false);
  const held = useRestless(opened, plain, filter, byIdentity);
  const refused = held !== undefined ? RESTLESS : mistake;
  useMoves(opened, refused, spec, search, window);
  const good = useLastGood(resource, opened);
  return { view: held ?? good, refused, plain };
}

/** The view, or the one of the last good spec. That goes on, whether or not it was loaded before the mistake came. */
function useLastGood(resource: MaybeResource<any, any>, opened: View<any, any> | undefined): View<any, any> | undefined {
  const last = useRef<{ resource: unknown; view: View<any, any> }>(undefined);
  useCommit(() => {
    if (opened !== undefined) last.current = { resource, view: opened };
  }, [resource, opened]);
  return opened ?? (last.current?.resource === resource ? last.current?.view : undefined);
}

function open(
  resource: MaybeResource<any, any>,
  spec: AnySpec | null | undefined,
): [View<any, any> | undefined, WatchCacheError | undefined] {
  if (resource === null || resource === undefined) return [undefined, undefined];
  try {
    return [resource.view(spec ?? {}), undefined];
  } catch (thrown) {
    return [undefined, toError(thrown, originOf(resource)?.name)];
  }
}

/** Moves the view to the search and the window of the spec, once each is another than it was. What was moved by hand stays where it is until then. */
function useMoves(
  view: View<any, any> | undefined,
  refused: WatchCacheError | undefined,
  spec: AnySpec | null | undefined,
  search: string,
  window: string,
): void {
  const last = useRef<{ view: View<any, any>; search: string; window: string }>(undefined);
  useCommit(() => {
    if (view === undefined || refused !== undefined) return;
    const before = last.current;
    last.current = { view, search, window };
    if (before?.view === view && before.search === search && before.window === window) return;
    // What was just made may be of an earlier render.
    view.setSearch(spec?.search);
    // Another search shows its first rows, wherever the last one was scrolled to.
    if (window !== "" || (before?.view === view && before.window !== "")) view.setWindow(spec?.window ?? EVERYTHING);
  }, [view, refused, search, window]);
}

/** The view to stay with where each render brings other functions: each would make another view, whose rows cause the next render. */
function useRestless(opened: View<any, any> | undefined, plain: string, filter: string, byIdentity: boolean): View<any, any> | undefined {
  const [held, hold] = useState<{ view: View<any, any> | undefined; plain: string }>();
  const last = useRef({ plain, filter, at: 0, times: 0 });
  useEffect(() => {
    const { plain: plainBefore, filter: filterBefore, at, times } = last.current;
    const now = performance.now();
    const isOther = byIdentity && plain === plainBefore && filter !== filterBefore && now - at < IN_A_ROW_MS;
    last.current = { plain, filter, at: now, times: isOther ? times + 1 : 0 };
    if (last.current.times === MAX_IN_A_ROW) hold({ view: opened, plain });
  });
  return byIdentity && held?.plain === plain ? held.view : undefined;
}

/** What says that functions are made anew by each render. */
export const RESTLESS = new WatchCacheError(
  "invalid",
  "the functions of the spec (where, derive) are others in each render, so each render makes another view: keep them outside of the component, or give what they depend on as the last argument, as useMemo has it",
);
