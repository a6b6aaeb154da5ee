// The names of indexes are known from the options.
import { createWatchCache } from "watchcache";
import type { Resource, WatchCache, WatchCacheOptions } from "watchcache";
import { same } from "./same.js";

interface Pod {
  metadata?: { name?: string };
  spec?: { nodeName?: string; words?: string[] };
}

const cache = createWatchCache({ indexes: { node: "spec.nodeName", words: (pod: Pod) => pod.spec?.words ?? [] } });
same<typeof cache, WatchCache<"namespace" | "node" | "words">>();
const pods = cache.resource<Pod>("pods");
pods.byIndex("node", "n1");
pods.indexValues("words");
pods.byIndex("namespace", "a");
// @ts-expect-error: no such index
pods.byIndex("nodes", "n1");
// @ts-expect-error: no such index
pods.indexValues("word");

// A function takes an object of any resource.
createWatchCache({ indexes: { node: "spec.nodeName", words: (object) => object.spec.words } });

const plain = createWatchCache({ linger: 5 }).resource<Pod>("pods");
plain.byIndex("namespace", "a");
// @ts-expect-error: there are no others
plain.byIndex("node", "n1");

// Where the names are not known, any will do.
declare const options: WatchCacheOptions;
createWatchCache(options).resource("pods").byIndex("node", "n1");
// A cache and a resource of known names are ones of any names, and of fewer.
const any: WatchCache = cache;
any.resource("pods").byIndex("whatever", "a");
export const resource: Resource<Pod> = pods;
export const fewer: WatchCache<"node"> = cache;

const informer = pods.informer({ indexers: { host: "status.hostIP", first: (pod) => (pod.spec?.words ?? []).slice(0, 1) } });
informer.byIndex("host", "h");
informer.byIndex("first", "w");
informer.byIndex("node", "n1");
informer.addIndexers({ later: "spec.nodeName" });
informer.byIndex("later", "n1");
// @ts-expect-error: pods have no such field
pods.informer({ indexers: { wrong: (pod) => [pod.spec?.nodename ?? ""] } });
// @ts-expect-error: an index is a path or a function
createWatchCache({ indexes: { node: 5 } });
