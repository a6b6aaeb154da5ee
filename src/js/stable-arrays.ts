/** Arrays by what was asked for, for as long as anyone holds them: who asks for the same again gets the same array while it would hold the same. */
export class StableArrays<T> {
  readonly #known = new Map<string, { ids: Float64Array; array: WeakRef<readonly T[]> }>();
  readonly #gone = new FinalizationRegistry<string>((name) => {
    // Meanwhile the same may have been asked for anew.
    if (this.#known.get(name)?.array.deref() === undefined) this.#known.delete(name);
  });

  /**
   * @param ids which objects they are now
   * @param same what becomes of `ids` where the array is there already
   * @param make makes it, and may change `ids`
   */
  get(name: string, ids: Float64Array, same: (ids: Float64Array) => void, make: (ids: Float64Array) => readonly T[]): readonly T[] {
    const known = this.#known.get(name);
    const held = known?.array.deref();
    if (known !== undefined && held !== undefined && known.ids.length === ids.length && known.ids.every((id, i) => id === ids[i])) {
      same(ids);
      return held;
    }
    const kept = ids.slice();
    const array = make(ids);
    this.#known.set(name, { ids: kept, array: new WeakRef(array) });
    this.#gone.register(array, name);
    return array;
  }

  clear(): void {
    this.#known.clear();
  }
}
