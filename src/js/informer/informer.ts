import { call } from "../error/callbacks.js";
import { closedError, toError, WatchCacheError } from "../error/errors.js";
import { indexes } from "../indexes/options.js";
import type { IndexFunction } from "../indexes/types.js";
import { valuesOf } from "../indexes/values.js";
import { bindable, bindMethods, self } from "../language/bound.js";
import { Deferred } from "../language/deferred.js";
import { printable } from "../language/printing.js";
import { NOTHING, StableArrays, StableTexts } from "../language/stable-arrays.js";
import type { ObjectLike } from "../object/metadata.js";
import type { Path } from "../object/path.js";
import type { Mutable } from "../object/readonly.js";
import { invalid, type Judge, text, texts } from "../options/kinds.js";
import { read } from "../options/read.js";
import { toDocument } from "../request/document.js";
import type { ObjectTable } from "../wire/objects.js";
import type { RawInterruption, RawResource } from "../wire/raw.js";
import type { Session } from "../wire/session.js";
import type { Notifier } from "./notifier.js";
import { checkHandler, HANDLER } from "./options.js";
import { type Reader, Transformed } from "./reader.js";
import { RegistrationImpl } from "./registration.js";
import type { EventHandler, HandlerOptions, HandlerRegistration, Informer as Shape, InformerListener, InformerOptions } from "./types.js";

/** What an informer needs of its resource. */
export interface InformerHost extends Judge {
  readonly name: string;
  readonly debug: boolean;
  report(error: unknown): void;
  warn(message: string): void;
  /** A use that lasts. */
  acquire(): () => void;
  /** It starts: from now on it comes and goes with the resource's session. */
  informerStarts(informer: Informer<any>): void;
  informerStopped(informer: Informer<any>): void;
}

/** A session, as informers know it. */
export interface InformerSession extends Session {
  readonly notifier: Notifier;
}

interface Attachment {
  readonly raw: RawResource;
  readonly notifier: Notifier;
  readonly objects: ObjectTable;
  readonly reader: Reader;
  readonly id: number;
}

/** Informers that nobody holds any more give their ids back. */
const forgotten = new FinalizationRegistry<{ raw: RawResource; id: number }>(({ raw, id }) => {
  try {
    raw.informerForget(id);
  } catch {
    // Closed or poisoned: it is gone.
  }
});

/** An informer as users hold it. Its half in the core comes with the resource's session. */
class Informer<T> implements Shape<T, Mutable> {
  readonly #host: InformerHost;
  readonly #options: InformerOptions<T, Mutable>;
  readonly #registrations = new Set<RegistrationImpl<T>>();
  readonly #indexers = new Map<string, Path | IndexFunction>();
  readonly #synced = new Deferred();
  readonly #arrays = new StableArrays<T>();
  readonly #texts = new StableTexts();
  #at: Attachment | undefined;
  #hasSynced = false;
  #version = "";
  #started = false;
  #stopped = false;
  /** Why it can never go on. */
  #failure: WatchCacheError | undefined;
  #release: (() => void) | undefined;

  constructor(host: InformerHost, options: InformerOptions<T, Mutable>) {
    bindable(this);
    this.#host = host;
    this.#options = options;
    for (const [name, by] of Object.entries(options.indexers ?? {})) this.#indexers.set(name, by);
  }

  // ------------------------------------------------------------------------- called by the resource

  /** The core is there: registers with it. */
  attach({ raw, notifier, objects }: InformerSession): void {
    if (this.#at !== undefined || this.#stopped) return;
    const { resyncPeriod, relistUpdates, readYourWrites, transform } = this.#options;
    const id = raw.informer({ resyncPeriod, relistUpdates, readYourWrites });
    const reader = transform === undefined ? objects : new Transformed(objects, transform, this.#host.name, this.#host.debug);
    this.#at = { raw, notifier, objects, reader, id };
    forgotten.register(this, { raw, id }, this);
    notifier.attachInformer(id, this);
    try {
      raw.informerAddIndexers(id, described(this.#indexers));
      for (const registration of [...this.#registrations]) registration.attach(raw, notifier, objects, reader, id);
      if (this.#started) this.#begin(this.#at);
    } catch (error) {
      // Given before the core was there to judge it.
      this.fail(toError(error, this.#host.name));
    }
  }

  /** The core is gone. */
  detach(): void {
    if (this.#at === undefined) return;
    for (const registration of this.#registrations) registration.detach();
    this.#at.notifier.detachInformer(this.#at.id);
    forgotten.unregister(this);
    this.#arrays.clear();
    this.#texts.clear();
    this.#at = undefined;
  }

  /** It cannot go on. */
  fail(error: WatchCacheError): void {
    if (this.#stopped) return;
    this.#failure = error;
    this.#host.report(error);
    this.#end(error);
  }

  // ------------------------------------------------------------------------- called by the notifier

  syncedNow(): void {
    this.#hasSynced = true;
    this.#synced.resolve();
  }

  interrupted({ phase, error, retryAt, stale, key }: RawInterruption): void {
    const { onWatchError } = this.#options;
    if (onWatchError === undefined || !this.#started || this.#stopped) return;
    const delayMs = retryAt === undefined ? 0 : Math.max(0, retryAt - Date.now());
    const interruption = {
      phase,
      error: toError(error, this.#host.name),
      ...(retryAt === undefined ? {} : { retryAt }),
      delayMs,
      stale,
      ...(key === undefined ? {} : { key }),
    };
    call(onWatchError, [interruption], (thrown) => this.#host.report(thrown));
  }

  /** The core had no memory for it, and has ended it. */
  starved(interruption: RawInterruption): void {
    if (this.#stopped) return;
    void this.lastSyncResourceVersion;
    this.interrupted(interruption);
    this.fail(toError(interruption.error, this.#host.name));
  }

  // -------------------------------------------------------------------------------------- its life

  get isStarted(): boolean {
    return this.#started;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  get hasSynced(): boolean {
    const at = this.#at;
    if (!this.#hasSynced && at !== undefined) this.#hasSynced = this.#call(() => at.raw.informerSynced(at.id));
    return this.#hasSynced;
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get lastSyncResourceVersion(): string {
    const at = this.#at;
    if (at !== undefined && this.#started && !this.#stopped) this.#version = this.#call(() => at.raw.informerVersion());
    return this.#version;
  }

  start(): void {
    if (this.#started || this.#stopped) {
      this.#host.warn(
        `the informer of ${this.#host.name} ${this.#stopped ? "has stopped, and never starts again" : "has started already"}`,
      );
      return;
    }
    this.#started = true;
    this.#host.informerStarts(this);
    const release = this.#host.acquire();
    // That may have failed, and ended this.
    if (this.#stopped) return release();
    this.#release = release;
    if (this.#at !== undefined) this.#begin(this.#at);
  }

  stop(): void {
    void this.lastSyncResourceVersion;
    this.#end(closedError(this.#host.name));
  }

  /** Resolves when no call is under way any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#registrations].map((registration) => registration.idle));
  }

  #begin({ raw, id }: Attachment): void {
    raw.informerStart(id);
  }

  #end(error: WatchCacheError): void {
    if (this.#stopped) return;
    this.#stopped = true;
    const at = this.#at;
    for (const registration of this.#registrations) registration.end(error);
    this.#registrations.clear();
    try {
      at?.raw.informerStop(at.id);
    } catch {
      // Closed or poisoned: it has ended already.
    }
    // It hears of nothing any more, and goes with whoever reads it.
    at?.notifier.detachInformer(at.id);
    if (!this.#hasSynced) this.#synced.reject(error);
    this.#host.informerStopped(this);
    this.#release?.();
    this.#release = undefined;
  }

  // --------------------------------------------------------------------------------------- handlers

  addEventHandler(
    handler: EventHandler<T, Mutable> | InformerListener<T, Mutable>,
    given?: HandlerOptions<T, Mutable>,
  ): HandlerRegistration {
    checkHandler(handler);
    const options = read(HANDLER, "addEventHandler", given, this.#host);
    this.#mustLive("handler was not added to shared informer because it has stopped already");
    const registration = new RegistrationImpl<T>(
      {
        name: this.#host.name,
        report: (error) => this.#host.report(error),
        removed: (removed) => this.#registrations.delete(removed as RegistrationImpl<T>),
      },
      handler,
      options,
    );
    const at = this.#at;
    if (at !== undefined) this.#call(() => registration.attach(at.raw, at.notifier, at.objects, at.reader, at.id));
    this.#registrations.add(registration);
    return registration;
  }

  async removeEventHandler(registration: HandlerRegistration): Promise<void> {
    if (!(registration instanceof RegistrationImpl)) throw invalid("a registration is what addEventHandler returned");
    if (this.#registrations.has(self(registration))) await registration.remove();
  }

  // ---------------------------------------------------------------------------------------- indexes

  addIndexers(indexers: Readonly<Record<string, Path | IndexFunction>>): void {
    this.#mustLive("indexers were not added because the informer has stopped already");
    const added = new Map(Object.entries<Path | IndexFunction>(indexes(indexers, "indexers", this.#host)));
    for (const name of added.keys()) if (this.#indexers.has(name)) throw invalid(`indexer conflict: ${name}`);
    const at = this.#at;
    if (at !== undefined) this.#call(() => at.raw.informerAddIndexers(at.id, described(added)));
    for (const [name, by] of added) this.#indexers.set(name, by);
  }

  byIndex(index: string, value: string): readonly T[] {
    texts({ index, value });
    return this.#read(NOTHING as readonly T[], (at) => {
      this.#decide(at, index);
      return this.#array(at, JSON.stringify([index, value]), at.raw.informerByIndex(at.id, index, value));
    });
  }

  indexKeys(index: string, value: string): readonly string[] {
    texts({ index, value });
    return this.#read<readonly string[]>(NOTHING, (at) => {
      this.#decide(at, index);
      return this.#texts.get(JSON.stringify([index, value]), at.raw.informerIndexKeys(at.id, index, value));
    });
  }

  indexValues(index: string): readonly string[] {
    text(index, "index");
    return this.#read<readonly string[]>(NOTHING, (at) => {
      this.#decide(at, index);
      return this.#texts.get(index, at.raw.informerIndexValues(at.id, index));
    });
  }

  list(labelSelector = "", namespace = ""): readonly T[] {
    texts({ labelSelector, namespace });
    return this.#read(NOTHING as readonly T[], (at) =>
      this.#array(at, JSON.stringify([labelSelector, namespace, "list"]), at.raw.informerList(at.id, labelSelector, namespace)),
    );
  }

  get(key: string): T | undefined {
    text(key, "key");
    return this.#read<T | undefined>(undefined, (at) => {
      const id = at.raw.informerGet(at.id, key);
      return id === 0 ? undefined : this.#shown(at, id)[0];
    });
  }

  mutated(object: ObjectLike): void {
    const document = toDocument(object, this.#host.name);
    this.#read(undefined, ({ raw }) => raw.informerMutated(document));
  }

  // ---------------------------------------------------------------------------------------- helpers

  /** @throws {WatchCacheError} what it failed with; `closed` where it was stopped */
  #mustLive(message: string): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#stopped) throw new WatchCacheError("closed", message, { resource: this.#host.name });
  }

  /** Has the function of an index judge what has changed since. */
  #decide({ raw, reader, id }: Attachment, index: string): void {
    if (this.#failure !== undefined) throw this.#failure;
    const values = this.#indexers.get(index);
    if (typeof values !== "function") return;
    for (const object of raw.informerUndecided(id, index)) {
      const given = valuesOf(values, () => reader.take(object), this.#host);
      raw.informerDecide(id, index, object, given);
    }
  }

  #array(at: Attachment, name: string, ids: Float64Array): readonly T[] {
    return this.#arrays.get(
      name,
      ids,
      (ids) => ids.forEach((id) => at.objects.giveBack(id)),
      (ids) =>
        at.reader === at.objects
          ? (at.objects.array(ids) as readonly T[])
          : Object.freeze(Array.from(ids, (id) => this.#shown(at, id)).flat(1) as T[]),
    );
  }

  /** The object of an id that was just handed out; none where the transform fails on it. */
  #shown({ reader }: Attachment, id: number): [T] | [] {
    try {
      return [reader.take(id) as T];
    } catch (error) {
      this.#host.report(error);
      return [];
    }
  }

  #read<V>(empty: V, read: (at: Attachment) => V): V {
    const at = this.#at;
    return at === undefined ? empty : this.#call(() => read(at));
  }

  #call<V>(call: () => V): V {
    try {
      return call();
    } catch (error) {
      throw toError(error, this.#host.name);
    }
  }

  static {
    printable(Informer.prototype, "Informer", (informer: Informer<unknown>) => {
      const { hasSynced, lastSyncResourceVersion, isStopped } = informer;
      return { resource: informer.#host.name, hasSynced, lastSyncResourceVersion, isStopped, handlers: informer.#registrations.size };
    });
  }
}

bindMethods(Informer.prototype);

// Chromium's console shows the name of the class.
export { Informer as InformerImpl };

function described(indexers: ReadonlyMap<string, Path | IndexFunction>): { name: string; path?: string }[] {
  return Array.from(indexers, ([name, by]) => (typeof by === "string" ? { name, path: by } : { name }));
}
