// What a program that comes from `@kubernetes/client-node` may write, and what it may not: each line under an `@ts-expect-error` must fail.
import { createWatchCache } from "watchcache";
import { ADD, DELETE, ListWatch, makeInformer, RequestError, Watch } from "watchcache/compat/client-node";
import type { Informer, KubernetesListObject, ListPromise, ObjectCache } from "watchcache/compat/client-node";

/** As code generators write them: interfaces without index signatures. */
interface Pod {
  metadata?: { name?: string; namespace?: string; labels?: { [key: string]: string } };
  status?: { phase?: string };
}

const cache = createWatchCache();
declare const listPods: () => Promise<KubernetesListObject<Pod>>;

export const informer: Informer<Pod> & ObjectCache<Pod> = makeInformer<Pod>(cache, "/api/v1/pods");
export const listed = makeInformer(cache, "/api/v1/pods", listPods, "app=web", "status.phase=Running");
export const phase: string | undefined = listed.get("x", "default")?.status?.phase;
export const given: ListPromise<Pod> = listPods;
makeInformer<Pod>({ server: "https://host", auth: () => ({ token: "t" }) }, "/api/v1/pods");

informer.on(ADD, (pod) => pod.status?.phase?.toUpperCase());
informer.on("change", (pod) => pod.metadata?.name);
informer.on("error", (error: RequestError) => error.statusCode === 410);
informer.on("connect", () => {});
informer.off(DELETE, () => {});

const pods: ListWatch<Pod> = new ListWatch<Pod>("/api/v1/pods", new Watch(cache), listPods, false, "app=web", "status.phase=Running");
export const version: string = pods.latestResourceVersion();
export const all: Pod[] = pods.list("default").reverse();

export async function use(): Promise<void> {
  await pods.start();
  const controller: AbortController = await new Watch({ server: "https://host" }).watch(
    "/api/v1/pods",
    { labelSelector: "app=web", allowWatchBookmarks: true, timeoutSeconds: 60, resourceVersion: undefined },
    (phase, object, whole) => console.log(phase.toLowerCase(), object, whole),
    (error) => console.log(error),
  );
  controller.abort();
  await pods.stop();
}

// @ts-expect-error a path is text
makeInformer<Pod>(cache, 7);
// @ts-expect-error there is no such verb
informer.on("bookmark", () => {});
// @ts-expect-error options are those of a cache
makeInformer<Pod>({ transport: "pigeon" }, "/api/v1/pods");
