// An upstream in memory, as a dashboard's own tests script it.
import { createWatchCache, type Source } from "watchcache";
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
pods.asked("patch");

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
