import { atOnce } from "../error/callbacks.js";
import { WatchCacheError } from "../error/errors.js";
import type { IndexFunction } from "./types.js";

/** The values that an index function gives an object; none where it fails, which is reported. */
export function valuesOf(
  values: IndexFunction,
  object: () => unknown,
  host: { readonly name: string; report(error: unknown): void },
): string[] {
  try {
    const given: unknown = atOnce("an index function", values, values(object()));
    if (Array.isArray(given) && given.every((value) => typeof value === "string")) return [...new Set<string>(given)];
    throw new WatchCacheError("invalid", "an index function returned something else than an array of strings", { resource: host.name });
  } catch (error) {
    host.report(error);
    return [];
  }
}
