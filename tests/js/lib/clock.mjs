// Clocks that a test turns by hand.
import { mock } from "node:test";

/**
 * Puts timers and clocks into the hands of the test, which moves them on by `mock.timers.tick`. It is a machine that never sleeps.
 *
 * @returns what undoes that
 */
export function turned({ now = 1_000_000, timers = ["setTimeout"] } = {}) {
  mock.timers.enable({ apis: [...timers, "Date"], now });
  const { now: steady } = performance;
  // Not by `mock.method`, which keeps each call and so the object that called.
  performance.now = () => Date.now();
  return () => {
    performance.now = steady;
    mock.timers.reset();
  };
}
