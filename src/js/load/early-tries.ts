import { EARLY_PERIOD_MS, MAX_EARLY_TRIES } from "../wire/bounds.js";

/**
 * The tries that came before their time. A button that is pressed works at once, and code that asks at each failure makes no loop. The core has the
 * same rule (src/reflector/early.rs).
 */
export class EarlyTries {
  readonly #taken: number[] = [];

  /** Whether there may be one more now, which counts it. */
  take(): boolean {
    const now = Date.now();
    if (this.#taken.length === MAX_EARLY_TRIES && now - this.#taken[0]! < EARLY_PERIOD_MS) return false;
    this.#taken.push(now);
    if (this.#taken.length > MAX_EARLY_TRIES) this.#taken.shift();
    return true;
  }
}
