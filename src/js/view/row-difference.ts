import type { Mutable } from "../object/readonly.js";
import type { ViewRow } from "./types.js";

/** Rows with their keys, in order. */
export interface KeyedRows<R> {
  readonly rows: readonly R[];
  readonly keys: readonly string[];
}

type Row<R> = ViewRow<R, Mutable>;

/** What leads from some rows to others. */
export interface RowDifference<R> {
  readonly added: readonly Row<R>[];
  readonly updated: readonly Row<R>[];
  readonly moved: readonly Row<R>[];
  readonly removed: readonly Row<R>[];
}

/** What leads from these rows to those. As few as can be have moved. */
export function rowDifference<R>(before: KeyedRows<R>, after: KeyedRows<R>): RowDifference<R> {
  const [added, updated, moved, removed]: Row<R>[][] = [[], [], [], []] as Row<R>[][];
  const at = (rows: KeyedRows<R>, index: number) => ({ key: rows.keys[index]!, row: rows.rows[index]!, index }) as Row<R>;
  const changes = (from: number, to: number) => {
    if (before.rows[from] !== after.rows[to]) updated!.push(at(after, to));
  };
  if (before.keys === after.keys) {
    // The usual flush: nothing came, went or moved.
    after.keys.forEach((_, index) => changes(index, index));
  } else {
    const left = new Map(before.keys.map((key, index) => [key, index]));
    const stayed: { from: number; to: number }[] = [];
    after.keys.forEach((key, to) => {
      const from = left.get(key);
      if (from === undefined) {
        added!.push(at(after, to));
        return;
      }
      left.delete(key);
      stayed.push({ from, to });
      changes(from, to);
    });
    for (const from of left.values()) removed!.push(at(before, from));
    const inOrder = longestRise(stayed.map(({ from }) => from));
    stayed.forEach(({ to }, place) => {
      if (!inOrder.has(place)) moved!.push(at(after, to));
    });
  }
  for (const rows of [added, updated, moved, removed]) Object.freeze(rows);
  return { added: added!, updated: updated!, moved: moved!, removed: removed! };
}

/** The places of a longest selection of different numbers that rises. */
function longestRise(numbers: readonly number[]): ReadonlySet<number> {
  // By length, less one: the place where a rise of that length ends with the smallest number.
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  numbers.forEach((number, place) => {
    let [low, high] = [0, ends.length];
    // Where they rise already, the first look is the last.
    if (high > 0 && numbers[ends[high - 1]!]! < number) low = high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]!]! < number) low = middle + 1;
      else high = middle;
    }
    previous.push(ends[low - 1]);
    ends[low] = place;
  });
  const places = new Set<number>();
  for (let place = ends.at(-1); place !== undefined; place = previous[place]) places.add(place);
  return places;
}
