import { type DependencyList, useEffect } from "react";
import type { WatchCacheError } from "../error/errors.js";
import { invalid } from "../options/kinds.js";
import type { Path } from "../object/path.js";
import type { Resource } from "../resource/types.js";
import type { DerivedColumn, DerivedRow, DerivedValue, FieldNames, SelectedRow, SelectedViewSpec, View, ViewSpec } from "../view/types.js";
import { checkResource } from "./check.js";
import { contentOf } from "./content.js";
import type { LiveView } from "./types.js";
import { useFollowed } from "./use-view.js";
import { RESTLESS, useWanted } from "./use-wanted.js";

/**
 * As `useView`, for who renders nothing before the rows are there: it suspends until the view is loaded, so `loaded` is true. A spec that changes
 * in a transition keeps what is on the screen until the new rows are there.
 *
 * - What ends the first load goes to the nearest error boundary: a refused spec, a server that says no. Later errors are told by `error`, and the
 *   rows stay.
 * - A server renders the fallback of the nearest `Suspense`. The rows come in the browser.
 * - React forgets what a suspended first render made. So functions of the spec stand outside of the component, or the spec has none.
 */
export function useSuspenseView<T, Access>(
  resource: Resource<T, Access, any>,
  spec?: ViewSpec<T, Access> | null,
  deps?: DependencyList,
): LiveView<T, Access>;
/** The same with rows that show selected fields of their objects and derived columns. */
export function useSuspenseView<
  T,
  Access,
  const Select extends { readonly [name: string]: Path },
  Values extends { readonly [name: string]: DerivedValue },
>(
  resource: Resource<T, Access, any>,
  spec: Omit<ViewSpec<T, Access>, "derive" | "select"> & {
    select: Select & FieldNames;
    derive: { readonly [Name in keyof Values]: DerivedColumn<Values[Name]> };
  },
  deps?: DependencyList,
): LiveView<DerivedRow<Select, Values>, Access>;
/** The same, with what the fields are said by you. */
export function useSuspenseView<Fields extends object>(
  resource: Resource<any, any, any>,
  spec: SelectedViewSpec<any, Fields, any>,
  deps?: DependencyList,
): LiveView<SelectedRow<Fields>>;
export function useSuspenseView(
  resource: Resource<any, any, any>,
  given?: ViewSpec<any, any> | SelectedViewSpec<any, any, any> | null,
  deps?: DependencyList,
): LiveView<any, any> {
  checkResource(resource, "useSuspenseView");
  if (resource === null || resource === undefined)
    throw invalid(`useSuspenseView waits for rows of a resource, not for the resource: render it once there is one, or take useView`);
  const spec = given as ViewSpec<any, any> | null | undefined;
  const { view, refused, plain } = useWanted(resource, spec, deps);
  const live = useFollowed(resource, view, refused, true);
  useEffect(() => forget(resource, plain), [resource, plain]);
  if (live.loaded) return live;
  const error = endOf(resource, live.error);
  // Rows of before that nothing can replace.
  if (error?.code === "invalid" && live.view !== undefined && live.view !== view) return live;
  if (error !== undefined) throw error;
  if (typeof document === "undefined") throw new OnServer();
  if (view === undefined) throw refused ?? RESTLESS;
  throw waitFor(resource, view, plain, contentOf(spec, deps === undefined));
}

/** Phases in which the stream says no. */
const REFUSED: readonly string[] = ["failed", "needs-auth", "closed"];

/**
 * What ends the first load. A snapshot follows the status with the next flush. So who tries again once the status has changed meets the refusal
 * of before, and waits for what comes.
 */
function endOf(resource: Resource<any, any, any>, error: WatchCacheError | undefined): WatchCacheError | undefined {
  const isOfStream = error !== undefined && error.code !== "invalid" && error.code !== "out-of-memory";
  return isOfStream && !REFUSED.includes(resource.status.phase) ? undefined : error;
}

/** What a server renders is the fallback. React sends that, and renders anew in the browser. */
class OnServer extends Error {
  /** Next says nothing of errors with this mark, because they mean just that. */
  readonly digest = "BAILOUT_TO_CLIENT_SIDE_RENDERING";
  constructor() {
    super("useSuspenseView shows the fallback of the nearest Suspense on a server: the rows come in the browser");
  }
}

/**
 * For how long what waits holds a view that nobody may want any more. React never says that a component which suspends is gone, but it asks again
 * for one that is not.
 */
const HOLD_MS = 5_000;

/** Asking this often for one spec, each time with other functions, means that each try makes them anew. */
const MAX_TRIES = 4;
const tries = new WeakMap<object, Map<string, { content: string; times: number }>>();

/** It is on the screen. */
function forget(resource: object, plain: string): void {
  tries.get(resource)?.delete(plain);
}

/** Resolves when it is worth rendering again. */
function waitFor(resource: Resource<any, any, any>, view: View<any, any>, plain: string, content: string): Promise<void> {
  let ofResource = tries.get(resource);
  if (ofResource === undefined) tries.set(resource, (ofResource = new Map()));
  const before = ofResource.get(plain);
  const times = before !== undefined && before.content !== content ? before.times + 1 : 0;
  if (times >= MAX_TRIES) {
    ofResource.delete(plain);
    throw RESTLESS;
  }
  ofResource.set(plain, { content, times });
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      end();
      resolve();
    };
    const look = () => {
      const { loaded, error } = view.getSnapshot();
      if (loaded || endOf(resource, error) !== undefined) done();
    };
    const timer = setTimeout(done, HOLD_MS);
    const end = view.subscribe(look);
    look();
  });
}
