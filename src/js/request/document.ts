import { atOnce, isPromise } from "../error/callbacks.js";
import { toError, WatchCacheError } from "../error/errors.js";
import type { ObjectTable } from "../wire/objects.js";
import type { RawList, RawResource } from "../wire/raw.js";

/** What the user's own function threw, on its way through the core. */
class Thrown {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** What the user's function threw, as it was; else what `other` makes of it. */
export function givenBy(thrown: unknown, other: () => unknown): unknown {
  return thrown instanceof Thrown ? thrown.value : other();
}

/**
 * The user's function in terms of the core: an id in, JSON out. Each call gets a copy of its own, which it may change: what readers share
 * stays as it is.
 */
export function changer<T>(raw: RawResource, change: (current: T) => T | undefined, resource: string): (id: number) => string | undefined {
  return (id) => {
    const current = raw.parse(id) as T;
    try {
      const changed = atOnce("the function of update", change, change(current));
      if (changed !== undefined) return toDocument(changed, resource);
      // Changed in place and not given back: to leave the object alone then would drop the change without a word.
      if (toDocument(current, resource) !== toDocument(raw.parse(id), resource)) {
        throw new WatchCacheError("invalid", "the function changed its copy and returned undefined: return the changed object", {
          resource,
        });
      }
      return undefined;
    } catch (error) {
      throw new Thrown(error);
    }
  };
}

/**
 * An object as JSON.
 *
 * @throws {WatchCacheError} `invalid` for what is no object or has no JSON.
 */
export function toDocument(object: unknown, resource: string): string {
  return toJson(object, "an object is written", resource);
}

function toJson(object: unknown, rule: string, resource: string, mayBeArray = false): string {
  const invalid = (message: string, cause?: unknown) => new WatchCacheError("invalid", message, { resource, cause });
  let document: string | undefined;
  let what: string | undefined;
  try {
    if (isPromise(object)) what = "a promise";
    else if (object === null) what = "null";
    else if (typeof object !== "object") what = typeof object;
    else if (Array.isArray(object) && !mayBeArray) what = "an array";
    else document = JSON.stringify(object);
  } catch (error) {
    // Getters throw what they like.
    throw invalid(`the object has no JSON: ${toError(error).message}`, error);
  }
  if (what !== undefined) throw invalid(`${rule}, not ${what}`);
  if (document === undefined) throw invalid("the object has no JSON: its toJSON gives undefined");
  return document;
}

/**
 * A patch as JSON. Whether its form is that of its type is the core's to say.
 *
 * @throws {WatchCacheError} `invalid` for what is neither an object nor an array, or has no JSON.
 */
export function toPatch(patch: unknown, resource: string): string {
  return toJson(patch, 'a patch is an object or, of type "json", an array of operations', resource, true);
}

/** What answers a write or a read: an object's id, or JSON of another kind. */
export function answered(answer: { value: number | string; objects: ObjectTable }): unknown {
  if (typeof answer.value === "number") return answer.objects.take(answer.value);
  try {
    return answer.objects.parse(answer.value);
  } catch (cause) {
    throw new WatchCacheError("decode", `the request was taken, but its answer cannot be read: ${toError(cause).message}`, { cause });
  }
}

/** An answer that came too late for who asked. What was given up has none. */
export function discard(answer: number | string | undefined, objects: ObjectTable): void {
  if (typeof answer === "number") objects.giveBack(answer);
}

/** A list that came too late. */
export function discardAll(list: RawList | undefined, objects: ObjectTable): void {
  list?.ids.forEach((id) => objects.giveBack(id));
}
