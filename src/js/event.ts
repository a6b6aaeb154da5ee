import { toError } from "./errors.js";
import type { ObjectTable } from "./objects.js";
import type { Path, WatchEvent } from "./types.js";

const TYPES = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "BOOKMARK", "BOOKMARK"] as const;
const INITIAL_EVENTS_END = 5;
const RESYNC = 6;

/** An event as its subscribers see it. One is made for each event of a flush, whatever the number of its subscribers. */
export class StoredEvent<T> implements WatchEvent<T> {
  readonly #table: ObjectTable;
  readonly #id: number;
  readonly #kind: number;
  #object: T | undefined;
  #key: string | undefined;
  #version: string | undefined;

  constructor(table: ObjectTable, kind: number, id: number) {
    this.#table = table;
    this.#id = id;
    this.#kind = kind;
    table.hold(this, id);
  }

  get type(): WatchEvent<T>["type"] {
    return TYPES[this.#kind]!;
  }

  get key(): string {
    return (this.#key ??= this.#read((raw) => raw.key(this.#id)));
  }

  get resourceVersion(): string {
    return (this.#version ??= this.#read((raw) => raw.version(this.#id)));
  }

  get object(): T {
    return (this.#object ??= this.#table.read(this.#id, this) as T);
  }

  get raw(): Uint8Array {
    return this.#read((raw) => raw.raw(this.#id));
  }

  get(path: Path): unknown {
    return this.#read((raw) => raw.field(this.#id, path));
  }

  get initialEventsEnd(): true | undefined {
    return this.#kind === INITIAL_EVENTS_END ? true : undefined;
  }

  get resync(): true | undefined {
    return this.#kind === RESYNC ? true : undefined;
  }

  /** For `JSON.stringify`, which does not see getters of a prototype. */
  toJSON(): { type: string; object: T } {
    return { type: this.type, object: this.object };
  }

  #read<V>(get: (raw: ObjectTable["raw"]) => V): V {
    try {
      return get(this.#table.raw);
    } catch (error) {
      throw toError(error);
    }
  }
}
