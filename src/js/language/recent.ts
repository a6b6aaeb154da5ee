/** A value, and what was put just after it. */
export interface Entry<K, V> {
  readonly key: K;
  readonly value: V;
  readonly newer: Entry<K, V> | undefined;
}

interface Link<K, V> extends Entry<K, V> {
  older: Link<K, V> | undefined;
  newer: Link<K, V> | undefined;
}

/**
 * A map in the order in which its values were put, the oldest first: for what is kept within a bound. A `Map` has that order, too. But to look at its
 * first entries takes an iterator. Firefox goes through all iterators that were not read to their end, at each deletion, until a collection.
 */
export class Recent<K, V> {
  readonly #links = new Map<K, Link<K, V>>();
  #oldest: Link<K, V> | undefined;
  #newest: Link<K, V> | undefined;

  get size(): number {
    return this.#links.size;
  }

  /** The one that was put longest ago. */
  get oldest(): Entry<K, V> | undefined {
    return this.#oldest;
  }

  has(key: K): boolean {
    return this.#links.has(key);
  }

  get(key: K): V | undefined {
    return this.#links.get(key)?.value;
  }

  /** Puts a value in place of the one of this key. It is the newest now. */
  put(key: K, value: V): void {
    this.delete(key);
    const link: Link<K, V> = { key, value, older: this.#newest, newer: undefined };
    if (this.#newest === undefined) this.#oldest = link;
    else this.#newest.newer = link;
    this.#newest = link;
    this.#links.set(key, link);
  }

  delete(key: K): boolean {
    const link = this.#links.get(key);
    if (link === undefined) return false;
    this.#links.delete(key);
    if (link.older === undefined) this.#oldest = link.newer;
    else link.older.newer = link.newer;
    if (link.newer === undefined) this.#newest = link.older;
    else link.newer.older = link.older;
    return true;
  }

  clear(): void {
    this.#links.clear();
    this.#oldest = this.#newest = undefined;
  }
}
