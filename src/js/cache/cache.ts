import { reporter } from "../error/callbacks.js";
import { closedError, WatchCacheError } from "../error/errors.js";
import { closeTarget, SafeTarget } from "../error/event-target.js";
import { ask } from "../host/fetch.js";
import { hasFewConnections, protocolOf } from "../host/protocol.js";
import { onWake } from "../host/sleep.js";
import type { IndexFunction } from "../indexes/types.js";
import { Api } from "../kubernetes/api.js";
import type { AccessAnswer, AccessQuestion, DiscoverOptions, Discovery, KindSpec } from "../kubernetes/types.js";
import { bindMethods } from "../language/bound.js";
import { disposable } from "../language/disposable.js";
import { first, printable } from "../language/printing.js";
import type { Line } from "../link/line.js";
import { Sharing } from "../link/sharing.js";
import type { SharedMode, Ways } from "../link/workers.js";
import type { Runtime } from "../load/instance.js";
import type { KubeObject, ObjectLike } from "../object/metadata.js";
import { invalid, readable } from "../options/kinds.js";
import type { Beginning } from "../persist/epoch.js";
import { Keeper } from "../persist/keeper.js";
import type { PersistOptions } from "../persist/types.js";
import type { Delivery } from "../resource/delivery.js";
import type { PageLife, ResourceHost } from "../resource/host.js";
import { ResourceImpl } from "../resource/resource.js";
import type { Resource, ResourceStats } from "../resource/types.js";
import { readCredentials } from "../upstream/credentials.js";
import { GATEWAY } from "../upstream/gateway.js";
import { imported } from "../upstream/imported.js";
import { MAY_HAVE } from "../upstream/options.js";
import type { PolledSourceSpec, SourceSpec } from "../upstream/source.js";
import { type GivenSource, type MetricLabels, readNamespaces, readSpec, type Target } from "../upstream/spec.js";
import type { Credentials, ResourceSpec } from "../upstream/types.js";
import { Ticker } from "../view/ticker.js";
import { build } from "../wasm/watchcache.js";
import type { FrameEncoder } from "../wire/frame-encoder.js";
import type { RawHead, RawKubernetes, RawMemory, RawModule, RawOptions, RawRemote, RawResource, RawSource } from "../wire/raw.js";
import type { WatchCacheOptions } from "./options-types.js";
import { noteListing, noteOrigin, type OpenResource } from "./origin.js";
import { baseUrl, knownBase, readOptions, type Settings } from "./settings.js";
import type { CacheStats, WatchCache, WorkerStats } from "./types.js";

const NO_LINES: readonly Line[] = [];
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
/** What is kept of an identity, unless `persist` says otherwise. */
const MAX_KEPT_BYTES = 64 * 2 ** 20;
const MAX_KEPT_MS = 24 * 3_600_000;

/**
 * The cache behind `createWatchCache`.
 *
 * @param ways to streams that another holds; undefined: it is that other
 * @param who says who asks the server, in the place of `auth`
 */
export function openCache(options: WatchCacheOptions, runtime: Runtime, ways?: Ways, who?: Who): WatchCache {
  return new CacheImpl(options, runtime, ways, who) as unknown as WatchCache;
}

/** What says who asks the server. Of several it also says who else may, and since when the first of them has been there, by the date. */
export type Who = Pick<RawKubernetes, "auth" | "others"> & { readonly since?: number };

class CacheImpl extends SafeTarget implements ResourceHost<ResourceImpl<any>> {
  readonly ticker: Ticker;
  readonly linger: number;
  readonly debug: boolean;
  readonly report: (error: unknown) => void;
  readonly warn: (message: string) => void;
  readonly indexers: readonly IndexFunction[];
  readonly runtime: Runtime;
  /** Named once, one is held by who named it, and here only while it is open or kept. */
  readonly #resources = new Map<string, WeakRef<ResourceImpl<any>>>();
  readonly #settings: Settings;
  readonly #who: Who;
  readonly #signal: WatchCacheOptions["signal"];
  /** How it gets at streams that a worker holds; undefined where it holds them itself. */
  readonly #sharing: Sharing | undefined;
  readonly #lines = new Map<ResourceImpl<any>, Line[]>();
  /** The storage of those whose state is kept. */
  readonly #keepers = new Map<ResourceImpl<any>, Keeper>();
  readonly #beginning: Beginning;
  #saidNotKept = false;
  readonly #forgotten = new FinalizationRegistry<string>((key) => {
    if (this.#resources.get(key)?.deref() === undefined) this.#resources.delete(key);
  });
  /** Where each is, as it was named or has moved since. */
  readonly #targets = new WeakMap<ResourceImpl<any>, Target>();
  /** Those that would not be the same if they were made anew: paused, or listened to. */
  readonly #kept = new Set<ResourceImpl<any>>();
  /** Those that are open in the core. */
  readonly #open = new Map<ResourceImpl<any>, PageLife>();
  /** The server as it is asked, once somebody asks or names a kind. */
  #api: Api | undefined;
  #memory: RawMemory | undefined;
  #closed = false;
  #stopListening: (() => void) | undefined;

  constructor(options: WatchCacheOptions, runtime: Runtime, ways: Ways | undefined, who: Who | undefined) {
    super(runtime.host);
    this.#settings = readOptions(options, runtime, runtime.host?.transport);
    const { auth } = this.#settings;
    this.#beginning = { at: who?.since ?? Date.now() };
    this.#who = who ?? { auth: auth && (async () => readCredentials(await auth())) };
    this.#sharing =
      this.#settings.mode === "inline"
        ? undefined
        : new Sharing(
            sharingOf(this.#settings, this.#beginning.at, runtime, ways!, (message) => this.warn(message), {
              begun: () => this.#listen(),
              connected: () => this.#tryNow(),
              waits: () => [...this.#open.values()].forEach((life) => life.tell()),
            }),
          );
    this.runtime = this.#sharing?.runtime(runtime) ?? runtime;
    this.linger = this.#settings.linger;
    this.debug = this.#settings.debug;
    this.report = reporter(this.#settings.logger);
    this.warn = (message) => this.#settings.logger.warn(`watchcache: ${message}`);
    this.indexers = this.#settings.indexes.flatMap(({ values }) => (values === undefined ? [] : [values]));
    this.ticker = new Ticker(this.#settings.flush, this.report);
    noteListing(this, () => this.#listed());
    this.#signal = this.#settings.signal;
    if (this.#signal?.aborted) this.#closed = true;
    else this.#signal?.addEventListener("abort", this.#abort, { once: true });
  }

  resource<T extends ObjectLike = KubeObject>(spec: string | ResourceSpec | KindSpec | SourceSpec | PolledSourceSpec): Resource<T> {
    if (this.#closed) throw closedError();
    const target = readable("what names the resource", () =>
      readSpec(typeof spec === "object" && spec !== null && "source" in spec ? spec : this.#asked().resolve(spec), this.runtime),
    );
    if (typeof target.source === "object" && this.#sharing !== undefined)
      throw invalid(`a source cannot be handed to a worker: name the module that exports ${target.name} by its URL`);
    let resource = this.#resources.get(target.key)?.deref();
    if (resource === undefined) {
      // Node encodes sooner than it compares.
      const encoder = (frames: FrameEncoder) => (this.runtime.host === undefined ? frames : undefined);
      const start = (module: RawModule, delivery: Delivery, frames: FrameEncoder) => {
        const place = this.#targets.get(resource!) ?? target;
        const isShared = this.#sharing?.isAlone === false;
        const raw = open(
          module,
          this.#settings,
          this.#who,
          place,
          delivery,
          this.runtime,
          encoder(frames),
          (this.#memory ??= new module.RawMemory(this.#settings.memory?.maxBytes)),
          isShared ? (remote, namespace) => this.#connect(resource!, remote, namespace) : undefined,
        );
        if (!isShared) this.#persist(resource!, place, raw);
        return raw;
      };
      resource = new ResourceImpl(this, target.name, start, target.labels);
      this.#place(resource, target);
    }
    return resource as unknown as Resource<T>;
  }

  /** Keeps the state of a resource, where that is wanted and has a version of the server's. */
  #persist(resource: ResourceImpl<any>, target: Target, raw: RawResource): void {
    const { persist, identity, server, strip } = this.#settings;
    if (persist === undefined || !isPersisted(persist, target)) return;
    const place = target.source === undefined ? [baseUrl(server), target.key] : ["source", target.name];
    const key = [identity!, JSON.stringify([...place, strip])] as const;
    const keeper = new Keeper(key, persist.maxBytes ?? MAX_KEPT_BYTES, this.#beginning, (error) => this.#notKept(error));
    raw.persist(keeper, persist.maxAgeMs ?? MAX_KEPT_MS);
    this.#keepers.set(resource, keeper);
  }

  /** Said once: without storage a cache works as well. */
  #notKept(error: unknown): void {
    if (this.#saidNotKept) return;
    this.#saidNotKept = true;
    // A storage that is full throws an error of a name alone.
    this.warn(`what is held is not kept for the next start: ${(error as Error).message || error}`);
  }

  /** A way to the worker that holds the resource, or that of a namespace. */
  #connect(resource: ResourceImpl<any>, remote: RawRemote, namespace: string | undefined): void {
    const { spec: named, source, name: id, pollMs } = this.#targets.get(resource)!;
    const { namespaces, ...spec } = named ?? ({ source, id, poll: pollMs && { everyMs: pollMs } } as unknown as ResourceSpec);
    const line = this.#sharing!.open(namespace === undefined ? spec : { ...spec, namespace }, remote);
    const lines = this.#lines.get(resource);
    if (lines === undefined) this.#lines.set(resource, [line]);
    else lines.push(line);
  }

  get away(): { readonly retryAt: number | undefined } | undefined {
    return this.#sharing?.away;
  }

  lines(resource: ResourceImpl<any>): readonly Line[] {
    return this.#lines.get(resource) ?? NO_LINES;
  }

  /** The resource is found by its target from now on. */
  #place(resource: ResourceImpl<any>, target: Target): void {
    this.#targets.set(resource, target);
    const { name, spec } = target;
    noteOrigin(resource, { cache: this as unknown as WatchCache, name, spec, phase: () => resource.told().phase });
    this.#resources.set(target.key, new WeakRef(resource));
    this.#forgotten.register(resource, target.key);
  }

  async discover(options?: DiscoverOptions): Promise<Discovery> {
    if (this.#closed) throw closedError();
    return this.#asked().discover(options);
  }

  async can(question: AccessQuestion): Promise<AccessAnswer> {
    if (this.#closed) throw closedError();
    return this.#asked().can(question);
  }

  #asked(): Api {
    const { server, auth, fetch = ask, credentials } = this.#settings;
    const check = async (head: RawHead, body: Uint8Array) => (await this.runtime.load()).checkAnswer(head, body);
    return (this.#api ??= new Api({ base: () => baseUrl(server), auth, fetch: fetch as typeof ask, credentials, check }));
  }

  stats(): CacheStats {
    const module = this.runtime.loaded();
    const resources: ResourceStats[] = [];
    for (const resource of this.#open.keys()) {
      const stats = resource.stats();
      if (stats !== undefined) resources.push(stats);
    }
    const mode = this.#held();
    const worker = this.#sharing?.stats as WorkerStats | undefined;
    const told = { ...(mode !== undefined && { mode }), resources, ...(worker !== undefined && { worker }) };
    if (module === undefined) return { ...told, memoryBytes: 0 };
    return { ...told, version: module.buildInfo().version, memoryBytes: module.memoryBytes() };
  }

  // No getter: the console would show it first.
  #held(): CacheStats["mode"] {
    const isInline = this.#sharing === undefined || this.#sharing.isInline;
    return isInline === undefined ? undefined : isInline ? "inline" : this.#settings.mode;
  }

  metrics(): string {
    const exposition = this.runtime.loaded()?.openMetrics();
    if (exposition === undefined) return "";
    try {
      for (const resource of this.#open.keys()) resource.writeMetrics(exposition);
      return exposition.text();
    } finally {
      exposition.free();
    }
  }

  /** For whoever looks at all of them. */
  #listed(): OpenResource[] {
    return [...this.#open.keys()].flatMap((resource) => {
      const stats = resource.stats();
      const { scope } = resource.labels;
      const label = scope === "" ? resource.name : `${resource.name} ${scope}`;
      return stats === undefined ? [] : [{ resource: resource as unknown as Resource<any>, label, stats }];
    });
  }

  /** For whoever prints it. */
  named(): string[] {
    const all = [...this.#resources.values()].flatMap((resource) => resource.deref() ?? []);
    return first(all.length, (at) => `${all[at]!.name} ${all[at]!.status.phase}`);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#signal?.removeEventListener("abort", this.#abort);
    const found = [...this.#resources.values()].flatMap((resource) => resource.deref() ?? []);
    // One whose place another has taken is found here alone.
    for (const resource of new Set([...found, ...this.#open.keys(), ...this.#kept])) resource.close();
    this.#api?.close();
    this.#sharing?.close();
    this.#listenNoMore();
    closeTarget(this);
  }

  // ------------------------------------------------------------------------ called by the resources

  checkPoison(): void {
    const message = this.runtime.loaded()?.poisoned();
    if (message !== undefined) this.#panicked(message);
  }

  opened(resource: ResourceImpl<any>, life: PageLife): void {
    this.#open.set(resource, life);
    this.#listen();
  }

  /** Hears of the page, while a resource is open, or a worker that is to hear of it, too. */
  #listen(): void {
    if (this.#stopListening !== undefined) return;
    const forgetPanic = this.runtime.onPanic((message) => this.#panicked(message));
    const forgetPage = onWake({
      wake: (slept) => {
        this.runtime.loaded()?.slept(slept);
        this.#sharing?.wake();
        for (const keeper of this.#keepers.values()) keeper.wake();
        this.#tryNow();
      },
      hide: () => {
        for (const life of [...this.#open.values()]) life.hide();
        this.#sharing?.suspend();
        for (const keeper of this.#keepers.values()) keeper.suspend();
      },
    });
    this.#stopListening = () => {
      forgetPanic();
      forgetPage();
    };
  }

  #tryNow(): void {
    for (const life of [...this.#open.values()]) life.wake();
  }

  dropped(resource: ResourceImpl<any>): void {
    this.#open.delete(resource);
    for (const line of this.lines(resource)) line.close();
    this.#lines.delete(resource);
    this.#keepers.get(resource)?.close();
    this.#keepers.delete(resource);
    this.#listenNoMore();
  }

  #listenNoMore(): void {
    if (this.#open.size > 0 || this.#sharing?.isUsed) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  keep(resource: ResourceImpl<any>, keeps: boolean): void {
    if (keeps) this.#kept.add(resource);
    else this.#kept.delete(resource);
  }

  closed(resource: ResourceImpl<any>): void {
    for (const [key, value] of this.#resources) if (value.deref() === resource) this.#resources.delete(key);
  }

  moved(resource: ResourceImpl<any>, given: readonly string[]): { namespaces: readonly string[]; labels: MetricLabels } {
    const before = this.#targets.get(resource)?.spec;
    if (before?.namespaces === undefined) throw invalid(`${resource.name} was made without \`namespaces\`, so it has none to change`);
    // Undefined would be all of the resource, which this one cannot become.
    if (given === undefined) throw invalid("namespaces is an array, not undefined");
    const target = readSpec({ ...before, namespaces: given }, this.runtime);
    const namespaces = readNamespaces(given);
    const [gone, stay] = [[], []] as [Line[], Line[]];
    for (const line of this.lines(resource)) (namespaces.includes(line.spec.namespace!) ? stay : gone).push(line);
    if (gone.length > 0) this.#lines.set(resource, stay);
    for (const line of gone) line.close();
    this.closed(resource);
    // Where another has that name already, this one is known to those alone who hold it.
    const other = this.#resources.get(target.key)?.deref();
    this.#place(resource, target);
    if (other !== undefined && other !== resource) this.#resources.set(target.key, new WeakRef(other));
    return { namespaces, labels: target.labels };
  }

  readonly #abort = (): void => void this.close();

  #panicked(message: string): void {
    if (this.#open.size === 0) return;
    const error = new WatchCacheError("internal", message);
    this.#settings.logger.error("watchcache: the WebAssembly instance has failed:", message);
    for (const [resource, life] of [...this.#open]) {
      this.dropped(resource);
      life.poisoned(error);
    }
    queueMicrotask(() => this.dispatchEvent(new CustomEvent<WatchCacheError>("error", { detail: error })));
  }
}

printable(CacheImpl.prototype, "WatchCache", (cache) => ({ resources: cache.named() }));
printable(ResourceImpl.prototype, "Resource", (resource) => {
  const { name, status, resourceVersion } = resource;
  const error = status.error !== undefined ? { error: String(status.error) } : {};
  return { name, ...status, ...error, ...(resourceVersion && { resourceVersion }), objects: resource.stats()?.objects ?? 0 };
});

disposable(CacheImpl.prototype, async function (this: CacheImpl) {
  await this.close();
});
bindMethods(CacheImpl.prototype);

function open(
  module: RawModule,
  settings: Settings,
  who: Who,
  target: Target,
  delivery: Delivery,
  runtime: Runtime,
  encoder: FrameEncoder | undefined,
  memory: RawMemory,
  connect: ((remote: RawRemote, namespace: string | undefined) => void) | undefined,
): RawResource {
  // The core takes what it knows of these.
  const { name, pollMs } = target;
  const options: RawOptions = { ...settings, name, pollMs, ...(target.spec && { namespaces: target.namespaces }) };
  if (target.source !== undefined) {
    if (connect !== undefined) return module.openShared({ ...options, watchList: false }, undefined, connect, delivery, memory);
    const { source } = target;
    if (typeof source === "object") return module.openSource(options, bound(source), delivery, memory);
    return module.openSource(options, async () => bound(await imported(source, name, pollMs !== undefined)), delivery, memory);
  }
  // Over fetch alone: browsers send no Accept with a WebSocket, and lose events of a watch-list over fetch.
  const parts = target.as === undefined ? undefined : ({ transport: "fetch" } as const);
  const given = parts === undefined ? options : { ...options, watchList: false };
  const transport: RawKubernetes = {
    ...settings,
    ...target,
    ...parts,
    ...who,
    server: baseUrl(settings.server),
    fetch: settings.fetch ?? ask,
    // Of somebody's own fetch nobody knows its connections.
    protocol: settings.fetch === undefined && runtime.host === undefined && hasFewConnections() ? protocolOf : undefined,
    fellBack: (server) => settings.logger.warn(fellBack(server, runtime)),
    encoder,
    WebSocket: typeof webSocketOf(settings) === "function" ? patient(() => webSocketOf(settings)) : undefined,
  };
  if (connect === undefined) return module.openKubernetes(given, transport, delivery, memory);
  // It is not asked from here, so this host may lack what it takes.
  // What is held there is listed: to watch for it would ask the server how far that is.
  return module.openShared({ ...given, watchList: false }, { ...transport, transport: "fetch" }, connect, delivery, memory);
}

/** As methods of the user's object, whatever the core calls them on. */
function bound(source: GivenSource): RawSource {
  const bound: RawSource = { list: source.list.bind(source), ...(source.watch && { watch: source.watch.bind(source) }) };
  for (const method of MAY_HAVE) {
    const given = source[method];
    if (given !== undefined) bound[method] = given.bind(source);
  }
  if (source.collection !== undefined) bound.collection = source.collection;
  if (GATEWAY in source) Object.assign(bound, { [GATEWAY]: source[GATEWAY] });
  return bound;
}

/** Whether a state is kept. One that has no version of the server's cannot go on from it. */
function isPersisted({ resources }: PersistOptions, target: Target): boolean {
  const { name, source, pollMs } = target;
  // Columns of a table come with its list, and with none of its rows.
  if ((target.spec && target.namespaces) !== undefined || pollMs !== undefined || target.spec?.as === "Table") return false;
  return resources === undefined ? source === undefined && name !== "secrets" : resources.includes(name);
}

/** How a cache of these settings gets at the worker that holds its streams. */
function sharingOf(
  settings: Settings,
  since: number,
  runtime: Runtime,
  { start, here }: Ways,
  warn: (message: string) => void,
  hears: Pick<ConstructorParameters<typeof Sharing>[0], "begun" | "connected" | "waits">,
): ConstructorParameters<typeof Sharing>[0] {
  const { mode, identity, worker, auth, server, transport, credentials, strip, pageSize, watchList, idleTimeout } = settings;
  const { retry, history, memory, checkConsistency, persist, linger, logger } = settings;
  const held = { transport, credentials, strip, pageSize, watchList, idleTimeout, retry, history, memory, checkConsistency, persist };
  // Read when the link is made, which is with the first use: a page that a server renders has no origin.
  const options = () => ({ ...held, identity, server: knownBase(server) });
  return {
    mode: mode as SharedMode,
    worker,
    since,
    start,
    // What fails in there is told by this cache, and what is said to a worker's console is said to its logger.
    here: () => here(runtime, { linger, logger: { ...SILENT, warn: (message) => logger.warn(message) } }),
    get options() {
      return options();
    },
    get name() {
      return `watchcache ${JSON.stringify([build, options()])}`;
    },
    auth: auth && (async () => portable(readCredentials(await auth()))),
    alone: (why) => warn(`there is no worker for the mode "${mode}", so this page holds its streams itself: ${why}`),
    ...hears,
  };
}

/** Credentials as they can be posted: a `Headers` cannot. */
function portable({ headers, ...rest }: Credentials): Credentials {
  if (headers === undefined) return rest;
  const pairs: [string, string][] = [];
  new Headers(headers as HeadersInit).forEach((value, name) => pairs.push([name, value]));
  return { ...rest, headers: pairs };
}

/** What is said where a server's WebSockets are refused. */
function fellBack(server: string, { host }: Runtime): string {
  const remedy = host === undefined ? "" : ". Pass a WebSocket that says an Origin, as Node's own does not, or choose that transport";
  return `watchcache: ${server} answers, but it or a proxy before it opens no WebSocket, so watches go over fetch${remedy}`;
}

type SocketConstructor = NonNullable<WatchCacheOptions["WebSocket"]>;

/** The host's is looked up at each connect, as its fetch is. */
function webSocketOf(settings: Settings): SocketConstructor {
  return settings.WebSocket ?? globalThis.WebSocket;
}

/** A socket that is given up while it connects tells an error that nobody waits for any more. In Node an unheard one would end the process. */
function patient(constructor: () => SocketConstructor): SocketConstructor {
  return class {
    constructor(url: string, protocols?: string[]) {
      const socket: Partial<EventTarget> = new (constructor())(url, protocols);
      socket.addEventListener?.("error", () => {});
      return socket;
    }
  };
}
