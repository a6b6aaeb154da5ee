import type { ReactNode } from "react";
import type { ViewSpec } from "watchcache";
import { grouped } from "./format";
import type { Pod, PodRow } from "./pod";

export type OrderBy = NonNullable<ViewSpec<Pod>["orderBy"]>;
export interface Sort {
  column: string;
  descending: boolean;
}
/** The order of the keys, in which a cache holds its objects. */
export const BY_KEY: Sort = { column: "namespace", descending: false };

export interface Column {
  id: string;
  title?: string;
  /** Numbers and times stand on the right. */
  numeric?: boolean;
  orderBy(descending: boolean): OrderBy;
  /** How a field of the row looks. Without it the cell shows time that passes. */
  show?(row: PodRow): { value: string | number | undefined; draw(value: string | number | undefined): ReactNode };
}

const byName: OrderBy = [{ path: "metadata.name", as: "natural" }, { path: "metadata.namespace" }];

const PHASE_SIGN: Record<string, string> = { Running: "●", Pending: "○", Succeeded: "✓", Failed: "✕" };

export type Value = string | number | undefined;
const titled = (value: Value) => <span title={String(value)}>{value}</span>;
const plain = (value: Value) => value;
const phase = (value: Value = "Unknown") => (
  <span className="phase" data-phase={value}>
    <span aria-hidden="true">{PHASE_SIGN[value] ?? "?"}</span> {value}
  </span>
);
const node = (value: Value) => value ?? <span className="none">none yet</span>;
const count = (value: Value) => (value === undefined ? <span className="none">–</span> : grouped(value));

export const COLUMNS: readonly Column[] = [
  {
    id: "name",
    orderBy: (descending) => [{ path: "metadata.name", as: "natural", descending }, { path: "metadata.namespace" }],
    show: ({ name }) => ({ value: name, draw: titled }),
  },
  {
    id: "namespace",
    // Upwards it is the order of the keys, which needs none: such rows show while the list is still on its way.
    orderBy: (descending) => (descending ? [{ path: "metadata.namespace", descending }, ...byName] : []),
    show: ({ namespace }) => ({ value: namespace, draw: plain }),
  },
  {
    id: "phase",
    orderBy: (descending) => [{ path: "status.phase", descending }, ...byName],
    show: ({ phase: value }) => ({ value, draw: phase }),
  },
  {
    id: "node",
    orderBy: (descending) => [{ path: "spec.nodeName", as: "natural", descending }, ...byName],
    show: ({ node: value }) => ({ value, draw: node }),
  },
  {
    id: "restarts",
    title: "of all containers",
    numeric: true,
    orderBy: (descending) => [{ path: "restarts", descending }, ...byName],
    show: ({ restarts }) => ({ value: restarts, draw: count }),
  },
  {
    id: "age",
    numeric: true,
    // The youngest has the latest creation time.
    orderBy: (descending) => [{ path: "metadata.creationTimestamp", as: "time", descending: !descending }, ...byName],
  },
  {
    id: "changed",
    title: "since this page saw it change; sorts by resourceVersion",
    numeric: true,
    // A larger version is a later change, whoever made it and whenever this page was opened.
    orderBy: (descending) => [{ path: "metadata.resourceVersion", as: "number", descending: !descending }],
  },
];

/** How many cells of a row show fields. The others show time that passes. */
export const FIELD_CELLS = COLUMNS.filter(({ show }) => show !== undefined).length;

export function orderOf({ column, descending }: Sort): OrderBy {
  return COLUMNS.find(({ id }) => id === column)!.orderBy(descending);
}
