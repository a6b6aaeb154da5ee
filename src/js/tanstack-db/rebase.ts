import { WatchCacheError } from "../error/errors.js";
import type { ObjectLike } from "../object/metadata.js";

type Json = unknown;

/**
 * An object with a user's changes, made of the newest version. What the user changed is as wanted, and all else is as it stands now. Arrays are one
 * value.
 *
 * @param original what the user saw
 * @param modified what the user made of that
 * @param current the newest
 * @throws {WatchCacheError} `conflict` where somebody else has changed the same value meanwhile, to another one, and where `current` is another object
 *   of that name.
 */
export function rebase<T extends ObjectLike>(original: T, modified: T, current: T, key: string): T {
  const { uid } = original.metadata ?? {};
  // What the user has not seen yet has none.
  if (uid !== undefined && uid !== current.metadata?.uid)
    throw new WatchCacheError(
      "conflict",
      `${key} is not the object that this change was made of: that was deleted, and another one has its name`,
    );
  return merge(original, modified, current, key, "") as T;
}

function merge(original: Json, modified: Json, current: Json, key: string, path: string): Json {
  if (equal(original, modified)) return current;
  if (isObject(original) && isObject(modified) && isObject(current)) {
    const result: Record<string, Json> = {};
    const names = new Set([...Object.keys(current), ...Object.keys(modified)]);
    for (const name of names) {
      const value = merge(own(original, name), own(modified, name), own(current, name), key, `${path}.${name}`);
      // Defined, not assigned: a name may be __proto__.
      if (value !== undefined) Object.defineProperty(result, name, { value, enumerable: true, configurable: true, writable: true });
    }
    return result;
  }
  if (equal(current, original) || equal(current, modified)) return modified;
  throw new WatchCacheError(
    "conflict",
    `${path.slice(1)} of ${key} is not what this change was made of: somebody else has changed it, or an earlier change was refused`,
  );
}

const isObject = (value: Json): value is Record<string, Json> => typeof value === "object" && value !== null && !Array.isArray(value);

const own = (object: Record<string, Json>, name: string): Json => (Object.hasOwn(object, name) ? object[name] : undefined);

/** As JSON has it: members in any order, and what is undefined is not there. */
function equal(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => equal(item, b[at]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => equal(own(a, name), own(b, name)));
}
