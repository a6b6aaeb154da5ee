import { disposable } from "../language/disposable.js";
import type { Mutable } from "../object/readonly.js";
import { type KeyedRows, rowDifference } from "./row-difference.js";
import type { ViewChange, ViewSnapshot } from "./types.js";

/** What the changes of a view are made of. */
interface Changing<R> {
  subscribe(onChange: () => void): () => void;
  getSnapshot(): ViewSnapshot<R, Mutable>;
}

type Result<R> = IteratorResult<ViewChange<R, Mutable>, undefined>;
type Changes<R> = AsyncIterableIterator<ViewChange<R, Mutable>>;

const OVER = { value: undefined, done: true } as const;
const NO_ROWS: KeyedRows<never> = { rows: [], keys: [] };

/**
 * The changes of a view for one reader: each leads from the snapshot that was taken last to the one of now. So nothing waits but the last snapshot,
 * however slow the reader is.
 */
export class ViewChanges<R> {
  readonly #view: Changing<R>;
  readonly #ended: (changes: ViewChanges<R>) => void;
  readonly #waiting: ((result: Result<R>) => void)[] = [];
  /** The last snapshot that was taken. */
  #taken: ViewSnapshot<R, Mutable> | undefined;
  #subscribes = false;
  #unsubscribe: (() => void) | undefined;
  #over = false;
  /** Nobody holds its iterator. */
  #dropped = false;

  /** @param ended called when it is over. */
  constructor(view: Changing<R>, ended: (changes: ViewChanges<R>) => void) {
    this.#view = view;
    this.#ended = ended;
  }

  /** Subscribes with the first call: one that is never read costs nothing. */
  next(): Promise<Result<R>> {
    if (this.#over) return Promise.resolve(OVER);
    if (!this.#subscribes) {
      this.#subscribes = true;
      this.#unsubscribe = this.#view.subscribe(() => this.#serve());
      // A function that derives may have read or ended it amid the first snapshot.
      if (this.#over) {
        this.#unsubscribe();
        return Promise.resolve(OVER);
      }
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#serve();
    });
  }

  /** Ends it. Who waits is told so. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#taken = undefined;
    this.#unsubscribe?.();
    for (const resolve of this.#waiting.splice(0)) resolve(OVER);
    this.#ended(this);
  }

  /** Nobody holds its iterator: it ends when nobody waits any more. */
  dropped(): void {
    this.#dropped = true;
    this.#serve();
  }

  /** Gives the change that is there to the first who waits. The others wait for the next. */
  #serve(): void {
    const snapshot = this.#waiting.length > 0 ? this.#view.getSnapshot() : this.#taken;
    if (snapshot !== this.#taken) {
      const change = { snapshot: snapshot!, ...rowDifference(this.#taken ?? NO_ROWS, snapshot!) };
      this.#taken = snapshot;
      this.#waiting.shift()!({ value: Object.freeze(change), done: false });
    }
    // What is closed does not change any more.
    if (this.#taken?.error?.code === "closed" || (this.#dropped && this.#waiting.length === 0)) this.end();
  }
}

/** Ends those of which nobody holds the iterator. */
const dropped = new FinalizationRegistry<ViewChanges<any>>((changes) => changes.dropped());

/** These changes as users read them. The view knows nothing of it, so one that nobody can read any more is noticed. */
export function iteratorOf<R>(changes: ViewChanges<R>): Changes<R> {
  const end = async () => {
    changes.end();
    return OVER;
  };
  const iterator = { next: () => changes.next(), return: end, [Symbol.asyncIterator]: () => iterator } as Changes<R>;
  disposable(iterator, async () => changes.end());
  dropped.register(iterator, changes);
  return iterator;
}
