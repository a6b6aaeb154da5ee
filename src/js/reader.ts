import { toError, WatchCacheError } from "./errors.js";
import { deepFreeze, isObject, type ObjectTable } from "./objects.js";

/** How an informer sees objects. */
export interface Reader {
  /** The object of an id whose pin `holder` owns. */
  read(id: number, holder: object): unknown;
  /** The object of an id that was just handed out, taking over its pin. */
  take(id: number): unknown;
}

/** Objects as a function of the user makes them: of each version once, for as long as anyone holds the result. */
export class Transformed implements Reader {
  readonly #table: ObjectTable;
  readonly #transform: (object: any) => unknown;
  readonly #resource: string;
  readonly #freeze: boolean;
  readonly #known = new Map<number, WeakRef<object>>();
  /** A result keeps whom its pin belongs to, as decoded objects do. */
  readonly #anchors = new WeakMap<object, object>();
  readonly #gone = new FinalizationRegistry<number>((id) => {
    if (this.#known.get(id)?.deref() === undefined) this.#known.delete(id);
  });

  constructor(table: ObjectTable, transform: (object: any) => unknown, resource: string, freeze: boolean) {
    this.#table = table;
    this.#transform = transform;
    this.#resource = resource;
    this.#freeze = freeze;
  }

  read(id: number, holder: object): unknown {
    const known = this.#known.get(id)?.deref();
    if (known !== undefined) return known;
    const value = this.#make(id);
    if (isObject(value)) this.#anchors.set(value, holder);
    return value;
  }

  take(id: number): unknown {
    const known = this.#known.get(id)?.deref();
    if (known !== undefined) {
      this.#table.giveBack(id);
      return known;
    }
    let value: unknown;
    try {
      value = this.#make(id);
    } catch (error) {
      this.#table.giveBack(id);
      throw error;
    }
    if (isObject(value)) this.#table.hold(value, id);
    else this.#table.giveBack(id);
    return value;
  }

  #make(id: number): unknown {
    // A copy of its own: what other readers share stays as it is.
    const copy = this.#table.copy(id);
    let value: unknown;
    try {
      value = this.#transform(copy);
    } catch (error) {
      const { raw } = this.#table;
      const message = `transform failed for ${raw.key(id)} at ${raw.version(id)}: ${toError(error).message}`;
      throw new WatchCacheError("decode", message, { resource: this.#resource, cause: error });
    }
    if (!isObject(value)) return value;
    if (this.#freeze) deepFreeze(value);
    this.#known.set(id, new WeakRef(value));
    this.#gone.register(value, id);
    return value;
  }
}
