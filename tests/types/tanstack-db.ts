// What collections take and give.
import { createCollection } from "@tanstack/db";
import { createWatchCache, type KubeObject } from "watchcache";
import { watchCacheCollectionOptions } from "watchcache/tanstack-db";
import { same } from "./same.js";

interface Pod extends KubeObject {
  metadata: { name: string; namespace: string };
  spec: { nodeName: string };
}

const pods = createWatchCache().resource<Pod>("pods");

const whole = createCollection(watchCacheCollectionOptions({ resource: pods, view: { labelSelector: "app=web" }, syncMode: "on-demand" }));
export const node: string | undefined = whole.get("a/b")?.spec.nodeName;
whole.insert({ metadata: { name: "a", namespace: "b" }, spec: { nodeName: "c" } });
// @ts-expect-error: a pod has a spec
whole.insert({ metadata: { name: "a", namespace: "b" } });
whole.update("a/b", (draft) => void (draft.spec.nodeName = "c"));
export const phase: string = whole.utils.status.phase;
// @ts-expect-error: keys are texts
whole.get(7);

const derived = createCollection(
  watchCacheCollectionOptions({
    resource: pods,
    view: { derive: { size: { paths: ["spec.nodeName"], value: ([name = ""]: [string?]) => name.length } }, select: { size: "size" } },
  }),
);
same<NonNullable<ReturnType<typeof derived.get>>["size"], number>();
const selected = createCollection(
  watchCacheCollectionOptions<{ node: string }>({ resource: pods, view: { select: { node: "spec.nodeName" } } }),
);
same<NonNullable<ReturnType<typeof selected.get>>["node"], string>();
// @ts-expect-error: queries have limits, a collection has no window
watchCacheCollectionOptions({ resource: pods, view: { window: { offset: 0, limit: 1 } } });
