import type { WatchCache } from "watchcache";
import type { Feed } from "./feed";
import { statsOf } from "./history";

/** What one second was like. */
export interface Sample {
  /** When it was over, in ms since the epoch. */
  at: number;
  /** Events a second. */
  rate: number;
  /** From the moment a frame was read until the cache had it: µs, the mean of this second's events. Undefined without any. */
  ingest: number | undefined;
  /** The longest task of the page in ms; 0 while all were shorter than the 50 ms from which browsers tell. Undefined where they never do. */
  longest: number | undefined;
}

/** A minute of them. */
export const KEPT = 60;
const DISPATCH = "apiserver_watch_events_dispatch_duration_seconds";
const STAGE = '{stage="storage_to_cache"}';

/** Takes a sample a second, while the page is on the screen. */
export class Samples {
  all: readonly Sample[] = [];
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #longest: number | undefined;
  #before = { at: 0, events: 0, ingested: 0, seconds: 0 };

  constructor(
    readonly cache: WatchCache,
    readonly feed: Feed,
  ) {
    if (PerformanceObserver.supportedEntryTypes.includes("longtask")) {
      this.#longest = 0;
      const observer = new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) this.#longest = Math.max(this.#longest!, duration);
      });
      observer.observe({ type: "longtask" });
    }
    document.addEventListener("visibilitychange", () => this.#run());
    this.#run();
  }

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  #run() {
    clearInterval(this.#timer);
    if (document.hidden) return;
    this.#before = this.#read();
    this.#timer = setInterval(() => this.#take(), 1_000);
  }

  #take() {
    const { at, events, ingested, seconds } = this.#before;
    const now = (this.#before = this.#read());
    const sample: Sample = {
      at: now.at,
      rate: ((now.events - events) * 1_000) / Math.max(1, now.at - at),
      ingest: now.ingested > ingested ? ((now.seconds - seconds) * 1e6) / (now.ingested - ingested) : undefined,
      longest: this.#longest,
    };
    if (this.#longest !== undefined) this.#longest = 0;
    this.all = [...this.all, sample].slice(-KEPT);
    for (const listener of this.#listeners) listener();
  }

  #read() {
    const metrics = statsOf(this.cache)?.metrics;
    return {
      at: Date.now(),
      events: this.feed.events,
      ingested: metrics?.[`${DISPATCH}_count${STAGE}`] ?? 0,
      seconds: metrics?.[`${DISPATCH}_sum${STAGE}`] ?? 0,
    };
  }
}
