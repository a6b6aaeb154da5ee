/** So many times the other way has its turn, then the plain one. What they took is compared after both. */
const TURN = 512;

/** Ticks a millisecond. Clocks that are finer would tick every time. */
const TICKS = 10;

/** So many ticks more make it clear, so that some odd ones decide nothing. */
const CLEAR = 30;

/** What is not clear by then does not pay: a clock may stand still. */
const MAX_TIMES = 1 << 15;

/** What holds something for the sake of the other way. */
interface Holder {
  letGo(): void;
}

/**
 * Whether another way to do a thing is clearly quicker here than the plain one. Engines differ in that, and a page runs in one of them. Both
 * ways have turns at the work that comes. In the slower one a coarse clock ticks more often, and so does one that jitters. What a busy machine
 * or a collector takes meets either way for as long as it runs.
 */
export class Trial {
  /** Undefined until it is known. */
  pays: boolean | undefined;
  /** Who lets go when it is known not to pay. */
  readonly holders = new Set<Holder>();
  readonly #now: () => number;
  /** Below 0 they do not count: code is slow when it is new. */
  #times = -2 * TURN;
  #score = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether the plain way has its turn. */
  get isPlain(): boolean {
    return this.pays === undefined && (this.#times & TURN) > 0;
  }

  /** The clock, while it is of interest. */
  tick(): number {
    return this.pays === undefined ? Math.floor(this.#now() * TICKS) : 0;
  }

  /** Hears that who has its turn did the work once, and when it began. */
  done(began: number): void {
    if (this.pays !== undefined) return;
    if (this.#times >= 0 && this.tick() > began) this.#score += this.isPlain ? 1 : -1;
    if (++this.#times % (2 * TURN) !== 0) return;
    if (this.#score >= CLEAR) this.pays = true;
    else if (this.#score <= -CLEAR || this.#times >= MAX_TIMES) {
      this.pays = false;
      for (const holder of this.holders) holder.letGo();
    }
  }
}
