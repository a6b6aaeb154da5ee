import type { HostAbortSignal } from "../host-types.js";
import { sleep } from "./clock.js";
import type { MemoryClock } from "./types.js";

export type Frame = string | Uint8Array;

/** One open watch. */
export class Stream {
  /** Whether it takes bookmarks. */
  readonly bookmarks: boolean;
  /** It is told of changes behind this version, which may be one that is still to come. */
  readonly after: number;
  readonly #clock: MemoryClock;
  readonly #signal: HostAbortSignal;
  readonly #arrived: Frame[] = [];
  /** When the last frame arrives: frames never overtake each other, however the delay changes. */
  #last = 0;
  #end: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(clock: MemoryClock, signal: HostAbortSignal, after: number, bookmarks: boolean) {
    this.#clock = clock;
    this.#signal = signal;
    this.after = after;
    this.bookmarks = bookmarks;
  }

  /** @param delay in milliseconds; a frame that is still under way when the stream ends is lost */
  push(frame: Frame, delay: number): void {
    const now = this.#clock.now();
    this.#last = Math.max(this.#last, now + delay);
    if (this.#last <= now) return this.#arrive(frame);
    sleep(this.#clock, this.#last - now, this.#signal).then(
      () => this.#arrive(frame),
      () => {},
    );
  }

  /** @param error what it breaks with; undefined: it ends in order */
  end(error?: unknown): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  /** What has arrived, until the stream ends, the signal is aborted, or the time is over. */
  async *frames(timeoutSeconds: number | undefined): AsyncGenerator<Frame, void> {
    const end = (): void => this.end();
    const timer = timeoutSeconds === undefined ? undefined : this.#clock.setTimeout(end, timeoutSeconds * 1_000);
    // In Node a timer alone is no reason to stay alive.
    (timer as { unref?: () => void } | undefined)?.unref?.();
    this.#signal.addEventListener("abort", end);
    try {
      while (!this.#signal.aborted) {
        if (this.#arrived.length > 0) yield this.#arrived.shift()!;
        else if (this.#end === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else if (this.#end.error === undefined) return;
        else throw this.#end.error;
      }
    } finally {
      this.#signal.removeEventListener("abort", end);
      this.#clock.clearTimeout(timer);
    }
  }

  #arrive(frame: Frame): void {
    if (this.#end !== undefined) return;
    this.#arrived.push(frame);
    this.#wake?.();
  }
}
