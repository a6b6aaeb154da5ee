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

/** The old counts where the others are the same. */
export function oldIfSame(old: ReadonlyMap<string, number>, counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return old.size === counts.size && [...counts].every(([value, count]) => old.get(value) === count) ? old : counts;
}

/** The counts of flat `[value, count]*`: the old ones where these are the same. */
export function sameOrNew(old: ReadonlyMap<string, number>, flat: (string | number)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (let i = 0; i < flat.length; i += 2) counts.set(flat[i] as string, flat[i + 1] as number);
  return oldIfSame(old, counts) === old ? old : Object.freeze(new Counts(counts));
}
