// The bounded history of one resource: the latest events, oldest first.
import { expired } from "./status.mjs";

/**
 * @typedef {object} StoreEvent
 * @property {number} version
 * @property {string} key
 * @property {import("./object-version.mjs").ObjectVersion | null} current the new content; null after a deletion
 * @property {import("./object-version.mjs").ObjectVersion | null} previous the content before; null when the object is new
 * @property {import("./object-version.mjs").ObjectVersion | null} last last content stamped with this event's version, for a DELETED
 *   frame; made at the first need unless the event is a deletion
 */

/** Positions count events since the server started and only grow, so a reader can keep one and see later whether it was overtaken. */
export class EventWindow {
  /**
   * @param {number} capacity how many events are kept
   * @param {number} version the version the history begins after
   */
  constructor(capacity, version) {
    this.capacity = capacity;
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
    return this.first + this.events.length - this.dead;
  }

  /** @param {number} position */
  at(position) {
    return this.events[position - this.first + this.dead];
  }

  /** Forgets every event; what was before `version` can no longer be asked for. @param {number} version */
  reset(version) {
    this.first = this.end;
    this.events = [];
    this.dead = 0;
    this.listVersion = version;
    this.evicted = false;
  }

  /** @param {StoreEvent} event */
  append(event) {
    this.events.push(event);
    if (this.events.length - this.dead > this.capacity) {
      this.events[this.dead] = /** @type {any} */ (null);
      this.dead += 1;
      this.first += 1;
      this.evicted = true;
      if (this.dead > this.capacity) {
        this.events.splice(0, this.dead);
        this.dead = 0;
      }
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
