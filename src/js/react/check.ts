import { createContext, type DependencyList, useContext } from "react";
import { invalid, shown } from "../options/kinds.js";
import type { MaybeResource } from "./types.js";

/** Nobody provides it: to read it is the cheapest hook. */
const Nothing = createContext(undefined);
Nothing.displayName = "WatchCacheCheck";

/**
 * A hook is called where a component is rendered, and by the React that renders it. React itself names that in development alone.
 *
 * @throws {WatchCacheError} `invalid`.
 */
export function checkCall(hook: string): void {
  try {
    useContext(Nothing);
  } catch {
    throw invalid(
      `${hook} is called while a component is rendered, and by one React: where it is, the page has two. \`npm ls react\` shows them, and a bundler's alias or dedupe for react makes them one`,
    );
  }
}

/**
 * What a hook is given is a resource, or none yet.
 *
 * @throws {WatchCacheError} `invalid`: the nearest error boundary gets it.
 */
export function checkResource(resource: MaybeResource<any, any>, hook: string): void {
  checkCall(hook);
  if (resource === null || resource === undefined || (typeof resource === "object" && typeof resource.view === "function")) return;
  throw invalid(`${hook} takes a resource, as useResource("pods") or cache.resource("pods") gives it, not ${shown(resource)}`);
}

export function checkDeps(deps: DependencyList | null | undefined): void {
  if (deps === null || deps === undefined || Array.isArray(deps)) return;
  throw invalid(`deps is an array of what the functions of the spec depend on, as useMemo takes it, not ${shown(deps)}`);
}
