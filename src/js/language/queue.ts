/** First in, first out: shifting a long array is slow. */
export class Queue<V> {
  #values: V[] = [];
  /** The place of the first one. */
  #head = 0;

  get isEmpty(): boolean {
    return this.#head === this.#values.length;
  }

  push(value: V): void {
    this.#values.push(value);
  }

  shift(): V | undefined {
    const value = this.#values[this.#head++];
    if (this.#head >= this.#values.length) this.clear();
    return value;
  }

  /** Empties it. Returns what was in it. */
  takeAll(): V[] {
    const values = this.#head === 0 ? this.#values : this.#values.slice(this.#head);
    this.clear();
    return values;
  }

  clear(): void {
    this.#values = [];
    this.#head = 0;
  }
}
