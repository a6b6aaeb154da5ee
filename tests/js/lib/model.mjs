// A small cacher in JavaScript that keeps the raw boundary's promises (src/js/wire/raw.ts): it holds objects, pins, queues, batches and views.
// The facade's tests use it for what the real core cannot do on demand: panics, ids without bytes, ends of every kind. It also
// controls exactly which events share a flush. It is strict where the core is: reading an id that is not pinned throws.

import * as wire from "../../../dist/wire/numbers.js";
import { copyOfStatus, factsOf, fieldOf, NO_STATS } from "./model-facts.mjs";
import { compare, ModelViews } from "./model-views.mjs";

/** A boundary error, as the core throws it. */
export function rawError(code, message, more = {}) {
  return Object.assign(new Error(message), { name: "WatchCacheError", code, retryable: false, ...more });
}

/** The module: opens resources and can be made to panic. */
export class ModelModule {
  resources = [];
  #message;
  #onPanic;

  RawMemory = class {};

  openKubernetes(options, transport, hooks) {
    return this.#open(options, hooks, { transport });
  }

  openSource(options, source, hooks) {
    return this.#open(options, hooks, { source });
  }

  #open(options, hooks, origin) {
    this.check();
    const resource = new ModelResource(this, options, hooks, origin);
    this.resources.push(resource);
    return resource;
  }

  openMetrics() {
    const lines = [];
    return { lines, text: () => lines.join(""), free: () => lines.splice(0) };
  }

  check() {
    if (this.#message !== undefined) throw rawError("internal", this.#message);
  }

  panic(message) {
    this.#message = message;
    this.#onPanic?.(message);
  }

  /** Of grammar the model knows two mistakes; of names of indexes all. */
  checkGrammar(option, text) {
    this.check();
    if (/^index(es|ers)\.(namespace)?$/.test(option)) throw rawError("invalid", `${option}: no name of an index`);
    if (text?.includes("!!") || text?.includes("[[")) throw rawError("invalid", `${option}: unexpected`);
  }

  poisoned() {
    return this.#message;
  }

  onPanic(callback) {
    this.#onPanic = callback;
  }

  /** How long the machine has slept, as told. */
  sleep = 0;

  slept(millis) {
    this.sleep = millis;
  }

  memoryBytes() {
    return 65_536;
  }

  buildInfo() {
    return { version: "0.1.0", simd: false };
  }

  /** What the facade loads, and when. */
  runtime({ ready = true } = {}) {
    const panics = new Set();
    const wanting = new Set();
    let loading = { phase: ready ? "loaded" : "idle", attempt: 0 };
    const set = (next) => {
      loading = next;
      for (const changed of [...wanting]) if (wanting.has(changed)) changed();
    };
    this.onPanic((message) => queueMicrotask(() => panics.forEach((listener) => listener(message))));
    return {
      loaded: () => (loading.phase === "loaded" ? this : undefined),
      get loading() {
        return loading;
      },
      want(changed) {
        const listener = () => changed();
        wanting.add(listener);
        if (loading.phase === "idle") set({ ...loading, phase: "loading" });
        return () => void wanting.delete(listener);
      },
      tryNow: () => loading.phase === "failed" && set({ phase: "loading", attempt: loading.attempt }),
      onPanic: (listener) => {
        panics.add(listener);
        return () => panics.delete(listener);
      },
      arrive: () => set({ phase: "loaded", attempt: 0 }),
      /** A try has failed: for good, unless there is a time for the next one. */
      fail(error, retryAt) {
        const attempt = loading.attempt + 1;
        set(retryAt === undefined ? { phase: "failed", attempt, error } : { phase: "waiting", attempt, error, retryAt });
      },
      wanted: () => wanting.size,
    };
  }
}

class ModelResource {
  #module;
  #hooks;
  #entries = new Map();
  #columns = [];
  #store = new Map();
  #watchers = new Map();
  #views;
  #nextEntry = 1;
  #nextWatcher = 1;
  #sequence = 0;
  #waiting = [];
  #signals = 0;
  #scheduled = false;
  #synced = false;
  #status = { phase: "idle", stale: false, attempt: 0 };
  calls = [];
  closed = false;

  constructor(module, options, hooks, origin) {
    this.#module = module;
    this.#hooks = hooks;
    this.options = options;
    this.origin = origin;
    this.#views = new ModelViews(
      {
        ids: () => [...this.#store.values()].sort((a, b) => compare(this.#entries.get(a).key, this.#entries.get(b).key)),
        pin: (id) => this.#pin(id),
        unpin: (id) => this.#unpin(id),
        value: (id) => this.#entries.get(id).value(),
        key: (id) => this.#entries.get(id).key,
        synced: () => this.#synced,
      },
      matches,
    );
    for (const name of [
      "Sync",
      "Range",
      "Move",
      "RangeClose",
      "Rows",
      "Total",
      "Counts",
      "IndexOf",
      "Keys",
      "Loaded",
      "Error",
      "Undecided",
    ])
      this[`view${name}`] = (...given) => this.#views[`view${name}`](...given);
  }

  // ------------------------------------------------------------------------------ what tests make happen

  /** The list has arrived. */
  sync(objects, version) {
    for (const object of objects) this.#insert(object);
    this.#synced = true;
    this.set({ phase: "live", resourceVersion: version, stale: false });
    this.#signals |= wire.SIGNAL_SYNCED;
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    for (const watcher of this.#watchers.values()) if (watcher.initial) this.#start(watcher);
    this.#viewsChange();
  }

  put(object) {
    const kind = this.#store.has(keyOf(object)) ? wire.EVENT_MODIFIED : wire.EVENT_ADDED;
    this.#dispatch(kind, this.#insert(object), object);
  }

  remove(key, version) {
    const object = this.#entries.get(this.#store.get(key)).value();
    this.#unpin(this.#store.get(key));
    this.#store.delete(key);
    const gone = { ...object, metadata: { ...object.metadata, resourceVersion: version } };
    this.#dispatch(wire.EVENT_DELETED, this.#entry(gone), gone);
  }

  bookmark(version, end = false) {
    const object = { kind: "Pod", metadata: { resourceVersion: version } };
    this.#dispatch(end ? wire.EVENT_INITIAL_EVENTS_END : wire.EVENT_BOOKMARK, this.#entry(object), undefined);
  }

  error(status) {
    this.#dispatch(wire.EVENT_ERROR, this.#entry(status), undefined);
    this.endAll("error");
  }

  endAll(reason, refusal) {
    for (const watcher of this.#watchers.values()) this.#finish(watcher, reason, refusal);
    this.#schedule();
  }

  set(status) {
    this.#status = { ...this.#status, ...status };
    this.#signals |= wire.SIGNAL_STATUS;
    this.#schedule();
  }

  signal(bits) {
    this.#signals |= bits;
    this.#schedule();
  }

  refuse(error) {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    this.set({ phase: "failed", error });
  }

  pinsOf(key) {
    return this.#entries.get(this.#store.get(key)).pins;
  }

  get readable() {
    return this.#entries.size;
  }

  mode(watcher) {
    return this.#watchers.get(watcher)?.mode;
  }

  get watcherCount() {
    return this.#watchers.size;
  }

  // --------------------------------------------------------------------------------------- RawResource

  start() {
    this.#check("start");
    this.set({ phase: "listing" });
  }

  status() {
    this.#module.check();
    return copyOfStatus(this.#status);
  }

  stats() {
    return { ...NO_STATS, objects: this.#store.size, watchers: this.#watchers.size };
  }

  metrics(page, group, resource, scope) {
    page.lines.push(`${JSON.stringify({ group, resource, scope })}\n`);
  }

  parse(id) {
    this.calls.push(["parse", id]);
    return JSON.parse(this.#readable(id).json);
  }

  /** The model knows no difference between versions: each is decoded whole. */
  predecessor(id) {
    this.#readable(id);
    return 0;
  }

  predecessors(ids) {
    return ids.map((id) => this.predecessor(id));
  }

  texts(ids) {
    for (const id of ids) this.calls.push(["parse", id]);
    return Array.from(ids, (id) => this.#readable(id).json).join("\0");
  }

  raw(id) {
    return new TextEncoder().encode(this.#readable(id).json);
  }

  rawList(ids) {
    this.calls.push(["rawList", ...ids]);
    return new TextEncoder().encode(`[${Array.from(ids, (id) => this.#readable(id).json).join(",")}]`);
  }

  columns(paths) {
    this.calls.push(["columns", ...paths]);
    this.#columns = paths;
  }

  facts(id) {
    this.calls.push(["facts", id]);
    return factsOf(this.#readable(id), this.#columns);
  }

  changed(id, before, path) {
    this.#check("changed", id, before, path);
    return true;
  }

  field(id, path) {
    this.calls.push(["field", path]);
    if (path.includes("[")) throw rawError("invalid", `path: ${path}`);
    return fieldOf(this.#readable(id), path);
  }

  collected() {}

  release(ids) {
    this.#check("release", ids.length);
    for (const id of ids) this.#unpin(id);
  }

  peek(key) {
    this.#check("peek", key);
    const id = this.#store.get(key);
    return id === undefined ? 0 : this.#pin(id);
  }

  byIndex(index, value) {
    this.#check("byIndex");
    if (index !== "namespace") throw rawError("invalid", `there is no index ${index}`);
    const ids = [...this.#store].filter(([key]) => key.startsWith(`${value}/`)).map(([, id]) => this.#pin(id));
    return Float64Array.from(ids);
  }

  size() {
    this.#check("size");
    return this.#store.size;
  }

  watch(options) {
    this.#check("watch");
    const watcher = { id: this.#nextWatcher++, options, mode: 0, queue: [], initial: options.resourceVersion === undefined };
    this.#watchers.set(watcher.id, watcher);
    if (options.labelSelector?.includes("!!") || options.namespace === "..") {
      this.#finish(watcher, "error", rawError("invalid", "refused"));
    } else if (watcher.initial && this.#synced) this.#start(watcher);
    this.#schedule();
    return watcher.id;
  }

  demand(id, mode) {
    this.#check("demand", id, mode);
    const watcher = this.#watchers.get(id);
    if (watcher === undefined) return;
    watcher.mode = mode;
    this.#schedule();
  }

  stop(id) {
    this.#check("stop", id);
    const watcher = this.#watchers.get(id);
    if (watcher === undefined) return;
    for (const { entry } of watcher.queue.splice(0)) this.#unpin(entry);
    this.#finish(watcher, "stopped");
    this.#schedule();
  }

  refusal(id) {
    return this.#watchers.get(id)?.refusal;
  }

  lastVersion(id) {
    const watcher = this.#watchers.get(id);
    return watcher?.ended === undefined ? undefined : watcher.last;
  }

  resumesFromSeen(id, pastInitialEvents) {
    const { resourceVersion, onOverflow = "terminate", sendInitialEvents = resourceVersion === undefined } = this.#watchers.get(id).options;
    return onOverflow === "terminate" && (pastInitialEvents || !sendInitialEvents);
  }

  forget(id) {
    this.#check("forget", id);
    this.#watchers.delete(id);
  }

  async list(options) {
    this.#check("list");
    if (options.labelSelector?.includes("!!")) throw rawError("invalid", "unable to parse the selector");
    if (!this.#synced && options.wait === false)
      throw rawError("too-many-requests", "not ready", { retryable: true, retryAfterSeconds: 1 });
    await this.#ready();
    const ids = [...this.#store.values()].filter((id) => matches(this.#entries.get(id).value(), options)).map((id) => this.#pin(id));
    return { ids: Float64Array.from(ids), resourceVersion: this.#status.resourceVersion };
  }

  async get(key) {
    this.#check("get");
    await this.#ready();
    const id = this.#store.get(key);
    if (id === undefined) throw rawError("not-found", `pods "${key}" not found`, { status: { code: 404 } });
    return this.#pin(id);
  }

  view(spec) {
    this.#check("view");
    if (spec.labelSelector?.includes("!!")) throw rawError("invalid", "unable to parse the selector");
    return this.#views.open(spec);
  }

  keysOf(ids) {
    return Array.from(ids, (id) => this.#readable(id).key);
  }

  viewDecide(id, ids, verdicts) {
    this.calls.push(["decide", ids.length]);
    this.#views.viewDecide(id, ids, verdicts);
    this.#schedule();
  }

  viewClose(id) {
    this.calls.push(["viewClose", id]);
    this.#views.viewClose(id);
  }

  async synced() {
    await this.#ready();
  }

  async refresh() {
    this.#check("refresh");
    this.signal(4);
  }

  pause() {
    this.#check("pause");
    this.set({ phase: "paused", stale: true });
  }

  goIdle() {
    this.pause();
  }

  resume() {
    this.#check("resume");
    this.set({ phase: this.#synced ? "live" : "listing", stale: !this.#synced });
  }

  close() {
    this.#check("close");
    this.closed = true;
  }

  // -------------------------------------------------------------------------------------------- inside

  #check(...call) {
    this.calls.push(call);
    this.#module.check();
    if (this.closed) throw rawError("closed", "closed");
  }

  #ready() {
    return this.#synced ? Promise.resolve() : new Promise((resolve, reject) => void this.#waiting.push({ resolve, reject }));
  }

  #entry(object) {
    const json = JSON.stringify(object);
    const entry = { key: keyOf(object), version: object.metadata?.resourceVersion ?? "", json, pins: 1, value: () => JSON.parse(json) };
    this.#entries.set(this.#nextEntry, entry);
    return this.#nextEntry++;
  }

  /** The store itself holds one pin. */
  #insert(object) {
    const key = keyOf(object);
    if (this.#store.has(key)) this.#unpin(this.#store.get(key));
    const id = this.#entry(object);
    this.#store.set(key, id);
    if (this.#synced) this.#status = { ...this.#status, resourceVersion: object.metadata.resourceVersion };
    return id;
  }

  #readable(id) {
    this.#module.check();
    const entry = this.#entries.get(id);
    if (entry === undefined) throw rawError("internal", `the id ${id} is not pinned`);
    return entry;
  }

  #pin(id) {
    this.#readable(id).pins++;
    return id;
  }

  #unpin(id) {
    const entry = this.#readable(id);
    if (--entry.pins === 0) this.#entries.delete(id);
  }

  #dispatch(kind, entry, object) {
    const sequence = ++this.#sequence;
    for (const watcher of this.#watchers.values()) {
      if (watcher.ended !== undefined || (object !== undefined && !matches(object, watcher.options))) continue;
      watcher.queue.push({ kind, sequence, entry: this.#pin(entry) });
    }
    // An entry that was made for this event alone is dropped.
    if (kind >= wire.EVENT_DELETED) this.#unpin(entry);
    this.#viewsChange();
  }

  #start(watcher) {
    watcher.initial = false;
    for (const id of this.#store.values()) {
      if (matches(this.#entries.get(id).value(), watcher.options)) {
        watcher.queue.push({ kind: wire.EVENT_ADDED, sequence: ++this.#sequence, entry: this.#pin(id) });
      }
    }
    this.#schedule();
  }

  #finish(watcher, reason, refusal) {
    if (watcher.ended !== undefined) return;
    watcher.ended = wire.END_REASONS.indexOf(reason);
    watcher.refusal = refusal;
  }

  #viewsChange() {
    this.#views.allChanged();
    this.#schedule();
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      if (!this.closed) this.#flush();
    });
  }

  #flush() {
    const events = [];
    const index = new Map();
    const pairs = [];
    const ended = [];
    for (const watcher of this.#watchers.values()) {
      if (watcher.mode !== 0 && watcher.queue.length > 0) {
        for (const { kind, entry, sequence } of watcher.queue.splice(0)) {
          const name = `${kind}:${entry}`;
          // One pin for each event of the flush: further receivers share it.
          if (index.has(name)) this.#unpin(entry);
          else index.set(name, events.push(kind, entry) / 2 - 1);
          pairs.push({ watcher: watcher.id, at: index.get(name), sequence });
          watcher.last = this.#entries.get(entry).version;
        }
        if (watcher.mode === wire.DEMAND_BATCH) watcher.mode = wire.DEMAND_NONE;
      }
      if (watcher.ended !== undefined && watcher.queue.length === 0 && !watcher.told) {
        watcher.told = true;
        ended.push(watcher.id, watcher.ended);
      }
    }
    pairs.sort((a, b) => a.sequence - b.sequence);
    const views = this.#views.take();
    const signals = this.#signals;
    this.#signals = 0;
    if (pairs.length + ended.length + views.length + signals === 0) return;
    const { flush, event } = this.#hooks;
    // As the core does: what is one event and nothing else crosses as numbers.
    if (events.length === 2 && pairs.length === 1 && ended.length + views.length + signals === 0) {
      event(events[0], events[1], pairs[0].watcher, 0);
      return;
    }
    flush(
      Float64Array.from(events),
      Uint32Array.from(pairs.flatMap(({ watcher, at }) => [watcher, at])),
      Uint32Array.from(ended),
      Uint32Array.from(views),
      signals,
      0,
    );
  }
}

function keyOf(object) {
  const { namespace, name } = object.metadata ?? {};
  return namespace === undefined ? (name ?? "") : `${namespace}/${name}`;
}

function matches(object, { namespace, namespaces, labelSelector }) {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  if (namespaces !== undefined && !namespaces.includes(object.metadata.namespace)) return false;
  const [label, value] = labelSelector?.split("=") ?? [];
  return label === undefined || object.metadata.labels?.[label] === value;
}

/** An Error does not survive structuredClone with its properties. */
/** A pod as small as can be. */
export function pod(key, version, { labels, phase = "Running" } = {}) {
  const [namespace, name] = key.split("/");
  return { kind: "Pod", metadata: { namespace, name, resourceVersion: String(version), ...(labels ? { labels } : {}) }, status: { phase } };
}
