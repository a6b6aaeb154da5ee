import { atOnce, isRefusal } from "../error/callbacks.js";
import { toError, WatchCacheError } from "../error/errors.js";
import { deepFreeze, isObject, type Lease, type ObjectTable } from "../wire/objects.js";

/** How an informer sees objects. */
export interface Reader {
  /** The object of an id whose pin stands in a slot of a lease. */
  read(id: number, lease: Lease, slot: number): unknown;
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
  readonly #gone = new FinalizationRegistry<number>((id) => {
    if (this.#known.get(id)?.deref() === undefined) this.#known.delete(id);
  });

  constructor(table: ObjectTable, transform: (object: any) => unknown, resource: string, freeze: boolean) {
    this.#table = table;
    this.#transform = transform;
    this.#resource = resource;
    this.#freeze = freeze;
  }

  read(id: number): unknown {
    return this.#known.get(id)?.deref() ?? this.#make(id);
  }

  take(id: number): unknown {
    try {
      return this.read(id);
    } finally {
      // What a transform made is no part of the object: it needs no pin.
      this.#table.giveBack(id);
    }
  }

  #make(id: number): unknown {
    // A copy of its own: what other readers share stays as it is.
    const copy = this.#table.copy(id);
    let value: unknown;
    try {
      value = atOnce("transform", this.#transform, this.#transform(copy));
    } catch (error) {
      if (isRefusal(error)) throw error;
      const { version, key } = this.#table.facts(id);
      const message = `transform failed for ${key} at ${version}: ${toError(error).message}`;
      throw new WatchCacheError("decode", message, { resource: this.#resource, cause: error });
    }
    if (!isObject(value)) return value;
    if (this.#freeze) deepFreeze(value);
    this.#known.set(id, new WeakRef(value));
    this.#gone.register(value, id);
    return value;
  }
}
