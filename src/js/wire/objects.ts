import { toError } from "../error/errors.js";
import { first, printable, printed } from "../language/printing.js";
import { Recent } from "../language/recent.js";
import type { RawResource } from "./raw.js";
import { type Facts, ReadPaths } from "./facts.js";
import { type Patch, renew } from "./renew.js";

/** Documents decoded in one crossing. The core gives fewer where they are large. */
const MAX_DECODED_TOGETHER = 64;

/** Decoded versions that are held for the sake of their successors, where nobody else holds them. */
const MAX_HELD = 256;

/** How long each of them is held while others come, in milliseconds. Nothing stays of what is not read again within it. */
const MAX_HELD_MS = 2_000;

/** Pins of one lease. All of them stay readable as long as one of their events is held. */
const MAX_LEASED = 64;

/**
 * Owns the pins of up to 64 consecutive events. An event holds its lease, so its object stays readable while the event is held. Events share a
 * lease, so the garbage collector tracks one object instead of 64.
 */
export class Lease {
  readonly table: ObjectTable;
  /** 0 where the pin has gone to the decoded object. */
  readonly ids: number[] = [];

  constructor(table: ObjectTable) {
    this.table = table;
  }

  get isFull(): boolean {
    return this.ids.length >= MAX_LEASED;
  }

  /** Takes over a pin. Returns its slot. */
  add(id: number): number {
    return this.ids.push(id) - 1;
  }
}

/** In an array, in place of an object that nobody has read. Chromium's console shows it, because it reads no object. */
const UNDECODED: unknown = new (class Undecoded {})();

const IN_NODE = (globalThis as { process?: unknown }).process !== undefined;

/** An answer to a list. */
class List {
  declare readonly items: readonly unknown[];
  declare readonly raw: Uint8Array;

  constructor(items: readonly unknown[], rest: object, raw: () => Uint8Array) {
    Object.assign(this, { items }, rest);
    // Not enumerable: nobody who prints or copies a list means to copy its bytes, nor to be told twice how many there are.
    Object.defineProperty(this, "raw", { get: raw });
    Object.defineProperty(this, Symbol("count"), { value: items.length });
  }
}

printable(List.prototype, "List", ({ items, ...rest }) => ({ ...rest, items }));

/**
 * Decoded objects by id: at most one for each id, shared by all readers, for as long as anyone holds it. A version is made of the newest one of its
 * object that is still decoded, and shares with it what is equal in both.
 *
 * The core keeps the bytes of an id readable while it is pinned, and pins it each time it hands it out. Here each pin belongs to a
 * holder, a lease or a decoded object, and is given back when the garbage collector has taken its holder.
 */
export class ObjectTable {
  readonly #raw: RawResource;
  readonly #freeze: boolean;
  readonly #readPaths: ReadPaths;
  readonly #known = new Map<number, WeakRef<object>>();
  /** Decoded objects hold a pin each. */
  readonly #decoded = new FinalizationRegistry<number>((id) => {
    // Meanwhile the same id may have been decoded anew.
    if (this.#known.get(id)?.deref() === undefined) this.#known.delete(id);
    this.giveBack(id);
  });
  /** Versions of objects of which an earlier one was decoded lately, too: so the next one will be. */
  readonly #held = new Recent<number, { value: object; since: number }>();
  /** The lease that takes more pins, while somebody holds it. */
  #open: WeakRef<Lease> | undefined;
  /** Lists and leases that are gone give back what was never read of them. */
  readonly #lists = new FinalizationRegistry<Iterable<number>>((ids) => {
    for (const id of ids) if (id !== 0) this.giveBack(id);
  });
  /** Tells the core of collections: what is pinned still after some of them is held by somebody, and no garbage. */
  readonly #collections = new FinalizationRegistry<object | undefined>((survivor) => {
    // It has outlived one collection. The collection that finds it now looks at old objects, and leases are old.
    if (survivor !== undefined) this.#collections.register(survivor, undefined);
    else this.#collected();
  });
  #returns: number[] = [];
  /** Objects decoded so far. */
  decodes = 0;
  /** How many of them were made of another version. */
  renewals = 0;

  constructor(raw: RawResource, freeze: boolean) {
    this.#raw = raw;
    this.#freeze = freeze;
    this.#readPaths = new ReadPaths(raw);
    this.#collections.register({}, {});
  }

  /** A lease with room. */
  lease(): Lease {
    const open = this.#open?.deref();
    if (open !== undefined && !open.isFull) return open;
    const lease = new Lease(this);
    this.#lists.register(lease, lease.ids);
    this.#open = new WeakRef(lease);
    return lease;
  }

  /** The object of an id whose pin is in a slot of a lease. The pin may move to the decoded object. */
  read(id: number, lease: Lease, slot: number): unknown {
    const known = this.#known.get(id)?.deref();
    if (known !== undefined) return known;
    const value = this.#decode(id);
    if (isObject(value)) lease.ids[slot] = 0;
    return value;
  }

  /** The object of an id that was just handed out, taking over its pin. */
  take(id: number): unknown {
    const known = this.#known.get(id)?.deref();
    if (known !== undefined) {
      this.giveBack(id);
      return known;
    }
    let value: unknown;
    try {
      value = this.#decode(id);
    } catch (error) {
      this.giveBack(id);
      throw error;
    }
    if (!isObject(value)) this.giveBack(id);
    return value;
  }

  /** The same for different ids: those that nobody holds are decoded together, in one crossing for many. */
  takeAll(ids: Float64Array): unknown[] {
    const values = Array.from(ids, (id): unknown => this.#known.get(id)?.deref());
    const decoded = new Map<number, unknown>();
    try {
      const unknown = ids.filter((_, at) => values[at] === undefined);
      const before = this.#raw.predecessors(unknown);
      const missing = unknown.filter((id, at) => {
        const renewed = this.#renewed(id, before[at]!);
        if (renewed !== undefined) decoded.set(id, renewed);
        return renewed === undefined;
      });
      for (let from = 0; from < missing.length;) {
        const texts = this.#raw.texts(missing.subarray(from, from + MAX_DECODED_TOGETHER));
        // Parsed one by one: engines take longer for one array of all of them.
        for (const text of texts.split("\0")) decoded.set(missing[from++]!, JSON.parse(text));
      }
    } catch (error) {
      ids.forEach((id) => this.giveBack(id));
      throw toError(error);
    }
    ids.forEach((id, at) => {
      if (!decoded.has(id)) return this.giveBack(id);
      const value = (values[at] = decoded.get(id));
      // Who takes many, as a view its rows, holds them until it takes the next ones.
      this.#keep(id, value, 0);
      if (!isObject(value)) this.giveBack(id);
    });
    return values;
  }

  /**
   * An answer with the objects of ids that were just handed out, as an array that decodes each one when it is first read. Its pins are
   * taken over.
   */
  list<R extends object>(ids: Float64Array, rest: R): R & { readonly items: readonly unknown[]; readonly raw: Uint8Array } {
    // What was decoded is held by the array, and holds its pin.
    const all = ids.slice();
    const raw = () => {
      try {
        return this.#raw.rawList(all);
      } catch (error) {
        throw toError(error);
      }
    };
    return new List(this.#lazy(ids, all), rest, raw) as unknown as R & List;
  }

  /** The objects of ids that were just handed out, as an array that decodes each one when it is first read. */
  array(ids: Float64Array): readonly unknown[] {
    return this.#lazy(ids, IN_NODE ? ids.slice() : ids);
  }

  /** What came as text, and is no version of an object that is held. Nobody else is given it; it is frozen where what is shared is. */
  parse(text: string): unknown {
    const value: unknown = JSON.parse(text);
    if (this.#freeze && isObject(value)) deepFreeze(value);
    return value;
  }

  /** An object of its own: nobody else is given it. */
  copy(id: number): unknown {
    try {
      const value = this.#raw.parse(id);
      this.decodes++;
      return value;
    } catch (error) {
      throw toError(error);
    }
  }

  /** @param all the same ids, which stay as they are */
  #lazy(ids: Float64Array, all: Float64Array): readonly unknown[] {
    // Never given as arguments, of which engines take no hundred thousand.
    const array: unknown[] = Array.from(ids, () => UNDECODED);
    this.#lists.register(array, ids);
    // Node prints the array behind the proxy.
    if (IN_NODE) printed(array, `Array(${all.length})`, () => this.#described(all));
    // Who reads one after the other is given more and more of them at once. Who stops had as many decoded for nothing as were read, at most.
    let next = -1;
    let together = 1;
    const decode = (at: number) => {
      together = at === next ? Math.min(2 * together, MAX_DECODED_TOGETHER) : 1;
      const several = ids.subarray(at, at + together);
      const isRead = several.indexOf(0);
      const taken = isRead < 0 ? several.slice() : several.slice(0, isRead);
      ids.fill(0, at, (next = at + taken.length)); // their pins go their own way now
      if (taken.length === 1) return (array[at] = this.take(taken[0]!));
      this.takeAll(taken).forEach((value, i) => (array[at + i] = value));
      return array[at];
    };
    return new Proxy(array, {
      get: (_, name) => {
        const value = array[name as unknown as number];
        return value === UNDECODED ? decode(Number(name)) : value;
      },
      getOwnPropertyDescriptor: (_, name) => {
        if (array[name as unknown as number] === UNDECODED) decode(Number(name));
        return Reflect.getOwnPropertyDescriptor(array, name);
      },
      // It may be shared. `Object.freeze`, which gives nothing a value, passes.
      set: refuse,
      deleteProperty: refuse,
      defineProperty: (_, name, descriptor) =>
        !("value" in descriptor || "get" in descriptor) && Reflect.defineProperty(array, name, descriptor),
    });
  }

  /** Of the first of these objects, for printing. */
  #described(ids: Float64Array): string[] {
    return first(ids.length, (at) => {
      const { version, key } = this.facts(ids[at]!);
      return `${key} @${version}`;
    });
  }

  /** Pins go back in batches: one call for all that came up in this turn. */
  giveBack(id: number): void {
    if (this.#returns.push(id) === 1) queueMicrotask(() => this.#release());
  }

  /** For the getters of events: what the core answers, or its failure as an error of this package. */
  ask<V>(read: (raw: RawResource) => V): V {
    try {
      return read(this.#raw);
    } catch (error) {
      throw toError(error);
    }
  }

  /** Version and key of an object, and fields that events are read by. They cross together: a short text costs the crossing more than its letters. */
  facts(id: number, ofEvent = false): Facts {
    return this.#readPaths.facts(id, ofEvent);
  }

  /** See {@link #keep}. */
  #decode(id: number): unknown {
    let before: number;
    let value: unknown;
    try {
      before = this.#raw.predecessor(id);
      value = this.#renewed(id, before) ?? this.#raw.parse(id);
    } catch (error) {
      throw toError(error);
    }
    this.#keep(id, value, before);
    return value;
  }

  /** A version made of another one, where that is still decoded. */
  #renewed(id: number, before: number): object | undefined {
    const held = this.#known.get(before)?.deref();
    const patch = held && (this.#raw.patch(before, id) as Patch | undefined);
    if (patch === undefined) return undefined;
    this.renewals++;
    return renew(held!, patch);
  }

  /** Remembers what an id was decoded to, as long as somebody holds it. An object takes over a pin of the id. */
  #keep(id: number, value: unknown, before: number): void {
    this.decodes++;
    if (!isObject(value)) return;
    if (this.#freeze) freezeNew(value);
    this.#known.set(id, new WeakRef(value));
    this.#decoded.register(value, id);
    if (before !== 0 && before <= id) this.#hold(id, value, before);
  }

  /** Holds a version for the sake of the next one. It takes the place of the one before it, or of the one that was decoded longest ago. */
  #hold(id: number, value: object, before: number): void {
    const since = performance.now();
    const gone = this.#held.has(before) ? [before] : [];
    for (let entry = this.#held.oldest; entry !== undefined; entry = entry.newer) {
      const isOver = since - entry.value.since >= MAX_HELD_MS || this.#held.size - gone.length >= MAX_HELD;
      if (!isOver) break;
      if (entry.key !== before) gone.push(entry.key);
    }
    try {
      if (!this.#raw.hold(id, gone[0] ?? 0)) return;
      // Somebody else may have these still: they count no more.
      for (const other of gone.slice(1)) this.#raw.hold(id, other);
    } catch {
      return; // Poisoned: there will be no next version.
    }
    for (const other of gone) this.#held.delete(other);
    this.#held.put(id, { value, since });
  }

  /** Holds no more versions for the sake of the next ones. */
  letGo(): void {
    this.#held.clear();
  }

  #collected(): void {
    try {
      this.#raw.collected();
      this.#collections.register({}, {});
    } catch {
      // Its instance is poisoned: nothing counts any more.
    }
  }

  #release(): void {
    const ids = Float64Array.from(this.#returns);
    this.#returns = [];
    try {
      this.#raw.release(ids);
    } catch {
      // The resource is closed or its instance is poisoned: its pins are gone with it.
    }
  }
}

const refuse = (): boolean => false;

/** Whether it can be held weakly, and frozen. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Freezes an object and what is new in it. What it shares with another version is frozen already. */
export function freezeNew(value: object): void {
  if (Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const child of Object.values(value)) if (isObject(child)) freezeNew(child);
}

/** Freezes an object and all in it. */
export function deepFreeze(value: object): void {
  Object.freeze(value);
  for (const child of Object.values(value)) if (isObject(child)) deepFreeze(child);
}
