import type { KubeObject } from "watchcache";

/** The part of a pod that this page shows. */
export interface Pod extends KubeObject {
  metadata: { name: string; namespace: string; resourceVersion: string; creationTimestamp: string };
  spec?: { nodeName?: string };
  status?: { phase?: string; containerStatuses?: { restartCount?: number }[] };
}

/** The key of the package's stores: "namespace/name". */
export const keyOf = ({ metadata }: Pod) => `${metadata.namespace}/${metadata.name}`;

/** As `kubectl get pods` counts: all containers of the pod together. */
export const restartsOf = (pod: Pod) =>
  (pod.status?.containerStatuses ?? []).reduce((sum, container) => sum + (container.restartCount ?? 0), 0);
