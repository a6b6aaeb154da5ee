import type { ReactNode } from "react";
import type { ViewSpec } from "watchcache";
import { ago, duration, grouped } from "./format";
import { restartsOf, type Pod } from "./pod";

export type OrderBy = NonNullable<ViewSpec<Pod>["orderBy"]>;
export interface Sort {
  column: string;
  descending: boolean;
}

/** What a cell is drawn from: the pod, the time, and when this page saw the pod change. */
export interface CellContext {
  now: number;
  changedAt: number | undefined;
}

export interface Column {
  id: string;
  title?: string;
  /** Numbers and times stand on the right. */
  numeric?: boolean;
  orderBy(descending: boolean): OrderBy;
  cell(pod: Pod, context: CellContext): ReactNode;
}

const byName: OrderBy = [{ path: "metadata.name", as: "natural" }, { path: "metadata.namespace" }];

const PHASE_SIGN: Record<string, string> = { Running: "●", Pending: "○", Succeeded: "✓", Failed: "✕" };

export const COLUMNS: readonly Column[] = [
  {
    id: "name",
    orderBy: (descending) => [{ path: "metadata.name", as: "natural", descending }, { path: "metadata.namespace" }],
    cell: (pod) => <span title={pod.metadata.name}>{pod.metadata.name}</span>,
  },
  {
    id: "namespace",
    // Upwards it is the order of the keys, which needs none: such rows show while the list is still on its way.
    orderBy: (descending) => (descending ? [{ path: "metadata.namespace", descending }, ...byName] : []),
    cell: (pod) => pod.metadata.namespace,
  },
  {
    id: "phase",
    orderBy: (descending) => [{ path: "status.phase", descending }, ...byName],
    cell: (pod) => {
      const phase = pod.status?.phase ?? "Unknown";
      return (
        <span className="phase" data-phase={phase}>
          <span aria-hidden="true">{PHASE_SIGN[phase] ?? "?"}</span> {phase}
        </span>
      );
    },
  },
  {
    id: "node",
    orderBy: (descending) => [{ path: "spec.nodeName", as: "natural", descending }, ...byName],
    cell: (pod) => pod.spec?.nodeName ?? <span className="none">none yet</span>,
  },
  {
    id: "restarts",
    title: "of the pod's first container",
    numeric: true,
    orderBy: (descending) => [{ path: "status.containerStatuses[0].restartCount", as: "number", descending }, ...byName],
    cell: (pod) => {
      const restarts = restartsOf(pod);
      return restarts === undefined ? <span className="none">–</span> : grouped(restarts);
    },
  },
  {
    id: "age",
    numeric: true,
    // The youngest has the latest creation time.
    orderBy: (descending) => [{ path: "metadata.creationTimestamp", as: "time", descending: !descending }, ...byName],
    cell: (pod, { now }) => duration(now - Date.parse(pod.metadata.creationTimestamp)),
  },
  {
    id: "changed",
    title: "since this page saw it change; sorts by resourceVersion",
    numeric: true,
    // A larger version is a later change, whoever made it and whenever this page was opened.
    orderBy: (descending) => [{ path: "metadata.resourceVersion", as: "number", descending: !descending }],
    cell: (pod, { now, changedAt }) =>
      changedAt === undefined ? (
        <span className="none" title={`not since this page was opened; version ${pod.metadata.resourceVersion}`}>
          –
        </span>
      ) : (
        ago(now - changedAt)
      ),
  },
];

export function orderOf({ column, descending }: Sort): OrderBy {
  return COLUMNS.find(({ id }) => id === column)!.orderBy(descending);
}
