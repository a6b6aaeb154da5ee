// Names that are nearly a column's: most likely it was meant.
import type { RawViewSpec } from "../wire/raw.js";

/** In fewer letters one that differs is too much of a name. */
const MIN_LETTERS = 3;

/**
 * What is said of entries of `select`, `orderBy` and `groupBy` that differ from a column's name by case or one letter alone. An option that
 * names the column as well means the other by a field.
 */
export function nearColumns({ select, orderBy, groupBy, derive = [] }: RawViewSpec): string[] {
  const options = {
    select: select ?? [],
    orderBy: orderBy?.map(({ path }) => path) ?? [],
    groupBy: groupBy === undefined ? [] : [groupBy],
  };
  return Object.entries(options).flatMap(([option, entries]) =>
    derive
      .filter(({ name }) => !entries.includes(name))
      .flatMap(({ name }) =>
        entries
          .filter((entry) => isNear(entry, name) && !derive.some((other) => other.name === entry))
          .map((entry) => `${option} names the field ${entry}: did you mean the column ${name}? Write $.${entry} for the field`),
      ),
  );
}

function isNear(one: string, other: string): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  const [least, most] = [Math.min(a.length, b.length), Math.max(a.length, b.length)];
  let before = 0;
  while (before < least && a[before] === b[before]) before++;
  let behind = 0;
  while (behind < least - before && a.at(-1 - behind) === b.at(-1 - behind)) behind++;
  return a === b || (least >= MIN_LETTERS && most - before - behind <= 1);
}
