import { printable, words } from "../language/printing.js";
import type { Path } from "../object/path.js";
import type { Mutable } from "../object/readonly.js";
import { text } from "../options/kinds.js";
import {
  NOTIFICATION_ADDED,
  NOTIFICATION_DELETED,
  NOTIFICATION_DELETED_UNSEEN,
  NOTIFICATION_INITIALLY_ADDED,
  NOTIFICATION_RESYNCED,
  NOTIFICATION_TYPES,
  NOTIFICATION_UPDATED,
} from "../wire/numbers.js";
import type { Facts } from "../wire/facts.js";
import type { Lease } from "../wire/objects.js";
import type { Reader } from "./reader.js";
import type { Deleted, InformerEvent as Shape, NotificationBase } from "./types.js";

/** One notification, shared by all handlers that see objects in the same way. */
class InformerEvent<T> implements NotificationBase {
  // In this order: Chromium's console shows the first five, and numbers of ours mean nothing to anybody.
  readonly #type: Shape<T>["type"];
  #key: string | undefined;
  #version: string | undefined;
  #object: T | undefined;
  #oldObject: T | undefined;
  readonly kind: number;
  /** Holds the pins of both objects, in two slots. */
  readonly #lease: Lease;
  readonly #slot: number;
  readonly #reader: Reader;
  readonly #id: number;
  readonly #old: number;
  /** Itself, or the notification that this one tells in another form. The owner has the pins, and keeps the decoded objects. */
  readonly #owner: InformerEvent<any>;
  /** The same notification for other readers. */
  #byReader: Map<Reader, InformerEvent<any>> | undefined;
  /** The notification that was told before this one, where others between them were not. It has the old object. */
  #before: InformerEvent<T> | undefined;
  /** Version and key, and the fields that were read, for the next who reads them. */
  #facts: Facts | undefined;
  /** Paths that were asked for whether they changed, for the next who asks. */
  #changed: Map<Path, boolean> | undefined;

  constructor(lease: Lease, kind: number, id: number, old: number, reader: Reader = lease.table, owner?: InformerEvent<any>) {
    this.kind = kind;
    this.#type = NOTIFICATION_TYPES[kind]!;
    this.#lease = lease;
    this.#reader = reader;
    this.#id = id;
    this.#old = old;
    this.#owner = owner ?? this;
    this.#slot = owner === undefined ? lease.add(id) : owner.#slot;
    if (owner === undefined) lease.add(old);
  }

  /** The same notification as another informer sees it. */
  seenBy(reader: Reader): InformerEvent<T> {
    if (reader === this.#reader) return this;
    let seen = this.#byReader?.get(reader);
    if (seen === undefined) {
      seen = new InformerEvent(this.#lease, this.kind, this.#id, this.#old, reader, this.#owner);
      (this.#byReader ??= new Map()).set(reader, seen);
    }
    return seen;
  }

  /** The object came to pass a filter. */
  asAddition(): InformerEvent<T> {
    return new InformerEvent(this.#lease, NOTIFICATION_ADDED, this.#id, 0, this.#reader, this.#owner);
  }

  /** The object ceased to pass a filter: its last state that did. */
  asDeletion(): InformerEvent<T> {
    return new InformerEvent(this.#lease, NOTIFICATION_DELETED, this.#old, this.#old, this.#reader, this.#owner);
  }

  /** What lies between was not told: the old object is that of an earlier notification. */
  asUpdateSince(before: InformerEvent<T>): InformerEvent<T> {
    const update = new InformerEvent<T>(this.#lease, NOTIFICATION_UPDATED, this.#id, this.#old, this.#reader, this.#owner);
    update.#before = before;
    return update;
  }

  get type(): Shape<T>["type"] {
    return this.#type;
  }

  get key(): string {
    return this.#key ?? this.#name()[1];
  }

  get resourceVersion(): string {
    return this.#version ?? this.#name()[0];
  }

  get object(): T {
    if (this.#id === 0) return undefined as T;
    return (this.#object ??= this.#read(this.#id) as T);
  }

  get oldObject(): T | undefined {
    if (this.#before !== undefined) return this.#before.oldObject;
    return this.#old === 0 ? undefined : (this.#oldObject ??= this.#read(this.#old) as T);
  }

  get(path: Path): unknown {
    text(path, "path");
    return this.#id === 0 ? undefined : this.#told().get(path);
  }

  getOld(path: Path): unknown {
    text(path, "path");
    if (this.#before !== undefined) return this.#before.getOld(path);
    return this.#old === 0 ? undefined : this.#lease.table.ask((raw) => raw.field(this.#old, path));
  }

  changed(path: Path): boolean {
    text(path, "path");
    if (this.#id === 0 || this.resync) return false;
    const known = this.#changed?.get(path);
    if (known !== undefined) return known;
    let told: InformerEvent<T> = this;
    while (told.#before !== undefined) told = told.#before;
    const differs = this.#lease.table.ask((raw) => raw.changed(this.#id, told.#old, path));
    const changed = differs || this.kind !== NOTIFICATION_UPDATED;
    (this.#changed ??= new Map()).set(path, changed);
    return changed;
  }

  get isInInitialList(): boolean {
    return this.kind === NOTIFICATION_INITIALLY_ADDED;
  }

  get resync(): boolean {
    return this.kind === NOTIFICATION_RESYNCED;
  }

  get finalStateUnknown(): boolean {
    return this.kind === NOTIFICATION_DELETED_UNSEEN;
  }

  /** For `JSON.stringify`, which does not see getters of a prototype. */
  toJSON(): { type: string; key: string; object: T } {
    return { type: this.type, key: this.key, object: this.object };
  }

  /** Such as `update default/web-1 @123`. */
  toString(): string {
    return words(this.type, () => [this.key, this.resourceVersion]);
  }

  #name(): [version: string, key: string] {
    const { version, key } = this.#id === 0 ? { version: "", key: "" } : this.#told();
    return [(this.#version = version), (this.#key = key)];
  }

  #told(): Facts {
    const owner = this.#owner;
    return (this.#facts ??= owner !== this && owner.#id === this.#id ? owner.#told() : this.#lease.table.facts(this.#id));
  }

  /** An object may take over its pin when it is decoded. The owner keeps that object, for all forms of the notification. */
  #read(id: number): unknown {
    const [lease, owner] = [this.#lease, this.#owner];
    if (this.#reader !== lease.table) return this.#reader.read(id, lease, 0);
    if (id === owner.#id) return (owner.#object ??= lease.table.read(id, lease, owner.#slot));
    return (owner.#oldObject ??= lease.table.read(id, lease, owner.#slot + 1));
  }
}

/** A deletion as `onDelete` gets it. */
export class DeletedObject<T> implements Deleted<T, Mutable> {
  readonly key: string;
  readonly finalStateUnknown: boolean;
  readonly #notification: InformerEvent<T>;

  constructor(notification: InformerEvent<T>) {
    this.key = notification.key;
    this.finalStateUnknown = notification.finalStateUnknown;
    this.#notification = notification;
  }

  get object(): T {
    return this.#notification.object;
  }

  toJSON(): { key: string; object: T; finalStateUnknown: boolean } {
    const { key, object, finalStateUnknown } = this;
    return { key, object, finalStateUnknown };
  }

  /** Such as `delete default/web-1 @123`. */
  toString(): string {
    return String(this.#notification);
  }
}

printable(InformerEvent.prototype, "InformerEvent", String);
printable(DeletedObject.prototype, "DeletedObject", String);

// Chromium's console shows the name of the class.
export { InformerEvent as Notification };
