// An application says once what its resources are, as `npx watchcache types` does, and every call knows.
import { createInformerFactory, createWatchCache } from "watchcache";
import type { DeepReadonly, Immutable, Informer, KubeObject, Mutable, Resource } from "watchcache";
import { createWatchCache as inlined } from "watchcache/inline";
import { same } from "./same.js";

interface Pod extends KubeObject {
  spec?: { nodeName?: string };
}
interface Deployment extends KubeObject {
  spec?: { replicas?: number };
}
interface Widget {
  spec: { size: number[] };
}

declare module "watchcache" {
  interface ResourceTypes {
    pods: Pod;
    "v1/pods": Pod;
    "apps/v1/deployments": Deployment;
    "example.com/v1/widgets": Widget;
  }
}

const cache = createWatchCache();
const pods = cache.resource("pods");
same<typeof pods, Resource<Pod, Immutable, "namespace">>();
// Another entry, the same interface.
const carried = inlined().resource("pods");
same<typeof carried, Resource<Pod, Immutable, "namespace">>();
const versioned = cache.resource("v1/pods");
same<typeof versioned, Resource<Pod, Immutable, "namespace">>();
const deployments = cache.resource("apps/v1/deployments");
same<NonNullable<ReturnType<typeof deployments.peek>>["spec"], DeepReadonly<Deployment>["spec"]>();
const widgets = cache.resource<"example.com/v1/widgets", Mutable>("example.com/v1/widgets");
widgets.peek("a")?.spec.size.push(5);
// Other resources, other types and other specs are as before.
const secrets = cache.resource("secrets");
same<typeof secrets, Resource<KubeObject, Immutable, "namespace">>();
const given = cache.resource<Deployment>("pods");
same<typeof given, Resource<Deployment, Immutable, "namespace">>();
const spec = cache.resource<Pod>({ version: "v1", resource: "pods", namespace: "a" });
same<typeof spec, Resource<Pod, Immutable, "namespace">>();
const informer = createInformerFactory(cache).forResource("pods");
same<typeof informer, Informer<Pod, Immutable>>();
// @ts-expect-error: pods have no such field
pods.peek("a")?.spec?.replicas;
