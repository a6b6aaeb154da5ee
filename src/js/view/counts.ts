import { printable } from "../language/printing.js";

/** Counts that cannot be changed: freezing a `Map` stops nothing. */
class Counts implements ReadonlyMap<string, number> {
  readonly #map: ReadonlyMap<string, number>;
  constructor(map: ReadonlyMap<string, number>) {
    this.#map = map;
  }
  get size(): number {
    return this.#map.size;
  }
  get(value: string): number | undefined {
    return this.#map.get(value);
  }
  has(value: string): boolean {
    return this.#map.has(value);
  }
  forEach(call: (count: number, value: string, counts: ReadonlyMap<string, number>) => void, self?: unknown): void {
    this.#map.forEach((count, value) => call.call(self, count, value, this));
  }
  entries() {
    return this.#map.entries();
  }
  keys() {
    return this.#map.keys();
  }
  values() {
    return this.#map.values();
  }
  [Symbol.iterator]() {
    return this.#map.entries();
  }
  /** Otherwise JSON would say that there are none. */
  toJSON(): Record<string, number> {
    return Object.fromEntries(this.#map);
  }
}

printable(Counts.prototype, "Counts", (counts) => counts.toJSON());

export const NO_COUNTS: ReadonlyMap<string, number> = Object.freeze(new Counts(new Map()));

/** The counts of flat `[value, count]*`: the old ones where these are the same. */
export function sameOrNew(old: ReadonlyMap<string, number>, flat: (string | number)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  let same = old.size === flat.length / 2;
  for (let i = 0; i < flat.length; i += 2) {
    const [value, count] = [flat[i] as string, flat[i + 1] as number];
    counts.set(value, count);
    same &&= old.get(value) === count;
  }
  return same ? old : Object.freeze(new Counts(counts));
}
