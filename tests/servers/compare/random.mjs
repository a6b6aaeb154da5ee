/**
 * Chance that can be repeated: everything random in a comparison comes from one seed.
 * @module
 */

/** A small generator (mulberry32) with the questions a trace has. */
export class Random {
  #state;

  /** @param {number} seed an unsigned 32-bit number */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number in [0, below). @param {number} below */
  below(below) {
    return Math.floor(this.next() * below);
  }

  /** @param {number} low @param {number} high both inclusive */
  between(low, high) {
    return low + this.below(high - low + 1);
  }

  /** True with this probability. @param {number} probability */
  chance(probability) {
    return this.next() < probability;
  }

  /** @template T @param {readonly T[]} list @returns {T} */
  pick(list) {
    return list[this.below(list.length)];
  }

  /**
   * One of several by weight.
   * @template T @param {readonly (readonly [number, T])[]} choices weight and value
   * @returns {T}
   */
  weighted(choices) {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of choices) if ((left -= weight) < 0) return value;
    return choices[choices.length - 1][1];
  }
}
