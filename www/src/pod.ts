import type { KubeObject } from "watchcache";

/** The part of a pod that this page shows. */
export interface Pod extends KubeObject {
  metadata: { name: string; namespace: string; resourceVersion: string; creationTimestamp: string };
  spec?: { nodeName?: string };
  status?: { phase?: string; containerStatuses?: readonly { restartCount?: number }[] };
}

/** The key of the package's stores: "namespace/name". */
export const keyOf = ({ metadata }: Pod) => `${metadata.namespace}/${metadata.name}`;

/** Of the pod's first container: a path names one value, so what a column shows is what it sorts by. Unknown before it is created. */
export const restartsOf = (pod: Pod) => pod.status?.containerStatuses?.[0]?.restartCount;
