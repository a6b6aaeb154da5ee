// A table as it was at one version.

/** @typedef {import("./object-version.mjs").ObjectVersion} ObjectVersion */

/**
 * The objects of one resource, as far as a snapshot needs them.
 * @typedef {object} Table
 * @property {Map<string, ObjectVersion>} current
 * @property {string[]} keys in byte order
 * @property {import("./window.mjs").EventWindow} window
 */

/**
 * What a page is cut from.
 * @typedef {object} State
 * @property {number} version
 * @property {(key: string) => ObjectVersion | undefined} get
 * @property {(prefix: string, from?: string) => Iterable<ObjectVersion>} range objects in key order: those whose key begins with `prefix`
 *   and is not below `from`
 * @property {(prefix: string, from: string) => number} count how many `range` would give, without visiting them
 */

/**
 * The current objects, with the events since undone: quick to make, and to be read within one synchronous step.
 * @implements {State}
 */
export class Snapshot {
  /** @param {Table} table @param {number} version */
  constructor(table, version) {
    this.table = table;
    this.version = version;
    /** What differs from the current objects; null: was not there. @type {Map<string, ObjectVersion | null>} */
    this.undone = new Map();
    const { window } = table;
    for (let position = window.end - 1; position >= window.first && window.at(position).version > version; position -= 1) {
      const event = window.at(position);
      this.undone.set(event.key, event.previous);
    }
    /** Keys that were there and are no more, in byte order. */
    this.gone = [...this.undone].filter(([key, was]) => was && !table.current.has(key)).map(([key]) => key);
    this.gone.sort();
  }

  /** @param {string} key */
  get(key) {
    const undone = this.undone.get(key);
    return undone === undefined ? this.table.current.get(key) : (undone ?? undefined);
  }

  /** @param {string} prefix @param {string} [from] @returns {Generator<ObjectVersion, void>} */
  *range(prefix, from = prefix) {
    const { keys } = this.table;
    let next = lowerBound(keys, from);
    let nextGone = lowerBound(this.gone, from);
    for (;;) {
      const key = keys[next];
      const gone = this.gone[nextGone];
      const chosen = gone === undefined || (key !== undefined && key < gone) ? key : gone;
      if (chosen === undefined || !chosen.startsWith(prefix)) return;
      if (chosen === gone) nextGone += 1;
      else next += 1;
      const object = this.get(chosen);
      if (object) yield object;
    }
  }

  /** @param {string} prefix @param {string} from */
  count(prefix, from) {
    const { keys } = this.table;
    const end = prefixEnd(prefix);
    const within = (/** @type {string} */ key) => key >= from && key < end;
    let count = lowerBound(keys, end) - lowerBound(keys, from) + lowerBound(this.gone, end) - lowerBound(this.gone, from);
    for (const [key, was] of this.undone) if (!was && within(key) && this.table.current.has(key)) count -= 1;
    return Math.max(count, 0);
  }
}

/**
 * The objects themselves, for who comes back for more. A list in pages may take longer than the window reaches back. So it is in the
 * original, where storage remembers for longer than the watch cache.
 * @implements {State}
 */
export class HeldState {
  /** @param {Snapshot} snapshot */
  constructor(snapshot) {
    this.version = snapshot.version;
    this.objects = [...snapshot.range("/")];
    this.keys = this.objects.map((object) => object.key);
  }

  /** @param {string} key */
  get(key) {
    const at = lowerBound(this.keys, key);
    return this.keys[at] === key ? this.objects[at] : undefined;
  }

  /** @param {string} prefix @param {string} [from] */
  range(prefix, from = prefix) {
    return this.objects.slice(lowerBound(this.keys, from), lowerBound(this.keys, prefixEnd(prefix)));
  }

  /** @param {string} prefix @param {string} from */
  count(prefix, from) {
    return this.range(prefix, from).length;
  }
}

/** First index whose key is not below `key`. @param {string[]} keys @param {string} key */
export function lowerBound(keys, key) {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The smallest text above everything that begins with a prefix. Keys are ASCII. @param {string} prefix */
function prefixEnd(prefix) {
  return `${prefix}\uffff`;
}
