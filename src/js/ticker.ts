/** What a ticker calls when its time has come. */
export interface Ticking {
  tick(): void;
}

/** An animation frame that has not come after this many milliseconds will not come soon: the page is hidden, or its thread is busy. */
const FRAME_OVERDUE_MS = 250;
/** Where there are no animation frames. */
const FRAME_MS = 16;

/** Calls views that have changed, once each, with the next animation frame or in the next microtask. */
export class Ticker {
  readonly #mode: "frame" | "microtask";
  readonly #report: (error: unknown) => void;
  #changed = new Set<Ticking>();
  #urgent = new Set<Ticking>();
  #cancel: (() => void) | undefined;

  constructor(mode: "frame" | "microtask", report: (error: unknown) => void) {
    this.#mode = mode;
    this.#report = report;
  }

  /** Calls it with the next flush. */
  add(view: Ticking): void {
    if (this.#mode === "microtask") {
      this.soon(view);
      return;
    }
    this.#changed.add(view);
    this.#cancel ??= nextFrame(() => {
      this.#cancel = undefined;
      const views = this.#changed;
      this.#changed = new Set();
      this.#run(views);
    });
  }

  /** Calls it in the next microtask, whatever the mode. */
  soon(view: Ticking): void {
    this.#changed.delete(view);
    this.#urgent.add(view);
    if (this.#urgent.size > 1) return;
    queueMicrotask(() => {
      const views = this.#urgent;
      this.#urgent = new Set();
      this.#run(views);
    });
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#changed.clear();
    this.#urgent.clear();
  }

  #run(views: Set<Ticking>): void {
    for (const view of views) {
      try {
        view.tick();
      } catch (error) {
        this.#report(error);
      }
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
