import { deepFreeze, isObject } from "../wire/objects.js";
import type { RawResource } from "../wire/raw.js";

/** A row that shows selected fields. */
interface Row {
  readonly key: string;
  readonly [field: string]: unknown;
}

const NO_STAMPS = new Float64Array(0);

/** Makes rows of the fields that a view selects. A row is the same object as long as its fields are. */
export class SelectedRows {
  readonly #names: readonly string[];
  /** Of the rows that were made last. */
  #stamps: Float64Array = NO_STAMPS;
  #rows: readonly Row[] = [];

  /** @param names of the fields, in the order in which the core was given their paths */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** The rows of a range as they are now: the same array as last time where nothing differs. */
  pull(raw: RawResource, range: number): readonly Row[] {
    const stamps = raw.viewStamps(range);
    const old = this.#rows;
    if (stamps.length === old.length && stamps.every((stamp, i) => stamp === this.#stamps[i])) return old;
    const known = new Map(old.map((row, i) => [this.#stamps[i]!, row]));
    const others = stamps.map((_, i) => i).filter((i) => !known.has(stamps[i]!));
    const made: Row[] = [];
    if (others.length > 0) {
      // A view of another search has stamps of its own for the same rows.
      const byKey = new Map(old.map((row) => [row.key, row]));
      for (const fields of raw.viewFields(range, others)) made.push(this.#make(fields, byKey.get(fields[0])));
    }
    let next = 0;
    const rows: Row[] = [];
    for (const stamp of stamps) rows.push(known.get(stamp) ?? made[next++]!);
    this.#stamps = stamps;
    this.#rows = Object.freeze(rows);
    return rows;
  }

  /** A row of these fields: the one that is there, if that shows the same scalars. */
  #make([key, ...fields]: [key: string, ...fields: unknown[]], held: Row | undefined): Row {
    const names = this.#names;
    for (const at of (fields[names.length] ?? []) as number[]) fields[at] = undefined;
    if (held !== undefined && names.every((name, i) => !isObject(fields[i]) && Object.is(fields[i], held[name]))) return held;
    const row = Object.fromEntries([["key", key], ...names.map((name, i) => [name, fields[i]])]) as Row;
    deepFreeze(row);
    return row;
  }
}
