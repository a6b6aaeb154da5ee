// An upstream in memory, as a dashboard's own tests script it.
import { createWatchCache, type DeepReadonly, type KubeObject, type Resource, type Source } from "watchcache";
import { memorySource, type MemoryRequest, type MemorySource, virtualClock } from "watchcache/memory";

interface Pod {
  metadata: { namespace: string; name: string; resourceVersion?: string };
  status: { phase: "Running" | "Pending" };
}

const web: Pod = { metadata: { namespace: "default", name: "web" }, status: { phase: "Running" } };
const clock = virtualClock(0);
const pods = memorySource<Pod>({ objects: new Set([web]), kind: "Pod", pageSize: 2, delay: 10, clock, watchList: false });

export const source: Source = pods;
export const resource = createWatchCache().resource<Pod>({ source: pods, id: "pods" });

export const stored: Pod = pods.put(web);
export const gone: Pod | undefined = pods.remove("default/web");
export const held: readonly Pod[] = pods.objects;
export const asked: readonly MemoryRequest[] = pods.asked("list");
// @ts-expect-error: no Pod
pods.put({ metadata: { name: "web" } });
// @ts-expect-error: no such verb
pods.asked("connect");

pods.fail({ code: 403, reason: "Forbidden" }, { times: 1, verbs: ["watch"] });
pods.fail(new TypeError("fetch failed"));
pods.fail({ kind: "Status", code: 410 });
pods.recover();
pods.drop();
pods.drop({ error: new Error("torn"), midFrame: true });
pods.send("no JSON");
pods.send({ type: "ADDED", object: web });
pods.bookmark();
pods.expire();
pods.delay = Infinity;
pods.resourceVersion = "7";
pods.before = async ({ verb }, signal) => void (verb === "list" && signal.aborted);
pods.outgoing = (pod) => ({ ...pod, kind: "Service" });
export const later: Promise<void> = clock.advance(1_000);
export const any: MemorySource = memorySource();

// Options that may be undefined, as with `exactOptionalPropertyTypes`.
const maybe: number | undefined = pods.streams > 9 ? 1 : undefined;
export const optional = memorySource({ pageSize: maybe, delay: maybe, kind: undefined, clock: undefined });
optional.fail({ code: 403, retryAfterSeconds: maybe }, { times: maybe, verbs: undefined });
optional.drop({ midFrame: undefined, error: undefined });

// A source of pods is one of objects, and its resource has their type.
interface Labelled extends KubeObject {
  status?: { phase?: string };
}
const labelled = memorySource<Labelled>();
export const wide: MemorySource = labelled;
const cache = createWatchCache();
const inferred = cache.resource({ source: labelled, id: "labelled" });
export const same: Resource<Labelled> = inferred;
export const phase: string | undefined = inferred.peek("default/a")?.status?.phase;
export const untyped: Resource<KubeObject> = cache.resource({ source: source as Source, id: "untyped" });
export const narrowed: Resource<Labelled> = cache.resource<Labelled>({ source: optional, id: "narrowed" });

// What a cache gave may be put back.
const given: DeepReadonly<Labelled> = inferred.peek("default/a")!;
export const back: Labelled = labelled.put(given);
labelled.put({ ...given, status: { phase: "Failed" } });
labelled.put({ metadata: { name: "a" }, status: { phase: "Failed" } });
// @ts-expect-error: no name
labelled.put({});
// @ts-expect-error: no name
labelled.put({ metadata: {} });
// @ts-expect-error: no metadata
labelled.put({ status: { phase: "Failed" } });
// @ts-expect-error: a slip of the pen
labelled.put({ metadata: { name: "a" }, statsu: {} });
// @ts-expect-error: a phase is text
labelled.put({ metadata: { name: "a" }, status: { phase: 5 } });
