import type { DeepReadonly, KubeObject, SelectedRow, ViewSpec } from "watchcache";

/** The part of a pod that this page knows. */
export interface Pod extends KubeObject {
  metadata: { name: string; namespace: string; uid: string; resourceVersion: string; creationTimestamp: string };
  spec?: { nodeName?: string };
  status?: { phase?: string; containerStatuses?: ContainerStatuses };
}
/** As the cache gives it. */
export type HeldPod = DeepReadonly<Pod>;

/** What a row of the table shows of a pod. */
export interface Fields {
  name: string;
  namespace: string;
  phase?: string;
  node?: string;
  restarts?: number;
  created: string;
}
export type PodRow = SelectedRow<Fields>;

/** Where a row's fields come from. A pod that beats changes none of them, so its row stays the same object. */
export const SELECT = {
  name: "metadata.name",
  namespace: "metadata.namespace",
  phase: "status.phase",
  node: "spec.nodeName",
  restarts: "restarts",
  created: "metadata.creationTimestamp",
} satisfies Record<keyof Fields, string>;

type ContainerStatuses = readonly { restartCount?: number }[];

/** Of all containers, as kubectl counts them. Unknown before they are created. */
const restarts = ([statuses]: readonly [ContainerStatuses?]) => statuses?.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);

export const DERIVE = {
  restarts: { paths: ["status.containerStatuses"], value: restarts },
} satisfies ViewSpec<Pod>["derive"];

export const restartsOf = ({ status }: HeldPod) => restarts([status?.containerStatuses]);

/** The same row of a pod that is no view's, as in a list. */
export function fieldsOf(pod: HeldPod): PodRow {
  const { name, namespace, creationTimestamp: created } = pod.metadata;
  return {
    key: `${namespace}/${name}`,
    name,
    namespace,
    phase: pod.status?.phase,
    node: pod.spec?.nodeName,
    restarts: restartsOf(pod),
    created,
  };
}
