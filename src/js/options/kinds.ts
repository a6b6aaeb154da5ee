// What a value may be: a kind takes it as it was given, or refuses it by name.
import { toError, WatchCacheError } from "../error/errors.js";
import type { RawModule } from "../wire/raw.js";

/** Who can have the core judge selectors, paths and views, once the core is there. */
export interface Judge {
  /** The resource's name, for errors. */
  readonly name?: string;
  loaded(): Pick<RawModule, "checkGrammar" | "checkView"> | undefined;
}

/** Takes a value as it was given, or throws `invalid`. */
export type Kind = (value: any, name: string, judge?: Judge) => any;

export function invalid(message: string): WatchCacheError {
  return new WatchCacheError("invalid", message);
}

/** What was given, in a word: it may be a secret. */
export function shown(value: unknown): string {
  if (typeof value === "string") return value === "" ? "empty text" : "text";
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return isArray(value) ? "an array" : "an object";
}

/** A proxy that was revoked is no array, and does not even say so. */
function isArray(value: object): boolean {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * What was read of a value that the user gave. Its getters and proxies throw what they like.
 *
 * @param what what messages call the value by
 * @throws {WatchCacheError} `invalid`, with what they threw as its cause.
 */
export function readable<V>(what: string, read: () => V): V {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof WatchCacheError) throw cause;
    throw new WatchCacheError("invalid", `${what} cannot be read: ${toError(cause).message}`, { cause });
  }
}

export function is(what: string, holds: (value: any) => boolean, show = shown): Kind {
  return (value, name) => {
    if (!holds(value)) throw invalid(`${name} is ${what}, not ${show(value)}`);
    return value;
  };
}

/** @throws {WatchCacheError} `invalid`. Nothing else may cross to the core as text: the boundary would read whatever memory there is. */
export const text = is("text", (value) => typeof value === "string") as (value: unknown, name: string) => string;
export function texts(given: Readonly<Record<string, unknown>>): void {
  for (const name in given) text(given[name], name);
}
export const callback = is("a function", (value) => typeof value === "function");
export const object = is("an object", (value) => typeof value === "object" && value !== null && !Array.isArray(value));
/** An object whose members are named by the user. Of any other than a plain one, such as a Map, no member would be seen. */
export const named: Kind = (value, name) => {
  const prototype: unknown = Object.getPrototypeOf(object(value, name));
  // That of plain objects is the last one, in other windows as well. A module has none.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return value;
  const made: unknown = value.constructor?.name;
  throw invalid(`${name} is a plain object, with a member for each name, not ${made ? `one of the class ${made}` : shown(value)}`);
};
export const flag = is("true or false", (value) => typeof value === "boolean");
export const signal = is("an AbortSignal", (value) => typeof value?.aborted === "boolean" && typeof value.addEventListener === "function");
/** Without a `most` it may be `Infinity`: a duration that never ends, or no bound. */
export const number = (least: number, most = Infinity) =>
  is(
    most === Infinity ? `a number from ${least} up` : `a number from ${least} to ${most}`,
    (value) => typeof value === "number" && value >= least && value <= most,
  );
export const whole = (least: number) =>
  is(`a whole number from ${least} up`, (value) => Number.isInteger(value) && value >= least && value <= 0xffff_ffff);
export const word = (...words: string[]) =>
  is(
    `one of ${words.join(", ")}`,
    (value) => words.includes(value),
    (value) => (typeof value === "string" ? JSON.stringify(value) : shown(value)),
  );
export const list =
  (kind: Kind, show = shown): Kind =>
  (value, name, judge) => {
    if (!Array.isArray(value)) throw invalid(`${name} is an array, not ${show(value)}`);
    // Unlike `map`, this finds places that hold nothing, too.
    return Array.from(value, (item, i) => kind(item, `${name}[${i}]`, judge));
  };
/** A duration in milliseconds, or a number of what may be without end. */
export const period = number(0);
