/** A longer timer of the host would fire at once. */
const MAX_TIMER_MS = 0x7fff_ffff;

/** A timer of the host. One that is longer than the host's can be fires early: who waits for a deadline looks at the clock. */
export function timer(call: () => void, ms: number): ReturnType<typeof setTimeout> {
  return setTimeout(call, Math.min(ms, MAX_TIMER_MS));
}

/** The same timer, which alone is no reason for a process of Node to stay alive. */
export function unheld<T>(timer: T): T {
  (timer as { unref?: () => void } | undefined)?.unref?.();
  return timer;
}
