import type { WatchCacheError } from "../error/errors.js";
import type { View } from "../view/types.js";
import type { Rows } from "./rows.js";

const NOTHING: ReadonlyMap<string, any> = new Map();

/** A view whose rows a collection holds, for as long as somebody demands them. */
export class Subset<Row extends object> {
  readonly #view: View<Row, any>;
  readonly #rows: Rows<Row>;
  readonly #end: () => void;
  readonly #onState: (() => void) | undefined;
  #shown: readonly Row[] | undefined;
  #known: ReadonlyMap<string, Row> = NOTHING;
  #receipt: true | Promise<void> = true;
  readonly #waiting = new Set<() => void>();
  /** Acquisitions that have not been given back. */
  demands = 0;

  /** @param onState is called when `loaded` or `error` may have changed */
  constructor(view: View<Row, any>, rows: Rows<Row>, onState?: () => void) {
    this.#view = view;
    this.#rows = rows;
    this.#onState = onState;
    this.#end = view.subscribe(() => this.#pull());
    this.#pull();
  }

  /** Its rows are whole. They stay so, whatever the connection does. */
  get loaded(): boolean {
    return this.#shown !== undefined;
  }

  /** Why no rows come before somebody acts. */
  get error(): WatchCacheError | undefined {
    return this.#view.getSnapshot().error;
  }

  /** True once its rows are visible, or a promise of that. It rejects with what ends the first load, and where it is closed. */
  ready(): true | Promise<void> {
    if (this.loaded && this.#receipt === true) return true;
    return new Promise((resolve, reject) => {
      const look = () => {
        const { error } = this;
        if (!this.loaded && error === undefined) return;
        this.#waiting.delete(look);
        if (this.loaded) Promise.resolve(this.#receipt === true ? undefined : this.#receipt).then(resolve, reject);
        else reject(error);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Takes its rows out again. */
  close(): void {
    this.#end();
    this.#rows.replace(this.#known, NOTHING);
    this.abandon();
  }

  /** The collection itself has gone, with its rows. */
  abandon(): void {
    this.#end();
    this.#known = NOTHING;
    this.#view.close();
    for (const look of [...this.#waiting]) look();
  }

  #pull(): void {
    const { rows, keys, loaded } = this.#view.getSnapshot();
    // Rows of a list under way are no whole: a query over them would be wrong.
    if (loaded && rows !== this.#shown) {
      const next = new Map(keys.map((key, at) => [key, rows[at] as Row]));
      const known = this.#known;
      this.#known = next;
      this.#shown = rows as readonly Row[];
      this.#receipt = this.#rows.replace(known, next);
    }
    for (const look of [...this.#waiting]) look();
    this.#onState?.();
  }
}
