// What the table shows of a pod, and which pods: for every harness, and for the check of what it shows.
import { keyOf } from "../peers/object.js";
import { HIDDEN, ROWS } from "../peers/rows.js";

export { HIDDEN, keyOf, ROWS };

/** Ages are those of one moment, so that all tables of a run show the same. */
const NOW = Date.parse("2026-05-10T00:00:00Z");
const HOUR = 3_600_000;

const statuses = (pod) => pod.status.containerStatuses;

/** The columns of `kubectl get pods -o wide`, but for the address. */
export const COLUMNS = [
  { title: "namespace", cell: (pod) => pod.metadata.namespace },
  { title: "name", cell: (pod) => pod.metadata.name },
  { title: "ready", cell: (pod) => `${statuses(pod).filter(({ ready }) => ready).length}/${statuses(pod).length}` },
  { title: "status", cell: (pod) => statuses(pod)[0].state.waiting?.reason ?? pod.status.phase },
  { title: "restarts", cell: (pod) => String(statuses(pod).reduce((sum, { restartCount }) => sum + restartCount, 0)) },
  { title: "age", cell: (pod) => `${Math.floor((NOW - Date.parse(pod.metadata.creationTimestamp)) / HOUR)}h` },
  { title: "node", cell: (pod) => pod.spec.nodeName },
];

const before = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** By hand: all but one group's, the youngest first. Times are texts of one form, so they order as texts. */
export function orderedOf(pods) {
  return [...pods]
    .filter(({ metadata }) => metadata.labels.group !== HIDDEN)
    .sort((a, b) => before(b.metadata.creationTimestamp, a.metadata.creationTimestamp) || before(a.metadata.name, b.metadata.name));
}

/** One screen of them. */
export const shownOf = (pods) => orderedOf(pods).slice(0, ROWS);

/** What a table of these rows says, a line for each. */
export const textOf = (pods) => pods.map((pod) => COLUMNS.map(({ cell }) => cell(pod)).join(" ")).join("\n");
