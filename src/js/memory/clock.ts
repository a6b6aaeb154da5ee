import type { HostAbortSignal } from "../host-types.js";
import type { MemoryClock, VirtualClock } from "./types.js";

/** A longer timer of the host would fire at once. */
const MAX_TIMER_MS = 0x7fff_ffff;

/**
 * The host's clock, looked up at each use: a test runner may have put its own in place.
 * @internal
 */
export const hostClock: MemoryClock = {
  now: () => Date.now(),
  setTimeout: (call, ms) => setTimeout(call, Math.min(ms, MAX_TIMER_MS)),
  clearTimeout: (timer: any) => clearTimeout(timer),
};

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

/** Rounds of microtasks between two calls of a virtual clock: enough for an answer to reach who waits for it. */
const ROUNDS = 20;

class Virtual implements VirtualClock {
  #now: number;
  readonly #timers = new Set<Timer>();

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(call: () => void, ms: number): unknown {
    const timer = { at: this.#now + Math.max(0, ms), call };
    this.#timers.add(timer);
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as Timer);
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      // What was called may ask for a call of its own before the time is over.
      for (let round = 0; round < ROUNDS; round++) await undefined;
      let next: Timer | undefined;
      for (const timer of this.#timers) if (timer.at <= until && !(next && next.at <= timer.at)) next = timer;
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.call();
    }
    this.#now = until;
  }
}

/**
 * A clock for `memorySource({ clock })` that moves only by `advance`.
 *
 * @param now where it begins, in milliseconds since 1970
 */
export function virtualClock(now = 0): VirtualClock {
  return new Virtual(now);
}

/**
 * Waits by a clock. Rejects with the signal's reason when that is aborted; `Infinity` waits for nothing else.
 * @internal
 */
export function sleep(clock: MemoryClock, ms: number, signal: HostAbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = ms === Infinity ? undefined : clock.setTimeout(done, ms);
    signal.addEventListener("abort", abort);
    function done(): void {
      signal.removeEventListener("abort", abort);
      resolve();
    }
    function abort(): void {
      signal.removeEventListener("abort", abort);
      if (timer !== undefined) clock.clearTimeout(timer);
      reject(signal.reason);
    }
  });
}
