// The multi-version store: one revision counter for all resources, current objects by key, and a bounded history per resource.
import { ObjectVersion } from "./object-version.mjs";
import { keyOf, RESOURCES } from "./resources.mjs";
import { tooLargeVersion } from "./status.mjs";
import { EventWindow } from "./window.mjs";

/** @typedef {import("./resources.mjs").ResourceDefinition} ResourceDefinition */
/** @typedef {import("./window.mjs").StoreEvent} StoreEvent */

/** How long a read waits for a version that is still to come, as an API server does. */
const FRESHNESS_MS = 3_000;
const LOOK_AGAIN_MS = 100;

/** The objects of one resource. */
export class Table {
  /** @param {Store} store @param {ResourceDefinition} definition @param {number} capacity */
  constructor(store, definition, capacity) {
    this.store = store;
    this.definition = definition;
    /** @type {Map<string, ObjectVersion>} */
    this.current = new Map();
    /** Keys in byte order. @type {string[]} */
    this.keys = [];
    this.window = new EventWindow(capacity, store.revision);
    /** Called after every event. @type {Set<() => void>} */
    this.listeners = new Set();
  }

  /** @param {string} key */
  get(key) {
    return this.current.get(key);
  }

  get size() {
    return this.current.size;
  }

  /**
   * Creates or replaces an object.
   * @param {any} object metadata.name (and namespace) set; metadata.resourceVersion is set to the new revision
   */
  put(object) {
    const key = keyOf(this.definition, object.metadata.namespace ?? "", object.metadata.name);
    const previous = this.current.get(key) ?? null;
    const version = this.store.advance();
    const next = new ObjectVersion(this.definition, object, version, previous ? "MODIFIED" : "ADDED");
    if (!previous) this.keys.splice(lowerBound(this.keys, next.key), 0, next.key);
    this.current.set(next.key, next);
    this.#record({ version, key: next.key, current: next, previous, last: null });
    return next;
  }

  /** @param {string} key @returns {ObjectVersion | undefined} the last content, stamped with the revision of the deletion */
  remove(key) {
    const previous = this.current.get(key);
    if (!previous) return undefined;
    const version = this.store.advance();
    const last = previous.restamped(version);
    this.current.delete(key);
    this.keys.splice(lowerBound(this.keys, key), 1);
    this.#record({ version, key, current: null, previous, last });
    return last;
  }

  /** @param {StoreEvent} event */
  #record(event) {
    this.window.append(event);
    for (const listener of this.listeners) listener();
    this.store.changed();
  }

  /**
   * The table as it was at a version that the window still covers.
   * @param {number} version
   */
  snapshot(version) {
    return new Snapshot(this, version);
  }
}

/** A table at one version: the current objects, with the events since undone. Read it within one synchronous step. */
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

  /**
   * Objects in key order.
   * @param {string} prefix only keys that begin so
   * @param {string} [from] only keys from here on
   * @returns {Generator<ObjectVersion, void>}
   */
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

  /**
   * How many objects `range` would give, without visiting them.
   * @param {string} prefix @param {string} from
   */
  count(prefix, from) {
    const { keys } = this.table;
    const end = prefixEnd(prefix);
    const within = (/** @type {string} */ key) => key >= from && key < end;
    let count = lowerBound(keys, end) - lowerBound(keys, from) + lowerBound(this.gone, end) - lowerBound(this.gone, from);
    for (const [key, was] of this.undone) if (!was && within(key) && this.table.current.has(key)) count -= 1;
    return Math.max(count, 0);
  }
}

/** All tables. */
export class Store {
  /** @param {{ history: number }} options `history`: events kept per resource */
  constructor({ history }) {
    this.revision = 0;
    /** Reads that wait for a version to come. @type {Set<() => void>} */
    this.waiters = new Set();
    /** @type {Map<ResourceDefinition, Table>} */
    this.tables = new Map(RESOURCES.map((definition) => [definition, new Table(this, definition, history)]));
  }

  /** @param {ResourceDefinition} definition */
  table(definition) {
    return /** @type {Table} */ (this.tables.get(definition));
  }

  advance() {
    this.revision += 1;
    return this.revision;
  }

  changed() {
    for (const wake of [...this.waiters]) wake();
  }

  /**
   * Forgets all history, as a restart of the server does: the revision moves by one, so that every version given out before is too old.
   */
  compact() {
    this.advance();
    for (const table of this.tables.values()) table.window.reset(this.revision);
    this.changed();
  }

  /**
   * Waits until the counter has reached a version.
   * @param {import("./version.mjs").AskedVersion} asked
   * @param {() => number} [current] the counter as the reader may see it; a replica that lags moves without an event of its own
   * @throws {import("./status.mjs").StatusError} 504 after three seconds
   */
  async reached(asked, current = () => this.revision) {
    const deadline = performance.now() + FRESHNESS_MS;
    while (current() < asked.number) {
      const left = deadline - performance.now();
      if (left <= 0) throw tooLargeVersion(asked.text, current());
      await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.waiters.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, Math.min(left, LOOK_AGAIN_MS));
        this.waiters.add(wake);
      });
    }
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
