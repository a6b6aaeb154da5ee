import { unheld } from "../host/timer.js";
import type { HostAbortSignal } from "../host/types.js";
import type { MemoryClock } from "./types.js";

export type Frame = string | Uint8Array;

/** A frame that has not arrived yet. */
interface Sent {
  readonly frame: Frame;
  /** None for one that arrives only when a later one does. */
  timer: unknown;
}

/** One open watch. */
export class Stream {
  /** Whether it takes bookmarks. */
  readonly bookmarks: boolean;
  /** It is told of changes behind this version, which may be one that is still to come. */
  readonly after: bigint;
  readonly #clock: MemoryClock;
  readonly #signal: HostAbortSignal;
  readonly #ended: (stream: Stream) => void;
  readonly #arrived: Frame[] = [];
  #underWay: Sent[] = [];
  #end: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  /** @param ended told when it has ended, or its signal was aborted */
  constructor(clock: MemoryClock, signal: HostAbortSignal, after: bigint, bookmarks: boolean, ended: (stream: Stream) => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.after = after;
    this.bookmarks = bookmarks;
    this.#ended = ended;
    signal.addEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => this.end();

  /**
   * Frames never overtake each other: one that arrives brings those along that were sent before it. Order goes by no date, as tests set the date
   * of their host back and forth.
   *
   * @param delay in milliseconds; a frame that is still under way when the stream ends is lost
   */
  push(frame: Frame, delay: number): void {
    if (this.#end !== undefined) return;
    const sent: Sent = { frame, timer: undefined };
    this.#underWay.push(sent);
    if (delay === 0) this.#arrive(sent);
    else if (delay !== Infinity) sent.timer = this.#clock.setTimeout(() => this.#arrive(sent), delay);
  }

  /** @param error what it breaks with; undefined: it ends in order */
  end(error?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    for (const { timer } of this.#underWay.splice(0)) this.#clear(timer);
    this.#signal.removeEventListener("abort", this.#abort);
    this.#ended(this);
    this.#wake?.();
  }

  /** What has arrived, until the stream ends, the signal is aborted, or the time is over. */
  async *frames(timeoutSeconds: number | undefined): AsyncGenerator<Frame, void> {
    const timer = timeoutSeconds === undefined ? undefined : unheld(this.#clock.setTimeout(this.#abort, timeoutSeconds * 1_000));
    try {
      while (!this.#signal.aborted) {
        if (this.#arrived.length > 0) yield this.#arrived.shift()!;
        else if (this.#end === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else if (this.#end.error === undefined) return;
        else throw this.#end.error;
      }
    } finally {
      this.#clear(timer);
      this.end();
    }
  }

  #arrive(last: Sent): void {
    for (const { frame, timer } of this.#underWay.splice(0, this.#underWay.indexOf(last) + 1)) {
      this.#clear(timer);
      this.#arrived.push(frame);
    }
    this.#wake?.();
  }

  #clear(timer: unknown): void {
    if (timer !== undefined) this.#clock.clearTimeout(timer);
  }
}
