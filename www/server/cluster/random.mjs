// A seeded generator: equal seeds, equal clusters.

const SUFFIX = "bcdfghjklmnpqrstvwxz2456789";

/** Numbers of the generator mulberry32, and what a cluster needs of them. */
export class Random {
  /** @param {number} seed */
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `low` to `high`, both included. @param {number} low @param {number} high */
  int(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** @param {number} probability */
  chance(probability) {
    return this.next() < probability;
  }

  /** @template T @param {readonly T[]} choices @returns {T} */
  pick(choices) {
    return choices[Math.floor(this.next() * choices.length)];
  }

  /** @template T @param {readonly (readonly [T, number])[]} choices with their weights @returns {T} */
  weighted(choices) {
    let rest = this.next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [choice, weight] of choices) {
      rest -= weight;
      if (rest < 0) return choice;
    }
    return choices[choices.length - 1][0];
  }

  /** @param {number} digits */
  hex(digits) {
    let text = "";
    while (text.length < digits)
      text += Math.floor(this.next() * 2 ** 32)
        .toString(16)
        .padStart(8, "0");
    return text.slice(0, digits);
  }

  uuid() {
    const digits = this.hex(32);
    const variant = "89ab"[parseInt(digits[16], 16) & 3];
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`;
  }

  /** The tail of a generated name. @param {number} length */
  suffix(length) {
    return Array.from({ length }, () => SUFFIX[Math.floor(this.next() * SUFFIX.length)]).join("");
  }
}
