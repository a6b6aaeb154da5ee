// A union's tag says what else there is.
import { createWatchCache } from "watchcache";
import type { BookmarkObject, DeepReadonly, KubeObject, Status, WatchCacheError } from "watchcache";
import { same } from "./same.js";

interface Pod extends KubeObject {
  spec?: { nodeName?: string; tolerations?: string[] };
}
const pods = createWatchCache().resource<Pod>("pods");

export async function events(): Promise<void> {
  for await (const event of pods.watch({ allowWatchBookmarks: true })) {
    // @ts-expect-error: not before it is known to be a pod's
    event.object.spec;
    switch (event.type) {
      case "ADDED":
      case "MODIFIED":
      case "DELETED":
        same<typeof event.object, DeepReadonly<Pod>>();
        same<typeof event.initialEventsEnd, undefined>();
        break;
      case "BOOKMARK":
        same<typeof event.object, BookmarkObject>();
        same<typeof event.initialEventsEnd, true | undefined>();
        same<typeof event.object.metadata.resourceVersion, string>();
        break;
      case "ERROR":
        same<typeof event.object, DeepReadonly<Status>>();
        same<typeof event.object.code, number | undefined>();
        break;
      default:
        same<typeof event, never>();
    }
  }
}

export function notifications(): void {
  pods.informer().addEventHandler((event) => {
    // @ts-expect-error: not before it is known to be about an object
    event.object.spec;
    switch (event.type) {
      case "add":
        same<typeof event.object, DeepReadonly<Pod>>();
        same<typeof event.oldObject, undefined>();
        same<typeof event.isInInitialList, boolean>();
        break;
      case "update":
        same<typeof event.oldObject, DeepReadonly<Pod>>();
        same<typeof event.resync, boolean>();
        break;
      case "delete":
        same<typeof event.object, DeepReadonly<Pod>>();
        same<typeof event.finalStateUnknown, boolean>();
        break;
      case "overflow":
        same<typeof event.object, undefined>();
        break;
      default:
        same<typeof event, never>();
    }
  });
  pods.informer().addEventHandler({
    onAdd: (_pod, _initial, event) => same<typeof event.type, "add">(),
    onUpdate: (_old, _now, event) => same<typeof event.type, "update">(),
    onDelete: (_deleted, event) => same<typeof event.type, "delete">(),
  });
}

export function status(): void {
  const status = pods.status;
  // @ts-expect-error: not before its phase says that there is one
  status.error.message;
  switch (status.phase) {
    case "needs-auth":
    case "failed":
      same<typeof status.error, WatchCacheError>();
      same<typeof status.retryAt, number | undefined>();
      break;
    case "loading":
    case "reconnecting":
      same<typeof status.error, WatchCacheError | undefined>();
      same<typeof status.retryAt, number | undefined>();
      break;
    default:
      same<typeof status.phase, "idle" | "listing" | "live" | "relisting" | "paused" | "closed">();
  }
  if ("error" in status) same<typeof status.error, WatchCacheError | undefined>();
  same<typeof status.stale, boolean>();
  pods.addEventListener("status", ({ detail }) => detail.phase === "failed" && same<typeof detail.error, WatchCacheError>());
}

export function metadata(object: KubeObject, status: Status): void {
  const all: readonly (string | number | undefined)[] = [
    object.metadata?.name,
    object.metadata?.generateName,
    object.metadata?.namespace,
    object.metadata?.selfLink,
    object.metadata?.uid,
    object.metadata?.resourceVersion,
    object.metadata?.generation,
    object.metadata?.creationTimestamp,
    object.metadata?.deletionTimestamp,
    object.metadata?.deletionGracePeriodSeconds,
    object.metadata?.labels?.["a"],
    object.metadata?.annotations?.["a"],
    object.metadata?.ownerReferences?.[0]?.uid,
    object.metadata?.finalizers?.[0],
    object.metadata?.managedFields?.[0]?.manager,
  ];
  void all;
  // @ts-expect-error: no such field
  void object.metadata?.clusterName;
  same<NonNullable<typeof status.metadata>["continue"], string | undefined>();
  same<NonNullable<typeof status.metadata>["remainingItemCount"], number | undefined>();
  same<NonNullable<typeof status.metadata>["resourceVersion"], string | undefined>();
  same<typeof status.status, "Success" | "Failure" | undefined>();
}
