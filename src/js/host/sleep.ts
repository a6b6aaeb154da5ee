import { unheld } from "./timer.js";

/** What a cache wants to hear of its page. */
export interface Sleeper {
  /**
   * It is visible, thawed or online again, or the machine has slept: moments when waiting for the next try makes no sense.
   * @param slept how long the machine has slept in all while `performance.now()` stood still, in milliseconds
   */
  wake(slept: number): void;
  /** The page may be kept for the way back: only one without an open connection is. */
  hide(): void;
}

/** The time between two comparisons of the clocks. */
const COMPARE_MS = 10_000;
/** What they may differ by without anybody having slept. */
const DRIFT_MS = 5_000;

const sleepers = new Set<Sleeper>();
let slept = 0;
/** What the sleepers know of. */
let told = 0;
let [wall, steady] = [Date.now(), performance.now()];

/** Milliseconds that only go forward, sleep included: what somebody sets the clock to is no time that has passed. */
export function now(): number {
  const [nextWall, nextSteady] = [Date.now(), performance.now()];
  const gap = nextWall - wall - (nextSteady - steady);
  [wall, steady] = [nextWall, nextSteady];
  // A clock that is set back has not slept.
  if (gap >= DRIFT_MS) slept += gap;
  return nextSteady + slept;
}

/** Wakes everybody if the clocks have gone apart. */
function compareClocks(): void {
  now();
  if (slept === told) return;
  told = slept;
  for (const sleeper of [...sleepers]) sleeper.wake(slept);
}

/**
 * Calls back from now on, until the function that it returns is called.
 *
 * Events are only hints. Some browsers tell nothing when a machine wakes up, and their steady clock has stood still meanwhile. Every
 * deadline would come as late as the machine slept. Comparing the clocks now and then finds that out.
 */
export function onWake(sleeper: Sleeper): () => void {
  compareClocks();
  sleepers.add(sleeper);
  const wake = () => {
    compareClocks();
    sleeper.wake(slept);
  };
  const timer = unheld(setInterval(compareClocks, COMPARE_MS));
  const offs = [() => clearInterval(timer), () => sleepers.delete(sleeper)];
  const on = (target: unknown, type: string, listener: () => void) => {
    if (!(target instanceof EventTarget)) return;
    target.addEventListener(type, listener);
    offs.push(() => target.removeEventListener(type, listener));
  };
  if (typeof document === "object") {
    on(document, "visibilitychange", () => document.visibilityState === "visible" && wake());
    on(document, "resume", wake);
  }
  on(globalThis, "online", wake);
  on(globalThis, "pageshow", wake);
  // Whether the page will be kept is not known here: one with open connections is none that could be.
  on(globalThis, "pagehide", () => sleeper.hide());
  return () => offs.forEach((off) => off());
}
