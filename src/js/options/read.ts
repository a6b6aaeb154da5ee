// What was given as a bag of options, by a table with a kind for each. The compiler compares each table with the public types,
// tests/js/config.test.mjs with what the core reads.
import { invalid, type Judge, type Kind, object, readable } from "./kinds.js";

/** A kind for each option. */
export type Bag<O> = { readonly [K in keyof Required<O>]: Kind };

/** Options without those that are undefined. */
export type Given<O> = { [K in keyof O]: Exclude<O[K], undefined> };

/**
 * What was given, read once and checked: a plain object without what is undefined.
 *
 * @param what what messages call the bag by
 * @param judge judges grammar; without it, or while its core is not there, only types are checked
 * @param needed names of what may not be missing
 * @throws {WatchCacheError} `invalid`, naming the option.
 */
export function read<O extends object>(
  members: Bag<NoInfer<O>>,
  what: string,
  given: O | undefined = {} as O,
  judge?: Judge,
  needed = "",
  prefix = "",
): Given<O> {
  const called = prefix ? what : `what ${what} is given`;
  return readable(called, () => readAll(members, what, object(given, called), judge, needed, prefix)) as Given<O>;
}

function readAll(
  members: Bag<any>,
  what: string,
  given: object,
  judge: Judge | undefined,
  needed: string,
  prefix: string,
): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  const from = given as Readonly<Record<string, unknown>>;
  const known = Object.keys(members);
  for (const name of known) {
    const value = from[name];
    if (value !== undefined) options[name] = (members as Record<string, Kind>)[name]!(value, prefix + name, judge);
    else if (needed.includes(name)) throw invalid(`${prefix}${name} is missing`);
  }
  for (const name in from) {
    if (from[name] === undefined || Object.hasOwn(options, name)) continue;
    const like = nearest(name, known);
    throw invalid(`${prefix}${name} is no option of ${what}: ${like ? `did you mean ${like}?` : `there are ${known.join(", ")}`}`);
  }
  return options;
}

/** A bag within another one. */
export const bag =
  (members: Bag<any>, needed = ""): Kind =>
  (value, name, judge) =>
    read(members, name, value, judge, needed, `${name}.`);

/** The name that shares the most pairs of letters with it, if there is one that shares half of them. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best = (name.length - 1) / 2;
  let like: string | undefined;
  const given = name.toLowerCase();
  for (const other of known) {
    let score = -Math.abs(name.length - other.length) / 8;
    for (let i = 1; i < given.length; i++) if (other.toLowerCase().includes(given.slice(i - 1, i + 1))) score++;
    if (score > best) [best, like] = [score, other];
  }
  return like;
}
