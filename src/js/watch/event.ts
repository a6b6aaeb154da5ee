import { printable, words } from "../language/printing.js";
import type { Path } from "../object/path.js";
import { text } from "../options/kinds.js";
import type { Facts } from "../wire/facts.js";
import { EVENT_INITIAL_EVENTS_END, EVENT_RESYNC, EVENT_TYPES, KINDS_OF_EVENTS } from "../wire/numbers.js";
import type { Lease } from "../wire/objects.js";
import type { WatchEvent as Shape, WatchEventBase } from "./types.js";

/** An event as its subscribers see it. One is made for each event of a flush, whatever the number of its subscribers. */
class WatchEvent<T> implements WatchEventBase {
  // In this order: Chromium's console shows the first five, and numbers of ours mean nothing to anybody.
  readonly #type: Shape<T>["type"];
  #key: string | undefined;
  #version: string | undefined;
  #object: T | undefined;
  /** And the fields that were read, for the next who reads them. */
  #facts: Facts | undefined;
  /** Paths that were asked for whether they changed, for the next who asks. */
  #changed: Map<Path, boolean> | undefined;
  readonly #lease: Lease;
  readonly #slot: number;
  readonly #id: number;
  readonly #kind: number;
  /** Of several changes that came as one event: the object before them, which nobody holds for that. Else 0. */
  readonly #before: number;

  constructor(lease: Lease, kind: number, id: number) {
    this.#lease = lease;
    this.#slot = lease.add(id);
    this.#id = id;
    const isMerged = kind >= KINDS_OF_EVENTS;
    this.#kind = isMerged ? kind % KINDS_OF_EVENTS : kind;
    this.#before = isMerged ? Math.floor(kind / KINDS_OF_EVENTS) : 0;
    this.#type = EVENT_TYPES[this.#kind]!;
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
    return (this.#object ??= this.#lease.table.read(this.#id, this.#lease, this.#slot) as T);
  }

  get raw(): Uint8Array {
    return this.#lease.table.ask((raw) => raw.raw(this.#id));
  }

  get(path: Path): unknown {
    return this.#told().get(text(path, "path"));
  }

  changed(path: Path): boolean {
    text(path, "path");
    if (this.#type === "BOOKMARK" || this.#type === "ERROR") return false;
    const known = this.#changed?.get(path);
    if (known !== undefined) return known;
    const differs = this.#lease.table.ask((raw) => raw.changed(this.#id, this.#before, path));
    const changed = differs || this.#type !== "MODIFIED";
    (this.#changed ??= new Map()).set(path, changed);
    return changed;
  }

  get initialEventsEnd(): true | undefined {
    return this.#kind === EVENT_INITIAL_EVENTS_END ? true : undefined;
  }

  get resync(): true | undefined {
    return this.#kind === EVENT_RESYNC ? true : undefined;
  }

  /** For `JSON.stringify`, which does not see getters of a prototype. */
  toJSON(): { type: string; object: T } {
    return { type: this.type, object: this.object };
  }

  /** Such as `ADDED default/web-1 @123`. */
  toString(): string {
    return words(this.type, () => (this.type === "ERROR" ? [String(this.get("message") ?? ""), ""] : [this.key, this.resourceVersion]));
  }

  #name(): [version: string, key: string] {
    const { version, key } = this.#told();
    return [(this.#version = version), (this.#key = key)];
  }

  #told(): Facts {
    return (this.#facts ??= this.#lease.table.facts(this.#id, true));
  }
}

printable(WatchEvent.prototype, "WatchEvent", String);

// Chromium's console shows the name of the class.
export { WatchEvent as StoredEvent };
