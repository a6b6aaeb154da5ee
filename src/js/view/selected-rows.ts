import { freezeNew } from "../wire/objects.js";
import type { RawResource } from "../wire/raw.js";
import { share } from "../wire/renew.js";

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
  #rows: readonly Row[] = Object.freeze([]);

  /** @param names of the fields, in the order in which the core was given their paths */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** The rows of a range as they are now: the same array as last time where nothing differs. */
  pull(raw: RawResource, range: number): readonly Row[] {
    const stamps = raw.viewStamps(range);
    const [old, oldStamps] = [this.#rows, this.#stamps];
    // Most rows stand where they stood. Of the others some have moved, and some show something else.
    const rows = old.slice(0, stamps.length);
    const stays = (at: number) => at < stamps.length && stamps[at] === oldStamps[at];
    const byStamp = new Map<number, Row>();
    const byKey = new Map<string, Row>();
    old.forEach((row, at) => {
      if (stays(at)) return;
      byStamp.set(oldStamps[at]!, row);
      byKey.set(row.key, row);
    });
    const others: number[] = [];
    stamps.forEach((stamp, at) => {
      if (stays(at)) return;
      const moved = byStamp.get(stamp);
      if (moved === undefined) others.push(at);
      else rows[at] = moved;
    });
    if (others.length > 0) {
      const made = raw.viewFields(range, Float64Array.from(others));
      made.forEach((fields, i) => (rows[others[i]!] = this.#make(fields, byKey)));
    }
    this.#stamps = stamps;
    // A view of another search has stamps of its own for the same rows.
    if (rows.length === old.length && rows.every((row, at) => row === old[at])) return old;
    return (this.#rows = Object.freeze(rows));
  }

  /** A row of these fields: the one that is there where that shows the same, and with what is the same of it. */
  #make([key, ...fields]: [key: string, ...fields: unknown[]], held: ReadonlyMap<string, Row>): Row {
    const names = this.#names;
    for (const at of (fields[names.length] ?? []) as number[]) fields[at] = undefined;
    const row = share(held.get(key), Object.fromEntries([["key", key], ...names.map((name, i) => [name, fields[i]])])) as Row;
    freezeNew(row);
    return row;
  }
}
