import { closedError, toError, type WatchCacheError } from "../error/errors.js";
import { closeTarget, isListened, SafeTarget } from "../error/event-target.js";
import { valuesOf } from "../indexes/values.js";
import { InformerImpl } from "../informer/informer.js";
import { INFORMER } from "../informer/options.js";
import type { Informer, InformerOptions } from "../informer/types.js";
import { bindMethods } from "../language/bound.js";
import { NOTHING, StableArrays, StableTexts } from "../language/stable-arrays.js";
import type { TableColumn } from "../object/metadata.js";
import type { Path } from "../object/path.js";
import type { Mutable } from "../object/readonly.js";
import { callback, invalid, object, readable, text, texts } from "../options/kinds.js";
import { read } from "../options/read.js";
import { answered, changer, discard, discardAll, toDocument, toPatch } from "../request/document.js";
import { checkPart, DELETE, DELETE_COLLECTION, GET, LIST, PATCH, SIGNAL, WRITE } from "../request/options.js";
import type {
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  List,
  ListOptions,
  PatchOptions,
  SignalOptions,
  Subresource,
  WriteOptions,
} from "../request/types.js";
import { isSynced, NOT_OPEN, StatusTeller, type Told } from "../status/status.js";
import type { ResourceErrorDetail, ResourceStatus } from "../status/types.js";
import type { MetricLabels } from "../upstream/spec.js";
import { checkView } from "../view/options.js";
import type { ViewHost } from "../view/shared-view.js";
import { missing, related } from "../view/relations.js";
import { SharedViews } from "../view/shared-views.js";
import type { Ticker } from "../view/ticker.js";
import type {
  DerivedColumn,
  DerivedRow,
  DerivedValue,
  FieldNames,
  RelationOptions,
  SelectedRow,
  SelectedViewSpec,
  View,
  ViewSpec,
} from "../view/types.js";
import { ViewImpl } from "../view/view.js";
import { WatcherHandle } from "../watch/handle.js";
import { WATCH } from "../watch/options.js";
import type { Watcher, WatchOptions } from "../watch/types.js";
import { WatcherImpl } from "../watch/watcher.js";
import { SIGNAL_ERROR, SIGNAL_LET_GO, SIGNAL_OVERFLOW, SIGNAL_RELIST, SIGNAL_SYNCED } from "../wire/numbers.js";
import type { RawMetrics, RawModule, RawResource } from "../wire/raw.js";
import type { Open, ResourceHost } from "./host.js";
import { Lifecycle, type Living } from "./lifecycle.js";
import { REFRESH } from "./options.js";
import type { ResourceSession } from "./session.js";
import type { ResourceEventMap, ResourceStats } from "./types.js";

/** The event that tells a signal. */
const SIGNAL_EVENTS: readonly [keyof ResourceEventMap, number][] = [
  ["sync", SIGNAL_SYNCED],
  ["relist", SIGNAL_RELIST],
  ["overflow", SIGNAL_OVERFLOW],
  ["error", SIGNAL_ERROR],
];

/**
 * A resource as users hold it: its reads, writes and subscribers. Its half in the core is a session, and when that comes and goes is the matter
 * of its lifecycle. Watchers and views that are older than the session are registered when it comes.
 */
export class ResourceImpl<T> extends SafeTarget implements ViewHost, Living {
  // In this order: Chromium's console calls no getters, and shows the first five. So the name comes first under the word that a reader looks for.
  readonly #resource: string;
  #phase: ResourceStatus["phase"] = "idle";
  readonly name: string;
  status: ResourceStatus = NOT_OPEN;
  labels: MetricLabels;
  readonly #host: ResourceHost<ResourceImpl<any>>;
  readonly #life: Lifecycle<ResourceImpl<any>>;
  readonly #watchers = new Map<WatcherImpl<any>, () => void>();
  readonly #views: SharedViews = new SharedViews(this);
  readonly #informers = new Set<InformerImpl<any>>();
  readonly #arrays = new StableArrays<T>();
  readonly #texts = new StableTexts();
  readonly #teller = new StatusTeller(this);
  #columns: { readonly json: string; readonly columns: readonly TableColumn[] } | undefined;

  constructor(host: ResourceHost<ResourceImpl<any>>, name: string, open: Open, labels: MetricLabels = { group: "", scope: "" }) {
    super(host.runtime.host);
    this.#resource = this.name = name;
    this.labels = labels;
    this.#host = host;
    this.#life = new Lifecycle<ResourceImpl<any>>(this, host, open, this.#teller);
  }

  // -------------------------------------------------------------------------------------- reading

  get resourceVersion(): string | undefined {
    return this.told().resourceVersion;
  }

  get columns(): readonly TableColumn[] | undefined {
    const json = this.#life.read(undefined, ({ raw }) => raw.tableColumns());
    if (json !== this.#columns?.json) this.#columns = json === undefined ? undefined : { json, columns: Object.freeze(JSON.parse(json)) };
    return this.#columns?.columns;
  }

  get lastEventAt(): number | undefined {
    return this.told().lastEventAt;
  }

  get hasSynced(): boolean {
    return isSynced(this.told());
  }

  async synced(options?: SignalOptions): Promise<void> {
    await this.#life.ask((raw) => raw.synced(), { signal: read(SIGNAL, "synced", options).signal, forList: true });
    this.#teller.now();
  }

  async list(given?: ListOptions): Promise<List<T, Mutable>> {
    const { signal, ...options } = read(LIST, "list", given);
    const answer = await this.#life.ask((raw, over) => raw.list(options, over()), { signal, discard: discardAll, forList: true });
    const { ids, ...rest } = answer.value;
    return answer.objects.list(ids, rest) as List<T, Mutable>;
  }

  async get(key: string, given?: GetOptions & Partial<Subresource>): Promise<any> {
    text(key, "key");
    const { signal, subresource, ...options } = read(GET, "get", given);
    if (subresource !== undefined) {
      if (options.resourceVersion !== undefined)
        throw invalid("a subresource is read as it stands: leave resourceVersion out, or leave subresource out");
      return answered(await this.#life.ask((raw, over) => raw.getSubresource(key, subresource, over()), { signal }));
    }
    const answer = await this.#life.ask((raw, over) => raw.get(key, options, over()), { signal, discard, forList: true });
    return answer.objects.take(answer.value) as T;
  }

  peek(key: string): T | undefined {
    text(key, "key");
    return this.#life.read(undefined, ({ raw, objects }) => {
      const id = raw.peek(key);
      return id === 0 ? undefined : (objects.take(id) as T);
    });
  }

  byIndex(index: string, value: string): readonly T[] {
    texts({ index, value });
    return this.#life.read<readonly T[]>(NOTHING as readonly T[], ({ raw, objects }) => {
      const ids = raw.byIndex(index, value);
      return this.#arrays.get(
        JSON.stringify([index, value]),
        ids,
        (ids) => ids.forEach((id) => objects.giveBack(id)),
        (ids) => Object.freeze(objects.takeAll(ids) as T[]),
      );
    });
  }

  indexValues(index: string): readonly string[] {
    text(index, "index");
    return this.#life.read<readonly string[]>(NOTHING, ({ raw }) => this.#texts.get(index, raw.indexValues(index)));
  }

  get size(): number {
    return this.#life.read(0, ({ raw }) => raw.size());
  }

  // ---------------------------------------------------------------------------------- subscribing

  watch(given?: WatchOptions): Watcher<T, Mutable> {
    const options = read(WATCH, "watch", given, this);
    const watcher = new WatcherImpl<T>(this, options);
    const handle = new WatcherHandle(watcher);
    const life = this.#life;
    if (life.isClosed) watcher.fail(closedError(this.name));
    if (life.isClosed || options.signal?.aborted) return handle;
    this.#watchers.set(watcher, life.acquire());
    const session = life.use();
    if (session !== undefined) watcher.attach(session);
    else if (life.error !== undefined) watcher.fail(life.error);
    return handle;
  }

  view(spec?: ViewSpec<T, Mutable>): View<T, Mutable>;
  view<const Select extends { readonly [name: string]: Path }, Values extends { readonly [name: string]: DerivedValue }>(
    spec: Omit<ViewSpec<T, Mutable>, "derive" | "select"> & {
      select: Select & FieldNames;
      derive: { readonly [Name in keyof Values]: DerivedColumn<Values[Name]> };
    },
  ): View<DerivedRow<Select, Values>, Mutable>;
  view<Fields extends object>(spec: SelectedViewSpec<T, Fields, Mutable>): View<SelectedRow<Fields>, Mutable>;
  view(spec?: ViewSpec<T, Mutable> | SelectedViewSpec<T, any, Mutable>): View<any, Mutable> {
    if (this.#life.isClosed) throw closedError(this.name);
    const read = checkView(spec as Partial<SelectedViewSpec<T, any, Mutable>> | undefined, this);
    return new ViewImpl<T>(this, this.#views, related(read, this.labels.group));
  }

  childrenOf(owner: RelationOptions["childrenOf"], spec?: ViewSpec<T, Mutable>): View<T, Mutable> {
    return this.#relating("childrenOf", owner, spec);
  }

  selectedBy(selecting: RelationOptions["selectedBy"], spec?: ViewSpec<T, Mutable>): View<T, Mutable> {
    return this.#relating("selectedBy", selecting, spec);
  }

  eventsOf(object: RelationOptions["eventsOf"], spec?: ViewSpec<T, Mutable>): View<T, Mutable> {
    return this.#relating("eventsOf", object, spec);
  }

  #relating<Name extends keyof RelationOptions>(
    name: Name,
    given: RelationOptions[Name],
    spec: ViewSpec<T, Mutable> = {},
  ): View<T, Mutable> {
    const what = `what ${name} is given`;
    return this.view({ ...readable(what, () => ({ ...object(spec, what) })), [name]: given ?? missing(name, given) });
  }

  informer(given?: InformerOptions<T, Mutable>): Informer<T, Mutable> {
    const options = read(INFORMER, "informer", given, this);
    const informer = new InformerImpl<T>(this, options);
    const life = this.#life;
    if (life.isClosed) throw closedError(this.name);
    // One that is never started leaves with the session.
    life.prepare();
    this.informerStarts(informer);
    if (life.final !== undefined) informer.fail(life.final);
    if (!informer.isStopped && (options.start ?? true)) informer.start();
    return informer;
  }

  // --------------------------------------------------------------------------------------- writing

  async create(object: unknown, given?: WriteOptions & Partial<Subresource>): Promise<any> {
    const document = toDocument(object, this.name);
    const { signal, ...options } = read(WRITE, "create", given);
    return answered(await this.#life.ask((raw, over) => raw.create(document, options, over()), { signal, discard }));
  }

  async update(key: string, change: (current: any) => any, given?: WriteOptions & Partial<Subresource>): Promise<any> {
    text(key, "key");
    callback(change, "change");
    const { signal, ...options } = read(WRITE, "update", given);
    const asked = (raw: RawResource, over: () => Promise<void>) => raw.update(key, changer(raw, change, this.name), options, over());
    return answered(await this.#life.ask(asked, { signal, discard }));
  }

  async patch(key: string, patch: unknown, given: PatchOptions & Partial<Subresource>): Promise<any> {
    text(key, "key");
    const document = toPatch(patch, this.name);
    const { signal, ...options } = read(PATCH, "patch", given, this, "type");
    return answered(await this.#life.ask((raw, over) => raw.writePatch(key, document, options, over()), { signal, discard }));
  }

  async delete(key: string, given?: DeleteOptions): Promise<void> {
    text(key, "key");
    const { signal, ...options } = read(DELETE, "delete", given);
    await this.#life.ask((raw, over) => raw.delete(key, options, over()), { signal });
  }

  async deleteCollection(given?: DeleteCollectionOptions): Promise<void> {
    const { signal, ...options } = read(DELETE_COLLECTION, "deleteCollection", given, this);
    checkPart(given);
    await this.#life.ask((raw, over) => raw.deleteCollection(options, over()), { signal });
  }

  override listenersChanged(): void {
    this.updateKept();
  }

  /**
   * Has the cache keep it while it is paused or listened to, also if no user holds it any more. Another of its name would run, and tell those
   * listeners nothing. In any other state another does as well.
   */
  updateKept(): void {
    this.#host.keep(this, !this.#life.isClosed && (isListened(this) || this.#life.isPaused));
  }

  // ------------------------------------------------------------------------------------ the stream

  async refresh(options?: { reset?: boolean | undefined }): Promise<void> {
    const { reset = false } = read(REFRESH, "refresh", options);
    await this.#life.ask(async (raw) => {
      // What a worker holds is renewed first: this page lists what it has.
      await Promise.all(this.#host.lines(this).map((line) => line.refresh(reset)));
      await raw.refresh(reset);
    });
  }

  setNamespaces(namespaces: readonly string[]): void {
    if (this.#life.isClosed) throw closedError(this.name);
    const moved = this.#host.moved(this, namespaces);
    this.labels = moved.labels;
    this.#life.call(() => this.#life.session?.raw.setNamespaces(moved.namespaces));
  }

  pause(): void {
    this.#life.pause();
  }

  resume(): void {
    this.#life.resume();
  }

  /** Of a worker's cache: somebody has come who may be able to say who asks. */
  signedIn(): void {
    this.#life.signedIn();
  }

  close(): void {
    this.#life.close();
    closeTarget(this);
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
    const { session } = this.#life;
    if (session !== undefined) informer.attach(session);
  }

  informerStopped(informer: InformerImpl<any>): void {
    this.#informers.delete(informer);
  }

  acquire(): () => void {
    return this.#life.acquire();
  }

  touch(): void {
    this.#life.touch();
  }

  watcherEnded(watcher: WatcherImpl<any>): void {
    WatcherHandle.ended(watcher);
    this.#watchers.get(watcher)?.();
    this.#watchers.delete(watcher);
  }

  get linger(): number {
    return this.#host.linger;
  }

  get session(): ResourceSession | undefined {
    return this.#life.session;
  }

  openSession(): ResourceSession | undefined {
    return this.#life.ensure();
  }

  viewsChanged(ids: Uint32Array): void {
    this.#views.changed(ids);
  }

  /** Takes what a flush tells once. First what is here follows it, then users hear of it. */
  signalled(signals: number): void {
    const { phase, error } = this.told();
    if ((signals & SIGNAL_LET_GO) !== 0) this.#life.letGo();
    if (phase === "closed") this.#life.drop();
    if ((signals & SIGNAL_SYNCED) !== 0) this.#views.statusChanged();
    this.#teller.heard();
    for (const [name, bit] of SIGNAL_EVENTS) if ((signals & bit) !== 0) this.dispatch(name, error);
  }

  /** What its status is made of, at this moment. */
  told(): Told {
    return this.#life.told();
  }

  /** @param error what an `error` event is about, where the phase does not tell it */
  dispatch(name: keyof ResourceEventMap, error: Told["error"] = this.#life.error): void {
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

  // ----------------------------------------------------------------------------- called by its lifecycle

  attach(session: ResourceSession): void {
    this.#views.attachAll(session);
    for (const informer of [...this.#informers]) informer.attach(session);
    for (const watcher of [...this.#watchers.keys()]) watcher.attach(session);
  }

  detach(session: ResourceSession | undefined): void {
    this.#arrays.clear();
    this.#texts.clear();
    if (session !== undefined) this.#views.detachAll();
    for (const informer of this.#informers) {
      informer.detach();
      if (!informer.isStarted) this.#informers.delete(informer);
    }
  }

  lost(): void {
    this.#views.detachAll();
  }

  closing(): void {
    for (const informer of [...this.#informers]) informer.stop();
  }

  closed(): void {
    for (const watcher of [...this.#watchers.keys()]) watcher.closed();
    this.#views.close();
  }

  fail(error: WatchCacheError): void {
    for (const watcher of [...this.#watchers.keys()]) watcher.fail(error);
    for (const informer of [...this.#informers]) informer.fail(error);
  }

  // --------------------------------------------------------------------------- called by the cache

  stats(): ResourceStats | undefined {
    const { session } = this.#life;
    if (session === undefined) return undefined;
    const core = this.#life.call(() => session.raw.stats()) as Omit<ResourceStats, "name" | "phase" | "decoded" | "renewed">;
    return { ...core, name: this.#resource, phase: this.#phase, decoded: session.objects.decodes, renewed: session.objects.renewals };
  }

  /** Writes its metrics on a page, if it is open. */
  writeMetrics(exposition: RawMetrics): void {
    const { session } = this.#life;
    const { group, scope } = this.labels;
    if (session !== undefined) this.#life.call(() => session.raw.metrics(exposition, group, this.name, scope));
  }
}

bindMethods(ResourceImpl.prototype);
