/** What a ticker calls when its time has come. */
export interface Ticking {
  /** Takes in what has changed. Who is to be told is called later, once, however many say so. */
  pull(): Iterable<() => void>;
}

/** An animation frame that has not come after this many milliseconds will not come soon: the page is hidden, or its thread is busy. */
const FRAME_OVERDUE_MS = 250;
/** Where there are no animation frames. */
const FRAME_MS = 16;

/**
 * Calls views that have changed with the next animation frame or in the next microtask. All of them take in their changes before anybody is
 * told. So whoever reads two of them sees one state.
 */
export class Ticker {
  readonly #mode: "frame" | "microtask";
  readonly #report: (error: unknown) => void;
  #changed = new Set<Ticking>();
  #cancel: (() => void) | undefined;
  #soon = false;

  constructor(mode: "frame" | "microtask", report: (error: unknown) => void) {
    this.#mode = mode;
    this.#report = report;
  }

  /** Calls it with the next flush. */
  add(view: Ticking): void {
    if (this.#mode === "microtask") return this.soon(view);
    this.#changed.add(view);
    if (!this.#soon) this.#cancel ??= nextFrame(() => this.#run());
  }

  /** Calls it in the next microtask, whatever the mode, and whoever else waits with it. */
  soon(view: Ticking): void {
    this.#changed.add(view);
    if (this.#soon) return;
    this.#soon = true;
    queueMicrotask(() => {
      // A frame that came first has called them: what was added since waits for its own.
      if (this.#soon) this.#run();
    });
  }

  /** It is gone. */
  remove(view: Ticking): void {
    this.#changed.delete(view);
  }

  #run(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#soon = false;
    const views = this.#changed;
    this.#changed = new Set();
    const told = new Set<() => void>();
    for (const view of views) this.#try(() => [...view.pull()].forEach((tell) => told.add(tell)));
    for (const tell of told) this.#try(tell);
  }

  #try(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#report(error);
    }
  }
}

/** Animation frames stop while a page is hidden, also one that was asked for before: a timer stands behind each. */
function nextFrame(call: () => void): () => void {
  const hidden = typeof document === "object" && document.visibilityState === "hidden";
  const frames = typeof requestAnimationFrame === "function" && !hidden;
  const run = () => {
    cancel();
    call();
  };
  const frame = frames ? requestAnimationFrame(run) : undefined;
  const timer = setTimeout(run, frames ? FRAME_OVERDUE_MS : FRAME_MS);
  const cancel = () => {
    clearTimeout(timer);
    if (frame !== undefined) cancelAnimationFrame(frame);
  };
  return cancel;
}
