import { toError, WatchCacheError } from "./errors.js";
import type { ObjectTable } from "./objects.js";
import type { RawResource, RawViewSpec } from "./raw.js";
import type { Ticker, Ticking } from "./ticker.js";
import type { View, ViewSpec } from "./types.js";

/** What a view needs of its resource. */
export interface ViewHost {
  readonly name: string;
  readonly ticker: Ticker;
  report(error: unknown): void;
  /** A use that lasts. */
  acquire(): () => void;
  /** A read. */
  touch(): void;
  viewClosed(view: ViewImpl<any>): void;
}

interface Attachment {
  raw: RawResource;
  objects: ObjectTable;
  id: number;
}

interface Subscription {
  onChange: () => void;
}

const NO_ROWS: readonly never[] = Object.freeze([]);
const NO_COUNTS: ReadonlyMap<string, number> = new Map();
const NO_IDS = new Float64Array(0);
/** How long `where` may run before it lets others have the thread, in milliseconds. */
const DECIDE_MS = 6;

/** A view: ids come from the core, rows and verdicts of `where` are made here, only with a tick of the cache's flush. */
export class ViewImpl<T> implements View<T>, Ticking {
  readonly #host: ViewHost;
  readonly #spec: RawViewSpec;
  readonly #where: ((object: T) => boolean) | undefined;
  readonly #subscriptions = new Set<Subscription>();
  #at: Attachment | undefined;
  #error: WatchCacheError | undefined;
  #closed = false;
  #release: (() => void) | undefined;
  /** Whether the core may have another state than the snapshot, as of the last tick. */
  #stale = false;
  #ids: Float64Array = NO_IDS;
  #rows: readonly T[] = NO_ROWS;
  #total = 0;
  #counts: ReadonlyMap<string, number> = NO_COUNTS;
  /** Ids that `where` has not judged yet, from `#judged` on. */
  #undecided: Float64Array = NO_IDS;
  #judged = 0;

  constructor(host: ViewHost, spec: ViewSpec<T>) {
    this.#host = host;
    const { where, window, namespaces, orderBy, ...rest } = spec;
    if (window !== undefined) checkWindow(window);
    this.#where = where;
    this.#spec = {
      ...rest,
      predicate: where !== undefined,
      ...(namespaces === undefined ? {} : { namespaces: [...namespaces] }),
      ...(orderBy === undefined ? {} : { orderBy: orderBy.map((order) => ({ ...order })) }),
      ...(window === undefined ? {} : { window: { ...window } }),
    };
  }

  // ------------------------------------------------------------------------- called by the resource

  /** The core is there: registers with it. */
  attach(raw: RawResource, objects: ObjectTable): void {
    if (this.#closed || this.#at !== undefined) return;
    try {
      this.#at = { raw, objects, id: raw.view(this.#spec) };
      this.#error = undefined;
    } catch (error) {
      this.#error = toError(error, this.#host.name);
    }
    this.#undecided = NO_IDS;
    this.#judged = 0;
    // Rows of an earlier session stay until the new one has some, or is synced and has none.
    if (this.#ids.length > 0) {
      this.#ids = NO_IDS;
      return;
    }
    this.#stale = this.#at !== undefined;
    this.#host.ticker.add(this);
  }

  /** The core is gone; the last snapshot stays. */
  detach(): void {
    for (; this.#judged < this.#undecided.length; this.#judged++) this.#at?.objects.giveBack(this.#undecided[this.#judged]!);
    this.#at = undefined;
    this.#stale = false;
  }

  /** The core's id, for its flushes. */
  get id(): number | undefined {
    return this.#at?.id;
  }

  /** Why the core refused the spec. */
  get error(): WatchCacheError | undefined {
    return this.#error;
  }

  /** The core says that something has changed. */
  changed(): void {
    this.#host.ticker.add(this);
  }

  // ------------------------------------------------------------------------------------ the contract

  subscribe(onChange: () => void, { signal }: { signal?: AbortSignal } = {}): () => void {
    if (this.#closed || signal?.aborted) return () => {};
    const subscription = { onChange };
    this.#subscriptions.add(subscription);
    this.#release ??= this.#host.acquire();
    // The core tells a change only to who has read those before.
    if (this.#stale) this.#host.ticker.add(this);
    const unsubscribe = () => {
      signal?.removeEventListener("abort", unsubscribe);
      this.#subscriptions.delete(subscription);
      if (this.#subscriptions.size > 0) return;
      this.#release?.();
      this.#release = undefined;
    };
    signal?.addEventListener("abort", unsubscribe, { once: true });
    return unsubscribe;
  }

  getSnapshot(): readonly T[] {
    this.#read();
    return this.#rows;
  }

  getServerSnapshot(): readonly T[] {
    return NO_ROWS;
  }

  get total(): number {
    this.#read();
    return this.#total;
  }

  get counts(): ReadonlyMap<string, number> {
    this.#read();
    return this.#counts;
  }

  indexOf(key: string): number {
    this.#read();
    if (this.#at === undefined) return -1;
    const { raw, id } = this.#at;
    return this.#call(() => raw.viewIndexOf(id, key));
  }

  setWindow(window: { offset: number; limit: number }): void {
    checkWindow(window);
    const { offset, limit } = window;
    this.#spec.window = { offset, limit };
    if (this.#at === undefined) return;
    const { raw, id } = this.#at;
    this.#call(() => raw.viewWindow(id, offset, limit));
    this.#host.ticker.soon(this);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#subscriptions.clear();
    this.#release?.();
    this.#release = undefined;
    const at = this.#at;
    this.detach();
    try {
      at?.raw.viewClose(at.id);
    } catch {
      // The resource is closed or poisoned: its views are gone with it.
    }
    this.#host.viewClosed(this);
  }

  // ------------------------------------------------------------------------------------- the flush

  tick(): void {
    if (this.#closed) return;
    if (this.#at !== undefined) {
      this.#stale = true;
      if (this.#decide()) this.#host.ticker.add(this);
    }
    if (this.#subscriptions.size === 0) return;
    const changed = this.#stale ? this.#pull() : this.#error !== undefined;
    if (!changed) return;
    // A copy: whoever subscribes in a callback hears of the next change.
    for (const subscription of [...this.#subscriptions]) {
      if (!this.#subscriptions.has(subscription)) continue;
      try {
        subscription.onChange();
      } catch (error) {
        this.#host.report(error);
      }
    }
  }

  /** A read without subscribers brings the snapshot up to the last tick; with them, the tick has done so. */
  #read(): void {
    if (this.#closed) return;
    this.#host.touch();
    if (this.#error !== undefined) throw this.#error;
    if (this.#stale) this.#pull();
  }

  /** Makes the snapshot anew; whether anything in it is another. */
  #pull(): boolean {
    const { raw, objects, id } = this.#at!;
    this.#stale = false;
    return this.#call(() => {
      const rows = this.#pullRows(raw.viewRows(id), objects);
      const total = raw.viewTotal(id);
      const counts = this.#spec.groupBy === undefined ? NO_COUNTS : sameOrNew(this.#counts, raw.viewCounts(id));
      const changed = rows !== this.#rows || total !== this.#total || counts !== this.#counts;
      this.#rows = rows;
      this.#total = total;
      this.#counts = counts;
      return changed;
    });
  }

  #pullRows(ids: Float64Array, objects: ObjectTable): readonly T[] {
    const [oldIds, oldRows] = [this.#ids, this.#rows];
    const rows = new Array<T>(ids.length);
    const places: number[] = [];
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      if (id === oldIds[i]) {
        objects.giveBack(id);
        rows[i] = oldRows[i]!;
      } else {
        places.push(i);
      }
    }
    const taken = objects.takeAll(places.map((i) => ids[i]!)) as T[];
    places.forEach((i, at) => (rows[i] = taken[at]!));
    const changed = places.length > 0 || ids.length !== oldRows.length;
    this.#ids = ids;
    return changed ? rows : oldRows;
  }

  /** Lets `where` judge for a while; whether there may be more to judge. */
  #decide(): boolean {
    const where = this.#where;
    if (where === undefined || this.#at === undefined) return false;
    const { raw, objects, id } = this.#at;
    if (this.#judged === this.#undecided.length) {
      this.#undecided = raw.viewUndecided(id);
      this.#judged = 0;
      if (this.#undecided.length === 0) return false;
    }
    const ids = this.#undecided;
    const from = this.#judged;
    const verdicts = new Uint8Array(ids.length - from);
    const until = performance.now() + DECIDE_MS;
    let reported = false;
    let next = from;
    while (next < ids.length) {
      const object = objects.take(ids[next]!) as T;
      this.#judged = next + 1;
      try {
        verdicts[next - from] = where(object) ? 1 : 0;
      } catch (error) {
        // Once is enough: it will most likely fail for all the others as well. An object it fails for is no row.
        if (!reported) this.#host.report(error);
        reported = true;
      }
      next++;
      // The filter itself may have closed the view or its resource.
      if (this.#at?.id !== id) return false;
      if (performance.now() > until) break;
    }
    raw.viewDecide(id, ids.slice(from, next), verdicts.slice(0, next - from));
    return true;
  }

  #call<V>(call: () => V): V {
    try {
      return call();
    } catch (error) {
      throw toError(error, this.#host.name);
    }
  }
}

function sameOrNew(old: ReadonlyMap<string, number>, flat: (string | number)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  let same = old.size === flat.length / 2;
  for (let i = 0; i < flat.length; i += 2) {
    const [value, count] = [flat[i] as string, flat[i + 1] as number];
    counts.set(value, count);
    same &&= old.get(value) === count;
  }
  return same ? old : counts;
}

function checkWindow({ offset, limit }: { offset: number; limit: number }): void {
  for (const [name, value] of [
    ["offset", offset],
    ["limit", limit],
  ] as const) {
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
      throw new WatchCacheError("invalid", `the window's ${name} is a whole number from 0 up, not ${String(value)}`);
    }
  }
}
