import { toError } from "./errors.js";
import type { ObjectTable } from "./objects.js";
import type { Reader } from "./reader.js";
import type { Deleted, InformerEvent, Path } from "./types.js";

/** What the core's numbers mean. */
export const NoticeKind = { added: 0, initiallyAdded: 1, updated: 2, resynced: 3, deleted: 4, deletedUnseen: 5, overflowed: 6 } as const;

const TYPES = ["add", "add", "update", "update", "delete", "delete", "overflow"] as const;

/** One notice, shared by all handlers that see objects in the same way. It owns the pins of both its objects. */
export class Notice<T> implements InformerEvent<T> {
  readonly kind: number;
  readonly #table: ObjectTable;
  readonly #reader: Reader;
  readonly #id: number;
  readonly #old: number;
  /** Who owns the pins: itself, or the notice that this is another sight of. */
  readonly #owner: object;
  #sights: Map<Reader, Notice<any>> | undefined;
  #object: T | undefined;
  #key: string | undefined;
  #version: string | undefined;

  constructor(table: ObjectTable, kind: number, id: number, old: number, reader: Reader = table, owner?: object) {
    this.kind = kind;
    this.#table = table;
    this.#reader = reader;
    this.#id = id;
    this.#old = old;
    this.#owner = owner ?? this;
    if (owner === undefined && id !== 0) table.holdAll(this, [id, old]);
  }

  /** The same notice as another informer sees it. */
  seenBy(reader: Reader): Notice<T> {
    if (reader === this.#reader) return this;
    let sight = this.#sights?.get(reader);
    if (sight === undefined) {
      sight = new Notice(this.#table, this.kind, this.#id, this.#old, reader, this.#owner);
      (this.#sights ??= new Map()).set(reader, sight);
    }
    return sight;
  }

  /** The object came to pass a filter. */
  asAddition(): Notice<T> {
    return new Notice(this.#table, NoticeKind.added, this.#id, 0, this.#reader, this.#owner);
  }

  /** The object ceased to pass a filter: its last state that did. */
  asDeletion(): Notice<T> {
    return new Notice(this.#table, NoticeKind.deleted, this.#old, this.#old, this.#reader, this.#owner);
  }

  get type(): InformerEvent<T>["type"] {
    return TYPES[this.kind]!;
  }

  get key(): string {
    return (this.#key ??= this.#id === 0 ? "" : this.#call((raw) => raw.key(this.#id)));
  }

  get resourceVersion(): string {
    return (this.#version ??= this.#id === 0 ? "" : this.#call((raw) => raw.version(this.#id)));
  }

  get object(): T {
    if (this.#id === 0) return undefined as T;
    return (this.#object ??= this.#reader.read(this.#id, this.#owner) as T);
  }

  get oldObject(): T | undefined {
    // Not held here: an object holds the notice that its pin belongs to, and that would then hold all versions before it.
    return this.#old === 0 ? undefined : (this.#reader.read(this.#old, this.#owner) as T);
  }

  get(path: Path): unknown {
    return this.#id === 0 ? undefined : this.#call((raw) => raw.field(this.#id, path));
  }

  getOld(path: Path): unknown {
    return this.#old === 0 ? undefined : this.#call((raw) => raw.field(this.#old, path));
  }

  get isInInitialList(): boolean {
    return this.kind === NoticeKind.initiallyAdded;
  }

  get resync(): boolean {
    return this.kind === NoticeKind.resynced;
  }

  get finalStateUnknown(): boolean {
    return this.kind === NoticeKind.deletedUnseen;
  }

  /** For `JSON.stringify`, which does not see getters of a prototype. */
  toJSON(): { type: string; key: string; object: T } {
    return { type: this.type, key: this.key, object: this.object };
  }

  #call<V>(read: (raw: ObjectTable["raw"]) => V): V {
    try {
      return read(this.#table.raw);
    } catch (error) {
      throw toError(error);
    }
  }
}

/** A deletion as `onDelete` gets it. */
export class DeletedObject<T> implements Deleted<T> {
  readonly #notice: Notice<T>;

  constructor(notice: Notice<T>) {
    this.#notice = notice;
  }

  get key(): string {
    return this.#notice.key;
  }

  get object(): T {
    return this.#notice.object;
  }

  get finalStateUnknown(): boolean {
    return this.#notice.finalStateUnknown;
  }
}
