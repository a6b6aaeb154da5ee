import { now } from "../host/sleep.js";
import { timer, unheld } from "../host/timer.js";

/** So long a resource keeps its objects after its stream was closed for want of users. */
const MAX_IDLE_MS = 300_000;

/**
 * Who uses a resource. Without a user for `linger` it goes idle: its stream closes, its objects stay. Without a read for five minutes
 * more, they go too. A component that unmounts and mounts again, or a script that reads now and then, so finds everything in place.
 */
export class Usage {
  readonly #linger: number;
  readonly #idle: () => void;
  readonly #evict: () => void;
  #users = 0;
  #lastUse = 0;
  #isIdle = false;
  #closed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(linger: number, onIdle: () => void, onEvict: () => void) {
    this.#linger = linger;
    this.#idle = onIdle;
    this.#evict = onEvict;
  }

  /** A use that lasts until the returned function is called. */
  acquire(): () => void {
    this.#users++;
    this.touch();
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#users--;
      this.touch();
    };
  }

  /** A use that is over at once, such as a read. */
  touch(): void {
    if (this.#closed) return;
    this.#lastUse = now();
    // The timer of an idle resource is the long one.
    if (this.#isIdle) this.#stop();
    this.#isIdle = false;
    if (this.#users === 0 && this.#timer === undefined) this.#arm(this.#linger);
  }

  /** Nothing is to be kept for anybody any more. Uses that end later change nothing. */
  close(): void {
    this.#closed = true;
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(ms: number): void {
    this.#timer = unheld(timer(() => this.#check(), ms));
  }

  #check(): void {
    this.#timer = undefined;
    if (this.#users > 0) return;
    // Time, not ticks: timers of hidden and slept pages are late, and reads since have only noted theirs.
    const unused = now() - this.#lastUse;
    if (!this.#isIdle) {
      if (unused < this.#linger) return this.#arm(this.#linger - unused);
      this.#isIdle = true;
      this.#idle();
    }
    const keep = this.#linger + MAX_IDLE_MS;
    if (unused < keep) return this.#arm(keep - unused);
    this.#evict();
  }
}
