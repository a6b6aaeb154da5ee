// The multi-version store: one revision counter for all resources, current objects by key, and a bounded history per resource.
import { ObjectVersion } from "./object-version.mjs";
import { keyOf, RESOURCES } from "./resources.mjs";
import { tooLargeVersion } from "./status.mjs";
import { HeldState, lowerBound, Snapshot } from "./snapshot.mjs";
import { EventWindow } from "./window.mjs";

/** @typedef {import("./resources.mjs").ResourceDefinition} ResourceDefinition */
/** @typedef {import("./window.mjs").StoreEvent} StoreEvent */

/** How long a read waits for a version that is still to come, as an API server does. */
const FRESHNESS_MS = 3_000;
const LOOK_AGAIN_MS = 100;
/** How long the state behind a continue token is held after its last use, and for how many lists at most. */
const HELD_MS = 60_000;
const HELD_LISTS = 4;

/** The objects of one resource. */
export class Table {
  /** @param {Store} store @param {ResourceDefinition} definition @param {import("./window.mjs").WindowBounds} bounds */
  constructor(store, definition, bounds) {
    this.store = store;
    this.definition = definition;
    /** @type {Map<string, ObjectVersion>} */
    this.current = new Map();
    /** Keys in byte order. @type {string[]} */
    this.keys = [];
    this.window = new EventWindow(bounds, store.revision);
    /** Called after every event. @type {Set<() => void>} */
    this.listeners = new Set();
    /** States behind continue tokens, by version. @type {Map<number, HeldState>} */
    this.held = new Map();
    /** @type {Map<number, NodeJS.Timeout>} */
    this.timers = new Map();
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

  /**
   * The same, also where the window no longer reaches but a list in pages is under way.
   * @param {number} version
   * @returns {import("./snapshot.mjs").State | undefined} undefined when that version is gone
   */
  at(version) {
    const held = this.held.get(version);
    if (!held) return this.window.covers(version) ? this.snapshot(version) : undefined;
    this.#hold(held);
    return held;
  }

  /** Keeps the state at a version, where it is still known, for further pages of a list that somebody else began. @param {number} version */
  keep(version) {
    const state = this.at(version);
    if (state) this.hold(state);
  }

  /** Keeps a state for further pages. @param {import("./snapshot.mjs").State} state */
  hold(state) {
    if (state instanceof Snapshot) this.#hold(new HeldState(state));
  }

  /** @param {HeldState} state */
  #hold(state) {
    // The order of a map is that of insertion: the list that was asked for longest ago goes first.
    this.release(state.version);
    this.held.set(state.version, state);
    const timer = setTimeout(() => this.release(state.version), HELD_MS).unref();
    this.timers.set(state.version, timer);
    for (const version of this.held.keys()) if (this.held.size > HELD_LISTS) this.release(version);
  }

  /** @param {number} version */
  release(version) {
    clearTimeout(this.timers.get(version));
    this.timers.delete(version);
    this.held.delete(version);
  }

  /** Forgets all that was. */
  forget() {
    this.window.reset(this.store.revision);
    for (const version of [...this.held.keys()]) this.release(version);
  }
}

/** All tables. */
export class Store {
  /** @param {import("./window.mjs").WindowBounds & { firstVersion?: number }} [options] the bounds are of each resource's history */
  constructor({ firstVersion = 0, ...bounds } = {}) {
    this.revision = firstVersion;
    /** Reads that wait for a version to come. @type {Set<() => void>} */
    this.waiters = new Set();
    /** Called when all history was forgotten. @type {Set<() => void>} */
    this.compactions = new Set();
    /** @type {Map<ResourceDefinition, Table>} */
    this.tables = new Map(RESOURCES.map((definition) => [definition, new Table(this, definition, bounds)]));
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
    for (const table of this.tables.values()) table.forget();
    for (const tell of this.compactions) tell();
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
