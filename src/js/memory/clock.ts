import { timer } from "../host/timer.js";
import type { HostAbortSignal } from "../host/types.js";
import { bindable, bindMethods } from "../language/bound.js";
import { printable } from "../language/printing.js";
import { moment, span } from "./options.js";
import type { MemoryClock, VirtualClock } from "./types.js";

/**
 * The host's clock, looked up at each use: a test runner may have put its own in place.
 * @internal
 */
export const hostClock: MemoryClock = {
  now: () => Date.now(),
  setTimeout: timer,
  clearTimeout: (timer: any) => clearTimeout(timer),
};

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

/** Microtasks between two calls of a virtual clock: enough for an answer to reach who waits for it. */
const MICROTASKS = 20;

class Virtual implements VirtualClock {
  #now: number;
  /** How far it is to move: calls of `advance` add up, also those that are made while another one moves it. */
  #until: number;
  /** The one that falls due first comes last. Of equal ones the first is the older. */
  readonly #timers: Timer[] = [];

  constructor(now: number) {
    bindable(this);
    this.#now = this.#until = moment(now, "now");
  }

  now(): number {
    return this.#now;
  }

  setTimeout(call: () => void, ms: number): unknown {
    const timer = { at: this.#now + Math.max(0, ms), call };
    let [at, end] = [0, this.#timers.length];
    while (at < end) {
      const middle = (at + end) >> 1;
      if (this.#timers[middle]!.at > timer.at) at = middle + 1;
      else end = middle;
    }
    this.#timers.splice(at, 0, timer);
    return timer;
  }

  clearTimeout(timer: unknown): void {
    const at = this.#timers.lastIndexOf(timer as Timer);
    if (at >= 0) this.#timers.splice(at, 1);
  }

  async advance(ms: number): Promise<void> {
    const until = (this.#until = Math.max(this.#now, this.#until) + span(ms, "ms"));
    const thrown: unknown[] = [];
    for (;;) {
      // What was called may ask for a call of its own before the time is over.
      for (let i = 0; i < MICROTASKS; i++) await undefined;
      const next = this.#timers.at(-1);
      if (next === undefined || next.at > until) break;
      this.#timers.pop();
      this.#now = Math.max(this.#now, next.at);
      try {
        next.call();
      } catch (error) {
        thrown.push(error);
      }
    }
    this.#now = Math.max(this.#now, until);
    if (thrown.length > 0) throw thrown[0];
  }
}

bindMethods(Virtual.prototype);
printable(Virtual.prototype, "VirtualClock", (clock) => ({ now: clock.now() }));

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
