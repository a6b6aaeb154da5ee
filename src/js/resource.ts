import { bindMethods } from "./bound.js";
import { Delivery, Signal } from "./delivery.js";
import { abortError, closedError, toError, WatchCacheError } from "./errors.js";
import { InformerImpl } from "./informer.js";
import type { Loading } from "./loader.js";
import { ObjectTable } from "./objects.js";
import type { RawMetrics, RawResource } from "./raw.js";
import type { MetricLabels, Open, ResourceHost } from "./resource-host.js";
import { sameStatus, toStatus } from "./status.js";
import { StableArrays } from "./stable-arrays.js";
import type { Ticker } from "./ticker.js";
import type {
  DeleteOptions,
  GetOptions,
  Informer,
  InformerOptions,
  List,
  ListOptions,
  ResourceEventMap,
  ResourceStats,
  ResourceStatus,
  ViewSpec,
  View,
  Watcher,
  WatchOptions,
  WriteOptions,
} from "./types.js";
import { Usage } from "./use.js";
import { SharedViews, type ViewHost } from "./shared-view.js";
import { ViewImpl } from "./view.js";
import { Wanting } from "./wanting.js";
import { WatcherHandle } from "./watch-handle.js";
import { WatcherImpl } from "./watcher.js";
import { changer, givenBy, toDocument } from "./write.js";

interface Session {
  readonly raw: RawResource;
  readonly delivery: Delivery;
  readonly objects: ObjectTable;
  /** Whether its stream was ever started. */
  started: boolean;
  /** Whether its stream is paused for want of users. */
  idle: boolean;
}

/**
 * A resource as users hold it. The core's half, a session, comes with the first use and goes after the last; watchers and views that were
 * made before it are registered when it comes.
 */
export class ResourceImpl<T> extends EventTarget implements ViewHost {
  readonly name: string;
  readonly labels: MetricLabels;
  readonly #host: ResourceHost;
  readonly #open: Open;
  readonly #usage: Usage;
  readonly #watchers = new Map<WatcherImpl<any>, () => void>();
  readonly #views: SharedViews = new SharedViews(this);
  readonly #informers = new Set<InformerImpl<any>>();
  /** Rejects what waits for an answer of the core. */
  readonly #pending = new Set<(error: WatchCacheError) => void>();
  readonly #arrays = new StableArrays<T>();
  readonly #values = new Map<string, readonly string[]>();
  readonly #wanting: Wanting;
  #session: Session | undefined;
  #error: WatchCacheError | undefined;
  #poison: WatchCacheError | undefined;
  #paused = false;
  #closed = false;
  #status: ResourceStatus | undefined;
  #announcing = false;

  constructor(host: ResourceHost, name: string, open: Open, labels: MetricLabels = { group: "", scope: "" }) {
    super();
    this.name = name;
    this.labels = labels;
    this.#host = host;
    this.#open = open;
    this.#wanting = new Wanting(host.runtime, (loading) => this.#loading(loading));
    this.#usage = new Usage(
      host.linger,
      () => this.#goIdle(),
      () => this.#drop(),
    );
  }

  // -------------------------------------------------------------------------------------- reading

  get status(): ResourceStatus {
    const core = toStatus(this.#session?.raw, this.#status, this.name);
    const error = this.#error === undefined ? {} : { error: this.#error };
    const status = { ...core, ...this.#wanting.state, phase: this.#phase(core.phase), ...error };
    if (this.#status === undefined || !sameStatus(this.#status, status)) this.#status = Object.freeze(status);
    return this.#status;
  }

  async synced({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#ask((raw) => raw.synced(), signal);
  }

  async list({ signal, ...options }: ListOptions = {}): Promise<List<T>> {
    const answer = await this.#ask(
      (raw, over) => raw.list(options, over()),
      signal,
      (list, objects) => list?.ids.forEach((id) => objects.giveBack(id)),
    );
    const { ids, ...rest } = answer.value;
    return answer.objects.list(ids, rest) as List<T>;
  }

  async get(key: string, { signal, ...options }: GetOptions = {}): Promise<T> {
    const answer = await this.#ask((raw, over) => raw.get(key, options, over()), signal, discard);
    return answer.objects.take(answer.value) as T;
  }

  peek(key: string): T | undefined {
    return this.#look(undefined, ({ raw, objects }) => {
      const id = raw.peek(key);
      return id === 0 ? undefined : (objects.take(id) as T);
    });
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#look<readonly T[]>([], ({ raw, objects }) => {
      const ids = raw.byIndex(index, value);
      return this.#arrays.get(
        JSON.stringify([index, value]),
        ids,
        (ids) => ids.forEach((id) => objects.giveBack(id)),
        (ids) => Object.freeze(Array.from(ids, (id) => objects.take(id) as T)),
      );
    });
  }

  indexValues(index: string): readonly string[] {
    return this.#look<readonly string[]>([], ({ raw }) => {
      const values = raw.indexValues(index);
      const known = this.#values.get(index);
      if (known !== undefined && known.length === values.length && known.every((value, i) => value === values[i])) return known;
      this.#values.set(index, Object.freeze(values));
      return values;
    });
  }

  get size(): number {
    return this.#look(0, ({ raw }) => raw.size());
  }

  // ---------------------------------------------------------------------------------- subscribing

  watch(options: WatchOptions = {}): Watcher<T> {
    const watcher = new WatcherImpl<T>(this, options);
    const handle = new WatcherHandle(watcher);
    if (this.#closed) watcher.fail(closedError(this.name));
    if (this.#closed || options.signal?.aborted) return handle;
    this.#watchers.set(watcher, this.acquire());
    const session = this.#use();
    if (session !== undefined) watcher.attach(session.raw, session.delivery);
    else if (this.#error !== undefined) watcher.fail(this.#error);
    return handle;
  }

  view(spec: ViewSpec<T> = {}): View<T> {
    if (this.#closed) throw closedError(this.name);
    return new ViewImpl<T>(this, this.#views, spec);
  }

  informer(options: InformerOptions<T> = {}): Informer<T> {
    const informer = new InformerImpl<T>(this, options);
    if (this.#closed) throw closedError(this.name);
    this.#informers.add(informer);
    // One that is never started leaves with the session.
    this.#usage.touch();
    const session = this.#ensure();
    if (session !== undefined) informer.attach(session.raw, session.delivery.notifier, session.objects);
    if (options.start ?? true) informer.start();
    return informer;
  }

  // --------------------------------------------------------------------------------------- writing

  async create(object: T, { signal }: WriteOptions = {}): Promise<T> {
    const document = toDocument(object, this.name);
    const answer = await this.#ask((raw, over) => raw.create(document, over()), signal, discard);
    return answer.objects.take(answer.value) as T;
  }

  async update(key: string, change: (current: T) => T | undefined, { signal }: WriteOptions = {}): Promise<T> {
    const answer = await this.#ask((raw, over) => raw.update(key, changer(raw, change, this.name), over()), signal, discard);
    return answer.objects.take(answer.value) as T;
  }

  async delete(key: string, { signal, ...options }: DeleteOptions = {}): Promise<void> {
    await this.#ask((raw, over) => raw.delete(key, options, over()), signal);
  }

  override addEventListener(...given: Parameters<EventTarget["addEventListener"]>): void {
    this.#host.kept(this);
    super.addEventListener(...given);
  }

  // ------------------------------------------------------------------------------------ the stream

  async refresh({ reset = false }: { reset?: boolean } = {}): Promise<void> {
    await this.#ask((raw) => raw.refresh(reset));
  }

  pause(): void {
    if (this.#closed || this.#paused) return;
    this.#paused = true;
    this.#host.kept(this);
    const session = this.#session;
    if (session?.started && !session.idle) this.#call(() => session.raw.pause());
    this.#announce("status");
  }

  resume(): void {
    if (this.#closed) return;
    this.#paused = false;
    // Without a user it ends as after a read.
    this.#usage.touch();
    this.#host.runtime.hasten();
    const session = this.#use();
    if (session !== undefined) this.#call(() => session.raw.resume());
    this.#announce("status");
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#error = undefined;
    this.#wanting.end();
    for (const informer of [...this.#informers]) informer.stop();
    this.#drop();
    // After the core, which then knows how far each watch had come.
    for (const watcher of [...this.#watchers.keys()]) watcher.closed();
    this.#rejectPending(closedError(this.name));
    this.#usage.stop();
    this.#host.closed(this);
    this.#announce("status");
  }

  // ------------------------------------------------------------- called by views, watchers, delivery

  get ticker(): Ticker {
    return this.#host.ticker;
  }

  get debug(): boolean {
    return this.#host.debug;
  }

  report(error: unknown): void {
    this.#host.report(error);
  }

  warn(message: string): void {
    this.#host.warn(message);
  }

  informerStarts(informer: InformerImpl<any>): void {
    this.#informers.add(informer);
    const session = this.#session;
    if (session !== undefined) informer.attach(session.raw, session.delivery.notifier, session.objects);
  }

  informerStopped(informer: InformerImpl<any>): void {
    this.#informers.delete(informer);
  }

  acquire(): () => void {
    const release = this.#usage.acquire();
    if (!this.#closed) this.#use();
    return release;
  }

  touch(): void {
    if (this.#closed) return;
    this.#usage.touch();
    this.#use();
  }

  watcherEnded(watcher: WatcherImpl<any>): void {
    WatcherHandle.ended(watcher);
    this.#watchers.get(watcher)?.();
    this.#watchers.delete(watcher);
  }

  get linger(): number {
    return this.#host.linger;
  }

  session(open: boolean): Session | undefined {
    return open && !this.#closed ? this.#ensure() : this.#session;
  }

  viewsChanged(ids: Uint32Array): void {
    this.#views.changed(ids);
  }

  signalled(signals: number): void {
    const names = Object.entries({
      status: Signal.status,
      sync: Signal.synced,
      relist: Signal.relist,
      overflow: Signal.overflow,
      error: Signal.error,
    });
    // Closed by the core alone: it made room for others. The next use opens it anew.
    if ((signals & Signal.status) !== 0 && !this.#closed && this.#session?.raw.status().phase === "closed") this.#drop();
    if ((signals & (Signal.status | Signal.synced)) !== 0) this.#views.statusChanged();
    for (const [name, bit] of names) if ((signals & bit) !== 0) this.#dispatch(name as keyof ResourceEventMap);
  }

  valuesFor(object: unknown): string[][] {
    return this.#host.indexers.map((indexer) => {
      try {
        const values: unknown = indexer(object);
        if (Array.isArray(values) && values.every((value) => typeof value === "string")) return [...new Set<string>(values)];
        this.report(
          new WatchCacheError("invalid", "an index function returned something else than an array of strings", { resource: this.name }),
        );
      } catch (error) {
        this.report(error);
      }
      return [];
    });
  }

  // --------------------------------------------------------------------------- called by the cache

  /** The page is visible, awake or online again: a try to connect need not wait any longer, and a stream may have died meanwhile. */
  wake(): void {
    const session = this.#session;
    // Where memory has run out, only the user knows whether there is more of it.
    if (session === undefined || this.#paused || session.idle || this.status.error?.code === "out-of-memory") return;
    this.#call(() => session.raw.resume());
  }

  /** The page may be kept for the way back, if it has no connection. `wake` opens it again. */
  hide(): void {
    const session = this.#session;
    if (session?.started && !this.#paused && !session.idle) this.#call(() => session.raw.pause());
  }

  /** The WebAssembly instance is lost, and this resource with it. */
  poisoned(error: WatchCacheError): void {
    this.#poison = error;
    const session = this.#session;
    this.#session = undefined;
    session?.delivery.close();
    this.#views.detachAll();
    this.#failed(error);
  }

  stats(): ResourceStats | undefined {
    const session = this.#session;
    if (session === undefined) return undefined;
    const core = this.#call(() => session.raw.stats()) as Omit<ResourceStats, "name" | "phase" | "decoded">;
    return { ...core, name: this.name, phase: this.status.phase, decoded: session.objects.decodes };
  }

  /** Writes its metrics on a page, if it is open. */
  writeMetrics(page: RawMetrics, scope: string): void {
    const session = this.#session;
    if (session !== undefined) this.#call(() => session.raw.metrics(page, this.labels.group, this.name, scope));
  }

  // ---------------------------------------------------------------------------------- the session

  /** The session, with its stream running unless it was paused. Undefined while it loads, and when it failed. */
  #use(): Session | undefined {
    const session = this.#ensure();
    if (session === undefined) {
      if (this.#poison === undefined && this.#host.runtime.loaded() === undefined) this.#wanting.begin();
      return undefined;
    }
    if (this.#paused) return session;
    try {
      if (!session.started) {
        session.started = true;
        session.raw.start();
      } else if (session.idle) {
        session.raw.resume();
      }
      session.idle = false;
      this.#error = undefined;
    } catch (error) {
      this.#host.checkPoison();
      this.#failed(toError(error, this.name));
      return undefined;
    }
    return session;
  }

  /** The session, not necessarily started; undefined while there is no WebAssembly, and when it could not be opened. */
  #ensure(): Session | undefined {
    if (this.#session !== undefined || this.#poison !== undefined) return this.#session;
    const module = this.#host.runtime.loaded();
    if (module === undefined) return undefined;
    try {
      let objects!: ObjectTable;
      const delivery = new Delivery(() => objects, this);
      const raw = this.#open(module, delivery);
      objects = new ObjectTable(raw, this.#host.debug);
      this.#session = { raw, delivery, objects, started: false, idle: false };
    } catch (error) {
      this.#host.checkPoison();
      this.#failed(toError(error, this.name));
      return undefined;
    }
    this.#error = undefined;
    this.#host.opened(this);
    const { raw, delivery, objects } = this.#session;
    this.#views.attachAll(this.#session);
    for (const informer of [...this.#informers]) informer.attach(raw, delivery.notifier, objects);
    for (const watcher of [...this.#watchers.keys()]) watcher.attach(raw, delivery);
    return this.#session;
  }

  /** The page's WebAssembly has come further, or no further. */
  #loading({ phase, error }: Loading): void {
    if (phase === "failed") {
      // It may still be tried again, as others ask. What fails now has failed, and is told once.
      if (this.#error === error) this.#end(error!);
      else this.#failed(error!);
      return;
    }
    this.#error = undefined;
    if (phase === "loaded") {
      this.#wanting.end();
      this.#use();
    }
    this.#announce("status");
  }

  #goIdle(): void {
    const session = this.#session;
    if (this.#wanting.state !== undefined) {
      this.#wanting.end();
      this.#announce("status");
    }
    if (session === undefined || !session.started || session.idle || this.#paused) return;
    session.idle = true;
    this.#call(() => session.raw.goIdle());
    this.#announce("status");
  }

  #drop(): void {
    const session = this.#session;
    if (session === undefined) return;
    this.#session = undefined;
    this.#arrays.clear();
    this.#values.clear();
    session.delivery.close();
    this.#views.detachAll();
    for (const informer of this.#informers) {
      informer.detach();
      if (!informer.isStarted) this.#informers.delete(informer);
    }
    try {
      session.raw.close();
    } catch {
      // Poisoned: it holds nothing that could still be let go.
    }
    this.#host.dropped(this);
    this.#announce("status");
  }

  #failed(error: WatchCacheError): void {
    this.#error = error;
    this.#end(error);
    this.#announce("status");
    this.#announce("error");
  }

  /** Ends what waits. */
  #end(error: WatchCacheError): void {
    for (const watcher of [...this.#watchers.keys()]) watcher.fail(error);
    for (const informer of [...this.#informers]) informer.fail(error);
    this.#rejectPending(error);
  }

  // -------------------------------------------------------------------------------------- helpers

  /** A read that answers at once. */
  #look<V>(empty: V, read: (session: Session) => V): V {
    if (this.#closed) return empty;
    this.#usage.touch();
    const session = this.#use();
    return session === undefined ? empty : this.#call(() => read(session));
  }

  #call<V>(call: () => V): V {
    try {
      return call();
    } catch (error) {
      this.#host.checkPoison();
      throw toError(error, this.name);
    }
  }

  /**
   * A question to the core, which counts as a use until it is answered.
   *
   * @param question gets what makes a promise that resolves when nobody waits for the answer any more
   * @param discard what to do with an answer that nobody waits for any more
   */
  #ask<V>(
    question: (raw: RawResource, over: () => Promise<void>) => Promise<V>,
    signal?: AbortSignal,
    discard?: (value: V, objects: ObjectTable) => void,
  ): Promise<{ value: V; objects: ObjectTable }> {
    if (signal?.aborted) return Promise.reject(abortError(signal));
    if (this.#closed) return Promise.reject(closedError(this.name));
    return new Promise((resolve, reject) => {
      let open = true;
      let release = () => {};
      let end = () => {};
      const over = () => new Promise<void>((resolve) => (end = resolve));
      const settle = () => {
        open = false;
        end();
        this.#pending.delete(fail);
        signal?.removeEventListener("abort", abort);
        release();
      };
      const fail = (error: unknown) => {
        if (!open) return;
        settle();
        reject(error);
      };
      const abort = () => fail(abortError(signal!));
      signal?.addEventListener("abort", abort, { once: true });
      this.#pending.add(fail);
      release = this.acquire();
      if (!open) release();

      const ask = async () => {
        if (open && this.#wanting.state !== undefined) await this.#wanting.over();
        const session = open ? this.#use() : undefined;
        if (session === undefined) return fail(this.#error ?? closedError(this.name));
        const value = await question(session.raw, over);
        if (!open) return discard?.(value, session.objects);
        settle();
        resolve({ value, objects: session.objects });
      };
      ask().catch((error: unknown) => {
        this.#host.checkPoison();
        fail(givenBy(error, () => toError(error, this.name)));
      });
    });
  }

  #rejectPending(error: WatchCacheError): void {
    for (const reject of [...this.#pending]) reject(error);
  }

  #phase(core: ResourceStatus["phase"]): ResourceStatus["phase"] {
    if (this.#closed) return "closed";
    if (this.#error !== undefined) return "failed";
    if (this.#wanting.state !== undefined) return "loading";
    if (this.#session === undefined) return this.#paused ? "paused" : "idle";
    if (this.#paused) return "paused";
    return core === "paused" ? "idle" : core;
  }

  /** What the facade itself has to tell is told in the next microtask, never inside the caller's call. */
  #announce(name: "status" | "error"): void {
    if (name === "error") {
      queueMicrotask(() => this.#dispatch("error"));
      return;
    }
    if (this.#announcing) return;
    this.#announcing = true;
    queueMicrotask(() => {
      this.#announcing = false;
      this.#views.statusChanged();
      this.#dispatch("status");
    });
  }

  #dispatch(name: keyof ResourceEventMap): void {
    this.dispatchEvent(new CustomEvent<ResourceStatus>(name, { detail: this.status }));
  }
}

bindMethods(ResourceImpl.prototype);

/** An object that came too late for who asked. What was given up has none. */
function discard(id: number | undefined, objects: ObjectTable): void {
  if (id !== undefined) objects.giveBack(id);
}
