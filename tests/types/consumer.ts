// What a dashboard's own code may write, and what it may not yet: each line under an `@ts-expect-error` must fail to compile.
import { createInformerFactory, createWatchCache, forgetPersisted, waitForSync, WatchCacheError } from "watchcache";
import type {
  ApiResource,
  BookmarkObject,
  CacheStats,
  DeepReadonly,
  DerivedColumn,
  DerivedValue,
  Deleted,
  DeleteOptions,
  EventHandler,
  HandlerRegistration,
  Informer,
  InformerEvent,
  InformerFactory,
  KubeObject,
  List,
  PersistOptions,
  Resource,
  ResourceStatus,
  SelectorMistake,
  Source,
  SourceModule,
  Status,
  View,
  ViewChange,
  ViewRow,
  ViewSnapshot,
  ViewSpec,
  WatchCache,
  WatchCacheErrorCode,
  WatchCacheOptions,
  WatchEvent,
  Watcher,
  WatchOptions,
} from "watchcache";

/** As code generators write them: interfaces without index signatures. */
interface Scale {
  metadata?: { name?: string };
  spec: { replicas: number };
}

interface Pod {
  apiVersion?: string;
  kind?: string;
  metadata?: { name?: string; namespace?: string; labels?: { [key: string]: string }; creationTimestamp?: string };
  spec?: { nodeName?: string; containers?: { name: string; args?: string[] }[] };
  status?: { phase?: string };
}

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false;
declare function same<A, B>(..._: Equal<A, B> extends true ? [] : [never]): void;

const options: WatchCacheOptions = {
  server: "https://host/clusters/x",
  transport: "websocket",
  auth: async () => ({ token: "t", headers: { "impersonate-user": "x" }, subprotocols: ["a"], query: { pretty: "false" } }),
  fetch: globalThis.fetch,
  WebSocket: class {},
  credentials: "include",
  strip: ["metadata.managedFields"],
  pageSize: 500,
  watchList: true,
  linger: 5_000,
  idleTimeout: 90_000,
  retry: { capMs: 10_000 },
  flush: "frame",
  debug: true,
  logger: console,
  signal: new AbortController().signal,
};
export const cache: WatchCache = createWatchCache(options);
// @ts-expect-error: no such transport
createWatchCache({ transport: "sse" });
createWatchCache({ mode: "worker", identity: "jane", worker: new URL("https://console.example/worker.js") });
createWatchCache({ mode: "shared", identity: "jane", worker: (name: string) => ({ name }) });
// @ts-expect-error: no such mode
createWatchCache({ mode: "tab" });
createWatchCache({ identity: "jane", persist: {} });
createWatchCache({ identity: "jane", persist: { resources: ["pods"], maxBytes: 1, maxAgeMs: Infinity } });
// @ts-expect-error: what is kept is said by its bounds
createWatchCache({ identity: "jane", persist: true });
export const kept: PersistOptions = { resources: ["pods"] };
export const forgotten: Promise<void> = forgetPersisted("jane");
createWatchCache({ indexes: { node: "spec.nodeName", words: (pod: Pod) => [pod.metadata?.name ?? ""] } });
// @ts-expect-error: an index is a path, or a function that gives values
createWatchCache({ indexes: { node: 5 } });
createWatchCache({ trigger: "spec.nodeName" });
createWatchCache({ history: { minMs: 75_000, minEvents: 100, maxEvents: 1_000, maxBytes: 1 }, memory: { maxBytes: 1 } });
// @ts-expect-error: no such bound
createWatchCache({ history: { maxAge: 1 } });

export const pods: Resource<Pod> = cache.resource<Pod>("pods");
const secrets = cache.resource("secrets");
same<typeof secrets, Resource<KubeObject>>();
cache.resource({ kind: "Deployment", apiVersion: "apps/v1", namespace: "a", poll: { everyMs: 5 } });
export async function asked() {
  const { resources, failed, find } = await cache.discover({ refresh: true });
  same<typeof resources, readonly ApiResource[]>();
  same<(typeof failed)[number]["error"], WatchCacheError>();
  same<ReturnType<typeof find>, ApiResource>();
  cache.resource(find({ kind: "Deployment", group: "apps" }).name);
  const { allowed, reason } = await cache.can({ verb: "list", resource: { kind: "Pod" }, namespace: "a" });
  same<typeof allowed, boolean>();
  same<typeof reason, string | undefined>();
  // @ts-expect-error: nothing is asked
  await cache.can({ resource: "pods" });
}
export function relations(pods: Resource<Pod>, owner: Pod, text: string, uid: string | undefined) {
  same<ReturnType<typeof pods.childrenOf>, View<Pod>>();
  pods.childrenOf(owner, { orderBy: [{ path: "metadata.name" }] });
  pods.childrenOf(null);
  pods.selectedBy({ matchExpressions: [{ key: "a", operator: "In", values: ["b"] }] });
  pods.selectedBy({ metadata: { namespace: "a" }, spec: { selector: { app: "web" } } } as KubeObject);
  pods.view({ childrenOf: uid, selectedBy: null, eventsOf: owner });
  // @ts-expect-error: what may be missing is given as null
  pods.eventsOf(uid);
  // @ts-expect-error: text is for labelSelector
  pods.selectedBy(text);
}
cache.resource({ group: "apps", version: "v1", resource: "deployments", namespace: "a", labelSelector: "a=b", fieldSelector: "c=d" });
// @ts-expect-error: a resource needs its version
cache.resource({ resource: "pods" });
// @ts-expect-error: text is no object of Kubernetes
cache.resource<string>("pods");

export const source: Source = {
  async list({ limit, continue: token }, signal) {
    signal.throwIfAborted();
    return { body: JSON.stringify({ metadata: { resourceVersion: "1" }, items: [], limit, token }) };
  },
  async *watch({ resourceVersion, timeoutSeconds }) {
    same<typeof resourceVersion, string>();
    yield `{"timeout":${timeoutSeconds}}`;
    yield new Uint8Array();
  },
};
cache.resource({ source, id: "things" });
export const writable: Source = {
  ...source,
  async get({ namespace, name }) {
    return { body: `${namespace}/${name}` };
  },
  async create({ body }, signal) {
    signal.throwIfAborted();
    return { body };
  },
  async update({ name, body }) {
    same<typeof name, string>();
    return { body: new TextEncoder().encode(body) };
  },
  async delete() {},
};
// @ts-expect-error: a source without an id
cache.resource({ source });
cache.resource({ source: "/sources/things.js", id: "things" });
export const named: Resource<Pod> = cache.resource<Pod>({ source: new URL("https://h/things.js"), id: "things", poll: { everyMs: 5 } });
export const modules: SourceModule<Pod>[] = [
  source,
  () => source,
  async (id) => ({ ...source, list: () => source.list({ name: id }, new AbortController().signal) }),
];
// @ts-expect-error: a module exports a source, or what makes one
export const none: SourceModule = "things";

export async function read(signal: AbortSignal): Promise<void> {
  const status: ResourceStatus = pods.status;
  same<
    typeof status.phase,
    "idle" | "loading" | "listing" | "live" | "reconnecting" | "relisting" | "paused" | "needs-auth" | "failed" | "closed"
  >();
  same<typeof pods.resourceVersion, string | undefined>();
  same<typeof pods.lastEventAt, number | undefined>();
  same<typeof pods.hasSynced, boolean>();
  same<typeof status.staleSince, number | undefined>();
  same<typeof status.error, WatchCacheError | undefined>();
  void status.error?.message;
  if (status.phase === "live") same<typeof status.error, undefined>();
  if (status.phase === "failed" || status.phase === "needs-auth") same<typeof status.error, WatchCacheError>();
  if (status.phase === "loading" || status.phase === "reconnecting") {
    same<typeof status.error, WatchCacheError | undefined>();
    same<typeof status.retryAt, number | undefined>();
  }
  same<typeof status.quarantined, readonly string[] | undefined>();
  // @ts-expect-error: a status is not changed by its readers
  status.stale = true;
  await pods.synced({ signal });
  const list: List<Pod> = await pods.list({
    namespace: "a",
    labelSelector: "a",
    fieldSelector: "b",
    resourceVersion: "0",
    wait: false,
    signal,
  });
  same<typeof list.items, readonly DeepReadonly<Pod>[]>();
  await pods.list({ limit: 5, continue: list.continue!, shardSelector: "x" });
  await pods.list({ resourceVersion: "5", resourceVersionMatch: "Exact" });
  // @ts-expect-error: no such match
  await pods.list({ resourceVersion: "5", resourceVersionMatch: "Newest" });
  same<typeof list.continue, string | undefined>();
  same<typeof list.remainingItemCount, number | undefined>();
  const pod: DeepReadonly<Pod> = await pods.get("a/b", { resourceVersion: "5", signal });
  same<typeof pod.spec, DeepReadonly<Pod>["spec"]>();
  const peeked = pods.peek("a/b");
  same<typeof peeked, DeepReadonly<Pod> | undefined>();
  const indexed = pods.byIndex("namespace", "a");
  same<typeof indexed, readonly DeepReadonly<Pod>[]>();
  same<typeof pods.size, number>();
  const values = pods.indexValues("namespace");
  same<typeof values, readonly string[]>();
  const created = await pods.create({ metadata: { name: "b", namespace: "a" } }, { signal });
  same<typeof created, DeepReadonly<Pod>>();
  const updated = await pods.update("a/b", (current) => ({ ...current, spec: { nodeName: "n" } }), { signal });
  same<typeof updated, DeepReadonly<Pod>>();
  await pods.update("a/b", (current) => (current.spec ? undefined : current));
  const patched = await pods.patch("a/b", { spec: { nodeName: null } }, { type: "merge", fieldManager: "me", dryRun: true });
  same<typeof patched, DeepReadonly<Pod>>();
  same<Awaited<ReturnType<typeof pods.deleteCollection>>, void>();
  await pods.patch("a/b", [{ op: "replace", path: "/spec/nodeName", value: "n" }], { type: "json", subresource: "status" });
  await pods.patch("a/b", { spec: { $patch: "replace" } }, { type: "strategic" });
  await pods.patch("a/b", { metadata: { name: "b" } }, { type: "apply", fieldManager: "me", force: true });
  const scale = await pods.patch<Scale>("a/b", { spec: { replicas: 3 } }, { type: "merge", subresource: "scale" });
  same<typeof scale, DeepReadonly<Scale>>();
  const read = await pods.get<Scale>("a/b", { subresource: "scale" });
  same<typeof read, DeepReadonly<Scale>>();
  // @ts-expect-error: that field is none of a pod
  await pods.patch("a/b", { spec: { nodeNames: "n" } }, { type: "merge" });
  // @ts-expect-error: operations are an array
  await pods.patch("a/b", { op: "remove", path: "/spec" }, { type: "json" });
  // @ts-expect-error: how it is to be read is said
  await pods.patch("a/b", { spec: {} });
  // @ts-expect-error: a change is made at once
  await pods.update("a/b", async (current) => current);
  // @ts-expect-error: that is no pod
  await pods.create({ spec: { nodeName: 5 } });
  const deletion: DeleteOptions = { preconditions: { uid: "u", resourceVersion: "5" }, gracePeriodSeconds: 0, propagationPolicy: "Orphan" };
  same<Awaited<ReturnType<typeof pods.delete>>, void>();
  await pods.delete("a/b", { ...deletion, signal });
  // @ts-expect-error: no such policy
  await pods.delete("a/b", { propagationPolicy: "background" });
  await pods.refresh();
  await pods.refresh({ reset: true });
  pods.pause();
  pods.resume();
  pods.close();
  same<ReturnType<typeof cache.metrics>, string>();
  same<CacheStats["resources"][number]["metrics"], Readonly<Record<string, number>>>();
  const stats: CacheStats = cache.stats();
  same<(typeof stats.resources)[number]["bytes"], number>();
  same<NonNullable<typeof stats.worker>["tabs"], number>();
  await cache.close();
}

export async function watch(signal: AbortSignal): Promise<void> {
  const from: WatchOptions = {
    namespace: "a",
    name: "b",
    labelSelector: "a",
    fieldSelector: "b",
    resourceVersion: "5",
    resourceVersionMatch: "NotOlderThan",
  };
  const watcher: Watcher<Pod> = pods.watch({
    ...from,
    sendInitialEvents: true,
    allowWatchBookmarks: true,
    timeoutSeconds: 5,
    bufferSize: 10,
    wait: true,
    signal,
  });
  for await (const event of watcher) {
    same<typeof event, WatchEvent<Pod>>();
    same<typeof event.type, "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR">();
    same<typeof event.object, DeepReadonly<Pod> | BookmarkObject | DeepReadonly<Status>>();
    same<typeof event.raw, Uint8Array>();
    const phase: unknown = event.get("status.phase");
    if (event.initialEventsEnd) void phase;
    // @ts-expect-error: an event is not changed by its readers
    event.key = "";
  }
  for await (const batch of pods.watch().batches()) same<typeof batch, readonly WatchEvent<Pod>[]>();
  await pods.watch().forEach((event) => void event.key);
  await pods.watch().forEach(async (event) => void event.key);
  const { reason, lastResourceVersion } = await watcher.ended;
  same<typeof reason, "stopped" | "error" | "relist" | "overflow" | "timeout" | "closed">();
  same<typeof lastResourceVersion, string | undefined>();
  watcher.stop();
  pods.watch({ shardSelector: "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')" });
  const generation = pods.watch({ changesOf: ["metadata.generation", "status.conditions[?(@.type=='Ready')].status"] });
  for await (const event of generation) same<ReturnType<typeof event.changed>, boolean>();
  // @ts-expect-error: a list of paths
  pods.watch({ changesOf: "metadata.generation" });
  for (const onOverflow of ["terminate", "resync", "coalesce"] as const) pods.watch({ onOverflow });
  // @ts-expect-error: there are three ways
  pods.watch({ onOverflow: "drop" });
  for await (const { resync } of pods.watch()) same<typeof resync, true | undefined>();
  // @ts-expect-error: a watch starts at a version or later, never exactly
  pods.watch({ resourceVersionMatch: "Exact" });
}

export async function view(signal: AbortSignal): Promise<void> {
  const spec: ViewSpec<Pod> = {
    namespaces: ["a"],
    labelSelector: "a",
    fieldSelector: "status.phase!=Succeeded",
    where: (pod) => pod.spec?.nodeName === "n",
    orderBy: [{ path: "status.restarts", descending: true, as: "number" }],
    window: { offset: 0, limit: 50 },
    groupBy: "status.phase",
    search: { text: "web", paths: ["metadata.labels"] },
  };
  const rows: View<Pod> = pods.view(spec);
  const off: () => void = rows.subscribe(() => {}, { signal });
  off();
  same<ReturnType<typeof rows.getSnapshot>, ViewSnapshot<Pod>>();
  same<ReturnType<typeof rows.getServerSnapshot>, ViewSnapshot<Pod>>();
  same<ViewSnapshot<Pod>["rows"], readonly DeepReadonly<Pod>[]>();
  same<typeof rows.total, number>();
  same<typeof rows.counts, ReadonlyMap<string, number>>();
  same<ReturnType<typeof rows.indexOf>, number>();
  rows.setWindow({ offset: 50, limit: 50 });
  rows.close();
  const cells = pods.view<{ phase: string; node?: string }>({ ...spec, select: { phase: "status.phase", node: "spec.nodeName" } });
  const row: { readonly key: string; readonly phase: string; readonly node?: string } | undefined = cells.rows[0];
  row?.phase.toUpperCase();
  // @ts-expect-error: a row has the fields that were selected
  cells.rows[0]?.metadata;
  const untyped: unknown = pods.view({ select: { phase: "status.phase" } }).rows[0]?.phase;
  untyped;
  type Statuses = readonly { ready: boolean }[];
  const derive = {
    ready: {
      paths: ["status.containerStatuses"],
      value: ([statuses]: readonly [Statuses?]) => `${statuses?.length}/2`,
    },
    restarts: { paths: ["status.restarts"], value: (fields: readonly unknown[]) => (fields.length > 1 ? fields.length : undefined) },
  };
  const derived = pods.view({
    derive,
    select: { state: "ready", count: "restarts", phase: "status.phase" },
    orderBy: [{ path: "restarts" }],
  });
  const made = derived.rows[0]!;
  same<typeof made.state, string>();
  same<typeof made.count, number | undefined>();
  same<typeof made.phase, unknown>();
  same<typeof made.key, string>();
  const column: DerivedColumn<string> = derive.ready;
  const value: DerivedValue = column.value([]);
  value;
  const said = pods.view<{ phase: string; ready: string }>({ derive, select: { phase: "status.phase", ready: "ready" } });
  const whole: View<Pod> = pods.view({ derive, orderBy: [{ path: "restarts", descending: true }] });
  whole;
  // @ts-expect-error: a value is a scalar
  pods.view({ derive: { bad: { paths: ["a"], value: () => ({}) } }, select: { bad: "bad" } });
  // @ts-expect-error: it answers at once
  pods.view({ derive: { bad: { paths: ["a"], value: async () => 1 } } });
  // @ts-expect-error: it has to be said when it is called
  pods.view({ derive: { bad: { value: () => 1 } } });
  // @ts-expect-error: a path for each field, by its name
  pods.view({ select: ["metadata.name"] });
  const selecting = { select: { phase: "status.phase" }, window: { offset: 0, limit: 50 } };
  const shown = pods.view(selecting);
  same<(typeof shown.rows)[number]["phase"], unknown>();
  // @ts-expect-error: its rows are no pods, so a hook that gives pods does not take it
  const ofPods: ViewSpec<Pod> = selecting;
  pods.view(ofPods);
  // @ts-expect-error: every row has its object's key under this name
  pods.view({ select: { key: "metadata.name" } });
  // @ts-expect-error: so it is where columns are computed
  pods.view({ derive, select: { key: "metadata.name", ready: "ready" } });
  // @ts-expect-error: and no list of paths is taken there either
  pods.view({ derive, select: ["metadata.name"] });
  for await (const change of rows.changes({ signal })) {
    same<typeof change, ViewChange<Pod>>();
    same<typeof change.added, readonly ViewRow<Pod>[]>();
    same<(typeof change.removed)[number]["row"], DeepReadonly<Pod>>();
    same<typeof change.snapshot, ViewSnapshot<Pod>>();
    // @ts-expect-error: it is not changed by its readers
    change.moved.pop();
  }
  same<ReturnType<typeof rows.keys>, Promise<readonly string[]>>();
  for (const search of ["web", "", null, undefined, { text: "web" }, spec.search]) rows.setSearch(search);
  // @ts-expect-error: what is searched for is text
  rows.setSearch(5);
  // @ts-expect-error: there is no search without a text
  pods.view({ search: { paths: ["a"] } });
  // @ts-expect-error: a path is text
  pods.view({ select: { phase: 5 } });
  // @ts-expect-error: no such order
  pods.view({ orderBy: [{ path: "a", as: "random" }] });
  // @ts-expect-error: a snapshot is not changed by its readers
  rows.getSnapshot().rows.push({});
}

export async function inform(signal: AbortSignal): Promise<void> {
  const informer: Informer<Pod> = pods.informer({
    resyncPeriod: 60_000,
    transform: (object) => ({ ...object, spec: {} }),
    indexers: { node: "spec.nodeName", phase: (pod) => [pod.status?.phase ?? ""] },
    relistUpdates: true,
    readYourWrites: true,
    onWatchError: ({ phase, error, retryAt, delayMs, stale, key }) => {
      same<typeof key, string | undefined>();
      same<typeof phase, ResourceStatus["phase"]>();
      same<typeof error, WatchCacheError>();
      same<typeof retryAt, number | undefined>();
      same<typeof delayMs, number>();
      same<typeof stale, boolean>();
    },
  });
  const handler: EventHandler<Pod> = {
    onAdd: (pod, isInInitialList) => void (isInInitialList && pod.metadata?.name),
    onUpdate: async (old, pod, event) => void [old.status, pod.status, event.resync],
    onDelete: (deleted: Deleted<Pod>) => void [deleted.key, deleted.object?.spec, deleted.finalStateUnknown],
    onOverflow() {},
  };
  const registration: HandlerRegistration = informer.addEventHandler(handler, {
    resyncPeriod: 0,
    coalesce: true,
    bufferSize: 10,
    timeSlice: 5,
  });
  informer.addEventHandler(
    (event) => {
      same<typeof event, InformerEvent<Pod>>();
      same<typeof event.type, "add" | "update" | "delete" | "overflow">();
      same<typeof event.object, DeepReadonly<Pod> | undefined>();
      same<typeof event.oldObject, DeepReadonly<Pod> | undefined>();
      same<ReturnType<typeof event.getOld>, unknown>();
    },
    { namespace: "a", labelSelector: "app", fieldSelector: "spec.nodeName=n1", filter: (pod) => pod.status?.phase === "Running" },
  );
  informer.addIndexers({ name: "metadata.name" });
  same<ReturnType<typeof informer.byIndex>, readonly DeepReadonly<Pod>[]>();
  same<ReturnType<typeof informer.indexKeys>, readonly string[]>();
  same<ReturnType<typeof informer.indexValues>, readonly string[]>();
  same<ReturnType<typeof informer.list>, readonly DeepReadonly<Pod>[]>();
  same<ReturnType<typeof informer.get>, DeepReadonly<Pod> | undefined>();
  same<typeof informer.lastSyncResourceVersion, string>();
  await waitForSync({ informer, registration }, { timeoutMs: 1000, signal });
  await registration.remove();
  await informer.removeEventHandler(registration);
  informer.stop();
  const factory: InformerFactory = createInformerFactory(cache, { namespace: "a", resyncPeriod: 0 });
  const deployments = factory.forResource<Pod>("apps/v1/deployments");
  same<typeof deployments, Informer<Pod>>();
  factory.start();
  await factory.waitForCacheSync({ timeoutMs: 1000 });
  await factory.shutdown();
  // @ts-expect-error: what is given at the start cannot be set later
  informer.setTransform((object: Pod) => object);
  // @ts-expect-error: a handler is called with objects, not with names
  informer.addEventHandler({ onAdd: (name: string) => void name });
}

export function listen(): void {
  pods.addEventListener("status", (event) => same<typeof event.detail, ResourceStatus>());
  pods.addEventListener("error", ({ detail }) => {
    same<typeof detail.error, WatchCacheError>();
    same<typeof detail.phase, ResourceStatus["phase"]>();
  });
  for (const type of ["sync", "relist", "overflow", "error"] as const)
    pods.addEventListener(type, ({ detail }) => void detail.phase, { once: true });
  cache.addEventListener("error", ({ detail }) => same<typeof detail, WatchCacheError>());
}

export function tell(error: unknown): string {
  if (!(error instanceof WatchCacheError)) return "";
  same<typeof error.code, WatchCacheErrorCode>();
  same<
    typeof error.code,
    | "expired"
    | "timeout"
    | "too-many-requests"
    | "unauthorized"
    | "forbidden"
    | "not-found"
    | "conflict"
    | "invalid"
    | "network"
    | "protocol"
    | "decode"
    | "overflow"
    | "unavailable"
    | "out-of-memory"
    | "closed"
    | "internal"
  >();
  same<typeof error.status, Status | undefined>();
  same<typeof error.mistake, SelectorMistake | undefined>();
  same<typeof error.retryable, boolean>();
  same<typeof error.retryAfterSeconds, number | undefined>();
  same<typeof error.resource, string | undefined>();
  // @ts-expect-error: no such code
  if (error.code === "aborted") return "";
  return error.code;
}
