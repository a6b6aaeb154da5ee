// The types of the original's generated client in its look-alike: only the import of the informer, and what stands for the KubeConfig, changes.
import { CoreV1Api, KubeConfig, type V1Pod } from "@kubernetes/client-node";
import { createWatchCache } from "watchcache";
import { type Informer, ListWatch, makeInformer, type ObjectCache, Watch } from "watchcache/compat/client-node";

const config = new KubeConfig();
const api = config.makeApiClient(CoreV1Api);
const listFn = () => api.listPodForAllNamespaces();
const cache = createWatchCache({ server: "https://host" });

const informer: Informer<V1Pod> & ObjectCache<V1Pod> = makeInformer(cache, "/api/v1/pods", listFn);
informer.on("add", (pod: V1Pod) => console.log(pod.metadata?.name, pod.spec?.nodeName));
export const node: string | undefined = informer.get("x", "default")?.spec?.nodeName;
export const pods = new ListWatch<V1Pod>("/api/v1/pods", new Watch(cache), listFn, false);
// @ts-expect-error a KubeConfig is none of ours
makeInformer(config, "/api/v1/pods", listFn);
