// The bounded history of one resource: the latest events, oldest first.
import { expired } from "./status.mjs";

/**
 * @typedef {object} StoreEvent
 * @property {number} version
 * @property {string} key
 * @property {import("./object-version.mjs").ObjectVersion | null} current the new content; null after a deletion
 * @property {import("./object-version.mjs").ObjectVersion | null} previous the content before; null when the object is new
 * @property {import("./object-version.mjs").ObjectVersion | null} last last content stamped with this event's version, for a DELETED frame.
 *   Made at the first need unless the event is a deletion
 */

/** How long an event stays fresh: the bookmark period and a quarter of it. */
const FRESH_MS = 75_000;
/** The least and the most events that are kept, where no number of them is asked for. */
const LOWER = 100;
const UPPER = 102_400;
/** What the default of `historyBytes` is. */
export const HISTORY_BYTES = 256 * 1024 * 1024;
/** What an event and a version take beside the version's bytes, roughly. */
const ATTENDANTS = 2_048;

/**
 * @typedef {object} WindowBounds
 * @property {number} [history] how many events are kept; without it as many as a watch cache of an API server keeps
 * @property {number} [historyBytes] how many bytes they may take then, beside the objects that are current
 */

/**
 * Positions count events since the server started and only grow, so a reader can keep one and see later whether it was overtaken.
 *
 * Unless their number is pinned, the capacity follows the rule of the apiserver's watch cache. It doubles where the window is full of
 * events that are fresh, and halves where the oldest of its last quarter is not. The bytes are a bound of this server's own.
 */
export class EventWindow {
  /**
   * @param {WindowBounds} bounds
   * @param {number} version the version the history begins after
   * @param {() => number} [now] in milliseconds
   */
  constructor({ history, historyBytes = HISTORY_BYTES }, version, now = () => performance.now()) {
    this.lower = history ?? LOWER;
    this.upper = history ?? UPPER;
    this.capacity = this.lower;
    this.bytesAllowed = history === undefined ? historyBytes : Infinity;
    this.bytes = 0;
    this.now = now;
    /** When the events came. @type {number[]} */
    this.times = [];
    /** @type {StoreEvent[]} */
    this.events = [];
    /** Position of the oldest event. */
    this.first = 0;
    // Evicted events stay at the array's head until enough gathered: shifting the array at each event would cost its length.
    this.dead = 0;
    /** The version that the history begins after. */
    this.listVersion = version;
    this.evicted = false;
  }

  /** Position after the newest event. */
  get end() {
    return this.first + this.length;
  }

  /** @param {number} position */
  at(position) {
    return this.events[position - this.first + this.dead];
  }

  /** Forgets every event; what was before `version` can no longer be asked for. @param {number} version */
  reset(version) {
    this.first = this.end;
    this.events = [];
    this.times = [];
    this.bytes = 0;
    this.dead = 0;
    this.listVersion = version;
    this.evicted = false;
  }

  /** @param {StoreEvent} event */
  append(event) {
    const now = this.now();
    this.#resize(now);
    this.events.push(event);
    this.times.push(now);
    this.bytes += cost(event);
    // The newest stays, whatever it takes.
    while (this.length > this.capacity || (this.bytes > this.bytesAllowed && this.length > 1)) this.#evict();
  }

  /** How many events are kept. */
  get length() {
    return this.events.length - this.dead;
  }

  /** @param {number} now */
  #resize(now) {
    if (this.length < this.capacity) return;
    const age = (/** @type {number} */ position) => now - this.times[position - this.first + this.dead];
    if (age(this.first) < FRESH_MS) this.capacity = Math.min(this.capacity * 2, this.upper);
    else if (age(this.end - Math.max(1, this.capacity >> 2)) > FRESH_MS) this.capacity = Math.max(this.capacity >> 1, this.lower);
  }

  #evict() {
    this.bytes -= cost(this.events[this.dead]);
    this.events[this.dead] = /** @type {any} */ (null);
    this.dead += 1;
    this.first += 1;
    this.evicted = true;
    if (this.dead > this.capacity) {
      this.events.splice(0, this.dead);
      this.times.splice(0, this.dead);
      this.dead = 0;
    }
  }

  /** The oldest version from which the events since can be told without a gap. */
  get oldest() {
    if (!this.evicted || this.end === this.first) return this.listVersion;
    return this.at(this.first).version - 1;
  }

  /** @param {number} version */
  covers(version) {
    return version >= this.oldest;
  }

  /**
   * The position of the first event after a version.
   * @param {number} version
   * @param {string} [text] the version as the client wrote it, for the message
   * @throws {import("./status.mjs").StatusError} 410 when events after that version are gone
   */
  after(version, text = String(version)) {
    if (!this.covers(version)) throw expired(`too old resource version: ${text} (${this.oldest})`);
    let low = this.first;
    let high = this.end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(middle).version <= version) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What an event holds beside the current objects: what it replaced, and the last content of what was deleted. @param {StoreEvent} event */
function cost({ current, previous, last }) {
  return ATTENDANTS + (previous?.bytes.length ?? 0) + (current ? 0 : (last?.bytes.length ?? 0));
}
