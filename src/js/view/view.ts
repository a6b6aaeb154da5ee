import { call } from "../error/callbacks.js";
import { pausedError, toError, WatchCacheError } from "../error/errors.js";
import { now } from "../host/sleep.js";
import { bindable, bindMethods } from "../language/bound.js";
import { printable } from "../language/printing.js";
import type { Mutable } from "../object/readonly.js";
import { ask, selector } from "../options/grammar.js";
import { text } from "../options/kinds.js";
import type { SignalOptions } from "../request/types.js";
import { ORDERS } from "../wire/numbers.js";
import type { ObjectTable } from "../wire/objects.js";
import type { RawResource, RawViewSpec } from "../wire/raw.js";
import { iteratorOf, ViewChanges } from "./changes.js";
import { oldIfSame } from "./counts.js";
import { EMPTY } from "./empty.js";
import { checkSearch, checkSignal, checkSubscription, checkWindow } from "./options.js";
import { nearColumns } from "./near-columns.js";
import { SelectedRows } from "./selected-rows.js";
import type { SharedView, ViewFunctions, ViewHost } from "./shared-view.js";
import type { SharedViews } from "./shared-views.js";
import type { SelectedViewSpec, View as Shape, ViewChange, ViewSearch, ViewSnapshot, ViewSpec, ViewWindow } from "./types.js";

const NO_IDS = new Float64Array(0);
/** All rows. */
const EVERYTHING: ViewWindow = { offset: 0, limit: 0xffff_ffff };

/** Whether this is where a server renders: a read there opens nothing. */
function isServer(): boolean {
  return typeof document === "undefined" && typeof (globalThis as { WorkerGlobalScope?: unknown }).WorkerGlobalScope === "undefined";
}

/** A view as users hold it: a window on a shared view of the core, and the last snapshot of it. */
class View<T> implements Shape<T, Mutable> {
  static {
    printable(View.prototype, "View", (view: View<unknown>) => {
      const { rows, total, offset, loaded, stale } = view.#snapshot;
      return { resource: view.#host.name, total, rows: rows.length, offset, loaded, stale };
    });
  }
  #snapshot: ViewSnapshot<T, Mutable> = EMPTY;
  readonly #host: ViewHost;
  readonly #views: SharedViews;
  #spec: RawViewSpec;
  readonly #functions: ViewFunctions;
  /** Where rows show fields. */
  readonly #selected: SelectedRows | undefined;
  #window: ViewWindow;
  /** What tells each, with what ends it. */
  readonly #subscriptions = new Map<() => void, () => void>();
  /** Calls of `keys` that wait: each asks again after each flush, and ends with an error. */
  readonly #waiting = new Set<(end?: WatchCacheError) => void>();
  /** Those that are read. */
  readonly #changes = new Set<ViewChanges<T>>();
  /** While somebody reads or subscribes. */
  #shared: SharedView | undefined;
  #range: { readonly raw: RawResource; readonly id: number } | undefined;
  /** Ends the use of the resource by subscribers. */
  #use: (() => void) | undefined;
  /** The state of the shared view that the snapshot was made of; `undefined` after the window has moved. */
  #state: number | undefined;
  /** The window has moved since the last flush. */
  #moved = false;
  /** Another search was set, of which no rows were shown yet. */
  #searches = false;
  /** Its rows wait for derived columns: the next flush goes on with it, whether somebody subscribes or not. */
  #derives = false;
  /** The rows' ids, and whose they are. */
  #ids: Float64Array = NO_IDS;
  #objects: ObjectTable | undefined;
  /** Whether the rows were loaded once. From then on they stay until others are. */
  #final = false;
  /** When it was read or lost its last subscriber, as `now` tells. */
  lastUse = 0;

  constructor(
    host: ViewHost,
    views: SharedViews,
    spec: Omit<ViewSpec<T, Mutable>, "select"> & Partial<Pick<SelectedViewSpec<T, any>, "select">>,
  ) {
    bindable(this);
    this.#host = host;
    this.#views = views;
    const { where, window, namespaces, orderBy, labelSelector, fieldSelector, search, groupBy, select, derive = {} } = spec;
    const columns = Object.entries(derive).map(([name, { paths, value }]) => ({ name, paths: [...paths], value }));
    this.#window = window === undefined ? EVERYTHING : { ...window };
    this.#functions = { where, derive: columns };
    // In one order and form: equal specs share their view.
    this.#spec = {
      predicate: where !== undefined,
      namespaces: namespaces && [...new Set(namespaces)].sort(),
      labelSelector: selector(labelSelector),
      fieldSelector: selector(fieldSelector),
      search: wordsOf(search as ViewSearch | undefined),
      orderBy: orderBy?.map(({ path, descending = false, as = Object.hasOwn(derive, path) ? undefined : ORDERS[0] }) => ({
        path,
        descending,
        as,
      })),
      groupBy,
      select: select && Object.values(select),
      derive: columns.length > 0 ? columns.map(({ name, paths }) => ({ name, paths })) : undefined,
    };
    this.#check(this.#spec, search as ViewSearch | undefined);
    if (host.debug) for (const doubt of nearColumns(this.#spec)) warnOnce(host, doubt);
    this.#selected = select && new SelectedRows(Object.keys(select));
  }

  /** What no option shows by itself: names of columns where the core reads paths, also those of a search without a word. */
  #check(spec: RawViewSpec, search: ViewSearch | undefined): void {
    if (spec.derive === undefined) return;
    ask(this.#host, (core) =>
      core.checkView({ ...spec, search: search && { text: search.text, paths: search.paths && [...search.paths] } }),
    );
  }

  // ------------------------------------------------------------------------------------ the contract

  subscribe(onChange: () => void, options?: SignalOptions): () => void {
    const { signal } = checkSubscription(onChange, options);
    if (signal?.aborted) return () => {};
    const tell = () => {
      if (this.#subscriptions.has(tell)) call(onChange, [], (error) => this.#host.report(error));
    };
    const end = () => {
      signal?.removeEventListener("abort", end);
      if (!this.#subscriptions.delete(tell) || this.#subscriptions.size > 0) return;
      this.lastUse = now();
      this.#use?.();
      this.#use = undefined;
      this.#views.left();
    };
    this.#use ??= this.#host.acquire();
    const isFirst = !this.isSubscribed;
    // It is there before the snapshot is made: a function that derives may close the view, or abort the signal.
    signal?.addEventListener("abort", end, { once: true });
    this.#subscriptions.set(tell, end);
    // Up to date before anybody is told: from now on the snapshot changes only with a call.
    if (isFirst) this.#claim(true);
    return end;
  }

  getSnapshot(): ViewSnapshot<T, Mutable> {
    this.#read();
    return this.#snapshot;
  }

  getServerSnapshot(): ViewSnapshot<T, Mutable> {
    return EMPTY;
  }

  get rows(): readonly T[] {
    return this.getSnapshot().rows;
  }

  get total(): number {
    return this.getSnapshot().total;
  }

  get counts(): ReadonlyMap<string, number> {
    return this.getSnapshot().counts;
  }

  indexOf(key: string): number {
    text(key, "key");
    const { keys, offset } = this.getSnapshot();
    const shared = this.#shared;
    // Of the state of the snapshot, where the core still has that.
    if (shared?.session !== undefined && shared.loaded && this.#state === shared.state) {
      try {
        return shared.session.raw.viewIndexOf(shared.id!, key);
      } catch {
        // Poisoned: what is shown is left.
      }
    }
    const at = keys.indexOf(key);
    return at < 0 ? at : offset + at;
  }

  keys(): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      let off = () => {};
      const ask = (end?: WatchCacheError) => {
        // Who is told in the same flush may have closed the view.
        if (!this.#waiting.has(ask)) return;
        const { session, id, loaded, error = end } = this.#shared!;
        const host = this.#host;
        try {
          if (error !== undefined) throw error;
          if (session !== undefined && loaded) resolve(Object.freeze(session.raw.viewKeys(id!).split("%").slice(0, -1)));
          // As a list does.
          else if (host.status.phase === "paused" && !host.hasSynced) throw pausedError(host.name);
          else return;
        } catch (thrown) {
          reject(toError(thrown, host.name));
        }
        this.#waiting.delete(ask);
        off();
      };
      // A function that derives may close the view at once.
      this.#waiting.add(ask);
      off = this.subscribe(() => {});
      ask();
    });
  }

  changes(options?: SignalOptions): AsyncIterableIterator<ViewChange<T, Mutable>> {
    const { signal } = checkSignal("changes", options);
    const end = () => changes.end();
    const changes = new ViewChanges<T>(this, () => {
      signal?.removeEventListener("abort", end);
      this.#changes.delete(changes);
    });
    this.#changes.add(changes);
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
    return iteratorOf(changes);
  }

  setWindow(window: ViewWindow): void {
    const { offset, limit } = checkWindow(window);
    if (offset === this.#window.offset && limit === this.#window.limit) return;
    this.#window = { offset, limit };
    const { raw, id } = this.#range ?? {};
    if (raw === undefined) return;
    try {
      raw.viewMove(id!, offset, limit);
    } catch {
      // Poisoned: of that the snapshot tells.
    }
    // With all that its shared view takes in then. Readers without a subscription see it then, too: one snapshot for everybody.
    this.#moved = true;
    this.#host.ticker.soon(this.#shared!);
  }

  setSearch(given: ViewSearch | string | null | undefined): void {
    const searched = checkSearch(given, this.#host);
    this.#check(this.#spec, searched);
    const search = wordsOf(searched);
    if (JSON.stringify(search) === JSON.stringify(this.#spec.search)) return;
    const before = this.#spec;
    this.#spec = { ...before, search };
    if (this.#shared === undefined) return;
    // The snapshot stays until it is made of the other view.
    this.#closeRange();
    this.#state = undefined;
    this.#searches = true;
    this.#shared = this.#views.moveOn(this, this.#shared, before, this.#spec, this.#functions);
    this.#host.ticker.soon(this.#shared);
  }

  close(): void {
    const { name } = this.#host;
    for (const ask of [...this.#waiting]) ask(new WatchCacheError("closed", `a view of ${name} was closed`, { resource: name }));
    for (const changes of [...this.#changes]) changes.end();
    for (const end of [...this.#subscriptions.values()]) end();
    this.release();
  }

  // --------------------------------------------------------------- called by the shared view and its keeper

  get isSubscribed(): boolean {
    return this.#subscriptions.size > 0;
  }

  /** Nobody uses it any more: lets go of the core's view. The snapshot stays, and a later use goes on from it. */
  release(): void {
    const shared = this.#shared;
    if (shared === undefined) return;
    this.#closeRange();
    this.#shared = undefined;
    this.#state = undefined;
    this.#views.leave(this, shared, this.#spec, this.#functions);
  }

  /** The core is gone. */
  detach(): void {
    this.#range = undefined;
    this.#state = undefined;
  }

  /** Takes in the last state of its shared view; who is to hear of it. */
  pull(): (() => void)[] {
    if (this.#moved) this.#state = undefined;
    this.#moved = false;
    return [...((this.isSubscribed || this.#derives) && this.#renew() ? this.#subscriptions.keys() : []), ...this.#waiting];
  }

  /** Makes the snapshot anew; whether it is another. Never throws. */
  #renew(): boolean {
    const shared = this.#shared!;
    if (this.#state === shared.state) return false;
    if (shared.isDeriving) {
      // A function that derives reads or subscribes: it sees what was there, and the rest follows.
      this.#host.ticker.soon(shared);
      return false;
    }
    const old = this.#snapshot;
    let { rows, keys, offset, total, counts } = old;
    const { session, loaded, stale } = shared;
    let { error } = shared;
    let waits = false;
    // Rows that were whole stay until others are.
    if (session !== undefined && (loaded || !this.#final)) {
      try {
        const pulled = this.#pullRows(shared, session.raw, session.objects);
        // A function that derives may have closed it, or have it search for something else.
        if (this.#shared !== shared) return false;
        waits = pulled === undefined;
        if (pulled !== undefined) {
          this.#searches = false;
          [rows, keys] = pulled;
          ({ offset } = this.#window);
          ({ total } = shared);
          // After another search they may be the same in another map.
          counts = oldIfSame(counts, shared.counts);
          this.#final = loaded;
        }
      } catch (thrown) {
        error ??= toError(thrown, this.#host.name);
      }
    }
    if (!waits) this.#state = shared.state;
    // A whole state is held, though it may be an empty one, or rows of one under way.
    const kept = (session === undefined || error?.code === "out-of-memory") && (this.#final || rows.length > 0);
    const next = {
      rows,
      keys,
      offset,
      total,
      counts,
      // While rows wait for columns, only what is wrong is told anew, and that other rows are found.
      loaded: waits ? old.loaded && !this.#searches : session !== undefined && loaded,
      stale: stale || kept,
      ...(error && { error }),
    };
    const names = Object.keys(next) as (keyof typeof next)[];
    if (error === old.error && names.every((name) => next[name] === old[name])) return false;
    this.#snapshot = Object.freeze(next);
    return true;
  }

  // ---------------------------------------------------------------------------------------- reading

  /** A read without subscribers brings the snapshot up to the last flush; with them, the flush has done so. */
  #read(): void {
    const opens = !isServer();
    if (opens) this.#host.touch();
    this.lastUse = now();
    if (!this.isSubscribed) this.#claim(opens);
  }

  /** Holds on to the core's view, and makes the snapshot one of its last state. */
  #claim(opens: boolean): void {
    const session = opens ? this.#host.openSession() : this.#host.session;
    if (session === undefined && !opens) return;
    this.lastUse = now();
    this.#shared ??= this.#views.join(this, this.#spec, this.#functions);
    this.#views.attach(this.#shared, session);
    this.#renew();
  }

  #pullRows(shared: SharedView, raw: RawResource, objects: ObjectTable): [rows: readonly T[], keys: readonly string[]] | undefined {
    if (this.#range === undefined) {
      const { offset, limit } = this.#window;
      this.#range = { raw, id: raw.viewRange(shared.id!, offset, limit) };
    }
    const { rows: oldRows, keys: oldKeys } = this.#snapshot;
    if (this.#selected !== undefined) {
      const { id } = this.#range;
      this.#derives = !shared.deriveIn(id);
      if (this.#derives) return undefined;
      const rows = this.#selected.pull(raw, id);
      const same = rows.length === oldKeys.length && rows.every(({ key }, i) => key === oldKeys[i]);
      const areNone = rows.length === 0 && oldRows.length === 0;
      return [areNone ? oldRows : (rows as readonly T[]), same ? oldKeys : Object.freeze(rows.map(({ key }) => key))];
    }
    const ids = raw.viewRows(this.#range.id);
    const oldIds = this.#objects === objects ? this.#ids : NO_IDS;
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
    const others = Float64Array.from(places, (i) => ids[i]!);
    const [taken, names] = others.length === 0 ? [[], []] : [objects.takeAll(others) as T[], raw.keysOf(others)];
    // Nothing below throws. So the ids are always those of the rows in the snapshot.
    this.#ids = ids;
    this.#objects = objects;
    if (places.length === 0 && ids.length === oldRows.length) return [oldRows, oldKeys];
    const keys = oldKeys.slice(0, ids.length);
    places.forEach((i, at) => {
      rows[i] = taken[at]!;
      keys[i] = names[at]!;
    });
    const sameKeys = keys.length === oldKeys.length && keys.every((key, i) => key === oldKeys[i]);
    return [Object.freeze(rows), sameKeys ? oldKeys : Object.freeze(keys)];
  }

  #closeRange(): void {
    const { raw, id } = this.#range ?? {};
    this.#range = undefined;
    try {
      raw?.viewRangeClose(id!);
    } catch {
      // Closed or poisoned: it is gone.
    }
  }
}

/** What each resource was warned of: a component makes its view again and again. */
const warned = new WeakMap<ViewHost, Set<string>>();

function warnOnce(host: ViewHost, message: string): void {
  const said = warned.get(host) ?? new Set();
  if (said.has(message)) return;
  warned.set(host, said.add(message));
  host.warn(`a view of ${host.name}: ${message}`);
}

/** In one form: whoever searches for the same words in the same texts shares a view. */
function wordsOf(search: ViewSearch | undefined): RawViewSpec["search"] {
  const words = search?.text.match(/\S+/g);
  const inOrder = (texts: readonly string[]) => [...new Set(texts)].sort();
  return words ? { text: inOrder(words).join(" "), paths: search?.paths && inOrder(search.paths) } : undefined;
}

bindMethods(View.prototype);

// Chromium's console shows the name of the class.
export { View as ViewImpl };
