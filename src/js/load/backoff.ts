import { RETRY } from "../wire/bounds.js";

/**
 * How long it is until the WebAssembly or a worker is tried again. So the core waits between two tries to connect, which is not there yet, or not
 * asked.
 *
 * @param failed how many tries have failed
 * @param random from 0 up to 1
 */
export function backoff(failed: number, random: number): number {
  const { initialMs, factor, capMs, jitter } = RETRY;
  return Math.min(initialMs * factor ** (failed - 1), capMs) * (1 + random * jitter);
}
