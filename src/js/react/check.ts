import { invalid, shown } from "../options/kinds.js";
import type { MaybeResource } from "./types.js";

/**
 * What a hook is given is a resource, or none yet.
 *
 * @throws {WatchCacheError} `invalid`: the nearest error boundary gets it.
 */
export function checkResource(resource: MaybeResource<any, any>, hook: string): void {
  if (resource === null || resource === undefined || (typeof resource === "object" && typeof resource.view === "function")) return;
  throw invalid(`${hook} takes a resource, as useResource("pods") or cache.resource("pods") gives it, not ${shown(resource)}`);
}
