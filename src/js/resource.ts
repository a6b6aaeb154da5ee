import { bindMethods } from "./bound.js";
import { Delivery } from "./delivery.js";
import { abortError, closedError, pausedError, toError, WatchCacheError } from "./errors.js";
import { InformerImpl } from "./informer.js";
import type { Loading } from "./loader.js";
import { ObjectTable } from "./objects.js";
import { callback, checkView, DELETE, GET, INFORMER, LIST, read, REFRESH, SIGNAL, text, texts, WATCH } from "./options.js";
import { Questions } from "./questions.js";
import type { RawMetrics, RawModule, RawResource } from "./raw.js";
import type { Open, ResourceHost } from "./resource-host.js";
import type { MetricLabels } from "./spec.js";
import { NOT_OPEN, StatusTeller, told, type Told } from "./status.js";
import { isListened, SafeTarget } from "./target.js";
import { NOTHING, StableArrays, StableTexts } from "./stable-arrays.js";
import type { Ticker } from "./ticker.js";
import type {
  DeleteOptions,
  GetOptions,
  Informer,
  InformerOptions,
  List,
  ListOptions,
  Mutable,
  ResourceErrorDetail,
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
import type { ViewHost } from "./shared-view.js";
import { SharedViews } from "./shared-views.js";
import { valuesOf } from "./values.js";
import { ViewImpl } from "./view.js";
import { Wanting } from "./wanting.js";
import { WatcherHandle } from "./watch-handle.js";
import { WatcherImpl } from "./watcher.js";
import { changer, discard, discardAll, givenBy, toDocument } from "./write.js";
import { SIGNAL_ERROR, SIGNAL_OVERFLOW, SIGNAL_RELIST, SIGNAL_SYNCED } from "./wire.js";

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
 * A resource as users hold it. Its half in the core is a session: it comes with the first use and goes after the last. Watchers and views that
 * are older than the session are registered when it comes.
 */
export class ResourceImpl<T> extends SafeTarget implements ViewHost {
  // In this order: Chromium's console calls no getters, and shows the first five.
  readonly #resource: string;
  #phase: ResourceStatus["phase"] = "idle";
  readonly name: string;
  status: ResourceStatus = NOT_OPEN;
  readonly labels: MetricLabels;
  readonly #host: ResourceHost<ResourceImpl<any>>;
  readonly #open: Open;
  readonly #usage: Usage;
  readonly #watchers = new Map<WatcherImpl<any>, () => void>();
  readonly #views: SharedViews = new SharedViews(this);
  readonly #informers = new Set<InformerImpl<any>>();
  readonly #questions = new Questions();
  readonly #arrays = new StableArrays<T>();
  readonly #texts = new StableTexts();
  readonly #wanting: Wanting;
  #session: Session | undefined;
  #error: WatchCacheError | undefined;
  /** What no later try can mend: mistakes of configuration, a lost instance. */
  #final: WatchCacheError | undefined;
  /** Since when it is held still, in milliseconds since 1970; if it was stale before, since then. */
  #paused: number | undefined;
  #closed = false;
  readonly #teller = new StatusTeller(this);

  constructor(host: ResourceHost<ResourceImpl<any>>, name: string, open: Open, labels: MetricLabels = { group: "", scope: "" }) {
    super(host.runtime.host);
    this.#resource = this.name = name;
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

  get resourceVersion(): string | undefined {
    return this.told().resourceVersion;
  }

  get lastEventAt(): number | undefined {
    return this.told().lastEventAt;
  }

  get hasSynced(): boolean {
    return this.resourceVersion !== undefined;
  }

  async synced(options?: WriteOptions): Promise<void> {
    await this.#ask((raw) => raw.synced(), read(SIGNAL, "synced", options).signal, undefined, true);
    this.#teller.now();
  }

  async list(given?: ListOptions): Promise<List<T, Mutable>> {
    const { signal, ...options } = read(LIST, "list", given);
    const answer = await this.#ask((raw, over) => raw.list(options, over()), signal, discardAll, true);
    const { ids, ...rest } = answer.value;
    return answer.objects.list(ids, rest) as List<T, Mutable>;
  }

  async get(key: string, given?: GetOptions): Promise<T> {
    text(key, "key");
    const { signal, ...options } = read(GET, "get", given);
    const answer = await this.#ask((raw, over) => raw.get(key, options, over()), signal, discard, true);
    return answer.objects.take(answer.value) as T;
  }

  peek(key: string): T | undefined {
    text(key, "key");
    return this.#look(undefined, ({ raw, objects }) => {
      const id = raw.peek(key);
      return id === 0 ? undefined : (objects.take(id) as T);
    });
  }

  byIndex(index: string, value: string): readonly T[] {
    texts({ index, value });
    return this.#look<readonly T[]>(NOTHING as readonly T[], ({ raw, objects }) => {
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
    text(index, "index");
    return this.#look<readonly string[]>(NOTHING, ({ raw }) => this.#texts.get(index, raw.indexValues(index)));
  }

  get size(): number {
    return this.#look(0, ({ raw }) => raw.size());
  }

  // ---------------------------------------------------------------------------------- subscribing

  watch(given?: WatchOptions): Watcher<T, Mutable> {
    const options = read(WATCH, "watch", given, this);
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

  view(spec?: ViewSpec<T, Mutable>): View<T, Mutable> {
    if (this.#closed) throw closedError(this.name);
    return new ViewImpl<T>(this, this.#views, checkView(spec, this));
  }

  informer(given?: InformerOptions<T, Mutable>): Informer<T, Mutable> {
    const options = read(INFORMER, "informer", given, this);
    const informer = new InformerImpl<T>(this, options);
    if (this.#closed) throw closedError(this.name);
    this.#informers.add(informer);
    // One that is never started leaves with the session.
    this.#usage.touch();
    const session = this.#ensure();
    if (session !== undefined) informer.attach(session.raw, session.delivery.notifier, session.objects);
    else if (this.#final !== undefined) informer.fail(this.#final);
    if (!informer.isStopped && (options.start ?? true)) informer.start();
    return informer;
  }

  // --------------------------------------------------------------------------------------- writing

  async create(object: T, options?: WriteOptions): Promise<T> {
    const document = toDocument(object, this.name);
    const answer = await this.#ask((raw, over) => raw.create(document, over()), read(SIGNAL, "create", options).signal, discard);
    return answer.objects.take(answer.value) as T;
  }

  async update(key: string, change: (current: T) => T | undefined, options?: WriteOptions): Promise<T> {
    text(key, "key");
    callback(change, "change");
    const { signal } = read(SIGNAL, "update", options);
    const answer = await this.#ask((raw, over) => raw.update(key, changer(raw, change, this.name), over()), signal, discard);
    return answer.objects.take(answer.value) as T;
  }

  async delete(key: string, given?: DeleteOptions): Promise<void> {
    text(key, "key");
    const { signal, ...options } = read(DELETE, "delete", given);
    await this.#ask((raw, over) => raw.delete(key, options, over()), signal);
  }

  /** What would not be the same if it were made anew is held by the cache, until it would. */
  protected override listened(): void {
    this.#host.keep(this, !this.#closed && (isListened(this) || this.#paused !== undefined));
  }

  // ------------------------------------------------------------------------------------ the stream

  async refresh(options?: { reset?: boolean | undefined }): Promise<void> {
    const { reset = false } = read(REFRESH, "refresh", options);
    await this.#ask((raw) => raw.refresh(reset));
  }

  pause(): void {
    if (this.#closed || this.#paused !== undefined) return;
    const { staleSince = Date.now(), resourceVersion } = this.told();
    this.#paused = staleSince;
    this.listened();
    const session = this.#session;
    if (session?.started && !session.idle) this.#call(() => session.raw.pause());
    if (resourceVersion === undefined) this.#questions.reject(pausedError(this.name), true);
    this.#teller.now();
  }

  resume(): void {
    this.#paused = undefined;
    this.listened();
    if (this.#closed || this.#final !== undefined) return;
    // Without a user it ends as after a read.
    this.#usage.touch();
    this.#host.runtime.hasten();
    const session = this.#use();
    if (session !== undefined) this.#call(() => session.raw.resume());
    this.#teller.now();
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
    this.#questions.reject(closedError(this.name));
    this.#usage.stop();
    this.listened();
    this.#host.closed(this);
    this.#teller.now();
  }

  // ------------------------------------------------------------- called by views, watchers, delivery

  readonly loaded = (): RawModule | undefined => this.#host.runtime.loaded();

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
    const names = Object.entries({ sync: SIGNAL_SYNCED, relist: SIGNAL_RELIST, overflow: SIGNAL_OVERFLOW, error: SIGNAL_ERROR });
    const { phase, error } = this.told();
    // Closed by the core alone: it made room for others. The next use opens it anew.
    if (phase === "closed" && !this.#closed) this.#drop();
    if ((signals & SIGNAL_SYNCED) !== 0) this.#views.statusChanged();
    this.#teller.heard();
    for (const [name, bit] of names) if ((signals & bit) !== 0) this.dispatch(name as keyof ResourceEventMap, error);
  }

  /** What its status is made of, at this moment. */
  told(): Told {
    const own = { closed: this.#closed, loading: this.#wanting.state, paused: this.#paused, error: this.#error };
    return told(this.#session?.raw, own, this.#resource);
  }

  /** @param error what an `error` event is about, where the phase does not tell it */
  dispatch(name: keyof ResourceEventMap, error: Told["error"] = this.#error): void {
    const { status } = this;
    this.#phase = status.phase;
    if (name === "status") this.#views.statusChanged();
    const untold = name === "error" && error !== undefined && status.error === undefined;
    const detail: ResourceStatus | ResourceErrorDetail = untold ? Object.freeze({ ...status, error: toError(error, this.name) }) : status;
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  valuesFor(object: unknown): string[][] {
    return this.#host.indexers.map((indexer) => valuesOf(indexer, () => object, this));
  }

  // --------------------------------------------------------------------------- called by the cache

  /** The page is visible, awake or online again. A try to connect waits no longer, and the stream is checked. */
  wake(): void {
    const session = this.#session;
    // Where memory has run out, only the user knows whether there is more of it.
    if (session === undefined || this.#paused !== undefined || session.idle || this.told().error?.code === "out-of-memory") return;
    this.#call(() => session.raw.resume());
  }

  /** The page may be kept for the way back, if it has no connection. `wake` opens it again. */
  hide(): void {
    const session = this.#session;
    if (session?.started && this.#paused === undefined && !session.idle) this.#call(() => session.raw.pause());
  }

  /** The WebAssembly instance is lost, and this resource with it. */
  poisoned(error: WatchCacheError): void {
    this.#final = error;
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
    return { ...core, name: this.name, phase: this.#phase, decoded: session.objects.decodes };
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
      if (this.#final === undefined && this.#host.runtime.loaded() === undefined) this.#wanting.begin();
      return undefined;
    }
    if (this.#paused !== undefined) return session;
    try {
      if (!session.started) {
        session.started = true;
        session.raw.start();
      } else if (session.idle) {
        session.raw.resume();
      }
      session.idle = false;
      if (this.#error !== undefined) this.#announce("status");
      this.#error = undefined;
    } catch (error) {
      this.#host.checkPoison();
      this.#failed(toError(error, this.name));
      return undefined;
    }
    return session;
  }

  /** The session, started or not. Undefined while there is no WebAssembly, and after opening failed, which is told once. */
  #ensure(): Session | undefined {
    if (this.#session !== undefined || this.#final !== undefined) return this.#session;
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
      this.#failed((this.#final = toError(error, this.name)));
      return undefined;
    }
    this.#error = undefined;
    this.#announce("status");
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
      this.#teller.now();
    }
    if (session === undefined || !session.started || session.idle || this.#paused !== undefined) return;
    session.idle = true;
    this.#call(() => session.raw.goIdle());
    this.#teller.now();
  }

  #drop(): void {
    const session = this.#session;
    this.#session = undefined;
    // Also of one that is lost, and of one that never came.
    this.#arrays.clear();
    this.#texts.clear();
    session?.delivery.close();
    if (session !== undefined) this.#views.detachAll();
    for (const informer of this.#informers) {
      informer.detach();
      if (!informer.isStarted) this.#informers.delete(informer);
    }
    if (session === undefined) return;
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
    this.#questions.reject(error);
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
   * @param waits for the first list, which does not come while the resource is paused
   */
  #ask<V>(
    question: (raw: RawResource, over: () => Promise<void>) => Promise<V>,
    signal?: WriteOptions["signal"],
    discard?: (value: V, objects: ObjectTable) => void,
    waits = false,
  ): Promise<{ value: V; objects: ObjectTable }> {
    if (signal?.aborted) return Promise.reject(abortError(signal));
    if (this.#closed) return Promise.reject(closedError(this.name));
    return this.#questions.ask(
      signal,
      waits,
      () => this.acquire(),
      async ({ isOpen, over, answer }) => {
        try {
          const empty = this.#session?.raw.status().resourceVersion === undefined;
          if (waits && this.#paused !== undefined && empty) throw pausedError(this.name);
          if (isOpen() && this.#wanting.state !== undefined) await this.#wanting.over();
          const session = isOpen() ? this.#use() : undefined;
          if (session === undefined) throw this.#error ?? closedError(this.name);
          const { objects } = session;
          const value = await question(session.raw, over);
          if (!answer({ value, objects })) discard?.(value, objects);
        } catch (error) {
          this.#host.checkPoison();
          throw givenBy(error, () => toError(error, this.name));
        }
      },
    );
  }

  /** What was caused by a read, a timer or a subscriber is told in the next microtask, never inside the caller's call. */
  #announce(name: "status" | "error"): void {
    if (name === "status") this.#teller.soon();
    else queueMicrotask(() => this.dispatch("error"));
  }
}

bindMethods(ResourceImpl.prototype);
