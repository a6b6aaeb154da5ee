// The generated types of `@kubernetes/client-node`, whose times are `Date`s, as objects of a resource.
import type { V1CustomResourceDefinition, V1Deployment, V1Pod, V1Secret } from "@kubernetes/client-node";
import { createWatchCache } from "watchcache";
import type { DeepReadonly, Mutable } from "watchcache";
import { same } from "./same.js";

const cache = createWatchCache();
const pod = cache.resource<V1Pod>("pods").peek("a/b")!;
same<typeof pod, DeepReadonly<V1Pod>>();
export const image: string | undefined = pod.spec?.containers[0]?.image;
same<NonNullable<typeof pod.metadata>["creationTimestamp"], Date | undefined>();
// @ts-expect-error: it is shared
pod.spec!.containers.push({ name: "c" });
const shared: V1Pod | undefined = cache.resource<V1Pod, Mutable>("pods").peek("a/b");
void shared;
cache.resource<V1Secret>("secrets");
cache.resource<V1Deployment>("apps/v1/deployments").view({ where: (deployment) => (deployment.spec?.replicas ?? 0) > 1 });
const definition = cache.resource<V1CustomResourceDefinition>("apiextensions.k8s.io/v1/customresourcedefinitions").peek("a");
// @ts-expect-error: schemas nest without end
definition!.spec.versions[0]!.schema!.openAPIV3Schema!.properties!["a"]!.properties!["b"]!.required!.push("c");
await cache.resource<V1Pod>("pods").update("a/b", (current) => {
  current.spec!.containers.push({ name: "c" });
  return current;
});
