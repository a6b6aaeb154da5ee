/** Of what is not there. */
export const NOTHING: readonly never[] = Object.freeze([]);

/** Arrays by what was asked for, for as long as anyone holds them. Who asks for the same again gets the same array, while it would hold the same. */
export class StableArrays<T, Ids extends Float64Array | string[] = Float64Array> {
  readonly #known = new Map<string, { ids: Ids; array: WeakRef<readonly T[]> }>();
  readonly #gone = new FinalizationRegistry<string>((name) => {
    // Meanwhile the same may have been asked for anew.
    if (this.#known.get(name)?.array.deref() === undefined) this.#known.delete(name);
  });

  /**
   * @param ids which objects they are now
   * @param same what becomes of `ids` where the array is there already
   * @param make makes it, and may change `ids`
   */
  get(name: string, ids: Ids, same: (ids: Ids) => void, make: (ids: Ids) => readonly T[]): readonly T[] {
    const known = this.#known.get(name);
    const held = known?.array.deref();
    if (known !== undefined && held !== undefined && known.ids.length === ids.length && sameItems(known.ids, ids)) {
      same(ids);
      return held;
    }
    const kept = ids.slice() as Ids;
    const array = make(ids);
    this.#known.set(name, { ids: kept, array: new WeakRef(array) });
    this.#gone.register(array, name);
    return array;
  }

  clear(): void {
    this.#known.clear();
  }
}

/** The same for texts, which are what they name. */
export class StableTexts {
  readonly #arrays = new StableArrays<string, string[]>();

  get(name: string, texts: string[]): readonly string[] {
    return this.#arrays.get(name, texts, () => {}, Object.freeze);
  }

  clear(): void {
    this.#arrays.clear();
  }
}

function sameItems(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  return Array.prototype.every.call(a, (item, i) => item === b[i]);
}
