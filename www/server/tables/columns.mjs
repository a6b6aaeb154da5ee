// The tables: which columns a resource has, and what stands in them. Columns of priority 1 are those of `kubectl get -o wide`.
import { since } from "./age.mjs";
import { podCells } from "./pods.mjs";

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {"string" | "integer"} type
 * @property {string} format "name" for the name of the object
 * @property {string} description
 * @property {number} priority 0: always shown
 */

/**
 * @typedef {object} TableShape
 * @property {Column[]} columns
 * @property {(object: any, now: number) => unknown[]} cells one for each column
 */

/** @param {string} name @param {string} description @param {Partial<Column>} [more] @returns {Column} */
const column = (name, description, more) => ({ name, type: "string", format: "", description, priority: 0, ...more });
const NAME = column("Name", "The name of the object.", { format: "name" });
const AGE = column("Age", "How long ago the object was created.");
const wide = /** @type {const} */ ({ priority: 1 });
const integer = /** @type {const} */ ({ type: "integer" });

const TEMPLATE = [
  column("Containers", "The containers of the template.", wide),
  column("Images", "Their images.", wide),
  column("Selector", "The label selector of the pods.", wide),
];

/** @param {any} spec of a workload */
function templateCells({ template, selector }) {
  const containers = template?.spec?.containers ?? [];
  const each = (/** @type {"name" | "image"} */ field) => containers.map((/** @type {any} */ container) => container[field]).join(",");
  return [each("name"), each("image"), selectorText(selector)];
}

/** @param {any} labels */
function labelsText(labels) {
  const entries = Object.entries(labels ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  return entries.map(([label, value]) => `${label}=${value}`).join(",") || "<none>";
}

const OPERATORS = /** @type {Record<string, string>} */ ({ In: "in", NotIn: "notin" });

/** @param {any} selector a LabelSelector */
export function selectorText(selector) {
  const terms = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({ key, text: `${key}=${value}` }));
  for (const { key, operator, values = [] } of selector?.matchExpressions ?? []) {
    if (operator === "Exists") terms.push({ key, text: key });
    else if (operator === "DoesNotExist") terms.push({ key, text: `!${key}` });
    else terms.push({ key, text: `${key} ${OPERATORS[operator]} (${[...values].sort().join(",")})` });
  }
  terms.sort((left, right) => (left.key < right.key ? -1 : 1));
  return terms.map(({ text }) => text).join(",") || "<none>";
}

/** @param {any} event @param {number} now */
function eventCells(event, now) {
  const { involvedObject = {}, source = {}, series } = event;
  const first = since(event.firstTimestamp ?? event.eventTime, now);
  const last = series ? since(series.lastObservedTime, now) : event.lastTimestamp ? since(event.lastTimestamp, now) : first;
  const target = (involvedObject.kind ?? "").toLowerCase() + (involvedObject.name ? `/${involvedObject.name}` : "");
  const from = [source.component || event.reportingComponent, source.host || event.reportingInstance].filter(Boolean).join(", ");
  return [
    last,
    event.type ?? "",
    event.reason ?? "",
    target,
    involvedObject.fieldPath ?? "",
    from,
    (event.message ?? "").trim(),
    first,
    (series ? series.count : event.count) || 1,
    event.metadata.name ?? "",
  ];
}

/** @param {any} node @param {number} now */
function nodeCells(node, now) {
  const { spec = {}, status = {}, metadata } = node;
  const ready = (status.conditions ?? []).find((/** @type {any} */ condition) => condition.type === "Ready");
  const word = ready ? (ready.status === "True" ? "Ready" : "NotReady") : "Unknown";
  const address = (/** @type {string} */ type) =>
    (status.addresses ?? []).find((/** @type {any} */ it) => it.type === type)?.address || "<none>";
  const info = status.nodeInfo ?? {};
  return [
    metadata.name ?? "",
    spec.unschedulable ? `${word},SchedulingDisabled` : word,
    rolesOf(metadata.labels ?? {}).join(",") || "<none>",
    since(metadata.creationTimestamp, now),
    info.kubeletVersion ?? "",
    address("InternalIP"),
    address("ExternalIP"),
    info.osImage || "<unknown>",
    `${info.kernelVersion || "<unknown>"}${info.architecture ? ` (${info.architecture})` : ""}`,
    info.containerRuntimeVersion || "<unknown>",
  ];
}

/** @param {Record<string, string>} labels */
function rolesOf(labels) {
  const roles = new Set();
  for (const [label, value] of Object.entries(labels)) {
    if (label.startsWith("node-role.kubernetes.io/") && label.length > 24) roles.add(label.slice(24));
    else if (label === "kubernetes.io/role" && value) roles.add(value);
  }
  return [...roles].sort();
}

/** @param {any} service */
function outsideOf({ spec = {}, status = {} }) {
  const given = spec.externalIPs ?? [];
  if (spec.type === "ExternalName") return spec.externalName || "<none>";
  if (spec.type === "LoadBalancer") {
    const balancers = (status.loadBalancer?.ingress ?? []).map((/** @type {any} */ { ip, hostname }) => ip || hostname).filter(Boolean);
    return [...balancers, ...given].join(",") || "<pending>";
  }
  return given.join(",") || "<none>";
}

/** @param {any} service @param {number} now */
function serviceCells(service, now) {
  const { spec = {}, metadata } = service;
  const ports = (spec.ports ?? []).map(
    (/** @type {any} */ { port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ""}/${protocol}`,
  );
  return [
    metadata.name ?? "",
    spec.type ?? "",
    spec.clusterIPs?.[0] || "<none>",
    outsideOf(service),
    ports.join(",") || "<none>",
    since(metadata.creationTimestamp, now),
    labelsText(spec.selector),
  ];
}

/** By the plural name of the resource. @type {Record<string, TableShape>} */
export const TABLES = {
  configmaps: {
    columns: [NAME, column("Data", "The number of entries."), AGE],
    cells: ({ metadata, data, binaryData }, now) => [
      metadata.name ?? "",
      Object.keys(data ?? {}).length + Object.keys(binaryData ?? {}).length,
      since(metadata.creationTimestamp, now),
    ],
  },
  deployments: {
    columns: [
      NAME,
      column("Ready", "How many pods are ready, of those that are wanted."),
      column("Up-to-date", "How many pods have the wanted template."),
      column("Available", "How many pods have been ready for long enough."),
      AGE,
      ...TEMPLATE,
    ],
    cells: ({ metadata, spec = {}, status = {} }, now) => [
      metadata.name ?? "",
      `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
      status.updatedReplicas ?? 0,
      status.availableReplicas ?? 0,
      since(metadata.creationTimestamp, now),
      ...templateCells(spec),
    ],
  },
  events: {
    columns: [
      column("Last Seen", "How long ago it happened the last time."),
      column("Type", "Normal or Warning."),
      column("Reason", "Why, in one word."),
      column("Object", "What it is about."),
      column("Subobject", "Which part of that.", wide),
      column("Source", "Who tells it.", wide),
      column("Message", "What happened."),
      column("First Seen", "How long ago it happened first.", wide),
      column("Count", "How often it happened.", wide),
      { ...NAME, ...wide },
    ],
    cells: eventCells,
  },
  namespaces: {
    columns: [NAME, column("Status", "The phase of the namespace."), AGE],
    cells: ({ metadata, status }, now) => [metadata.name ?? "", status?.phase ?? "", since(metadata.creationTimestamp, now)],
  },
  nodes: {
    columns: [
      NAME,
      column("Status", "Whether the node is ready, and whether pods are put there."),
      column("Roles", "The roles that its labels name."),
      AGE,
      column("Version", "The version of its kubelet."),
      column("Internal-IP", "Its address inside of the cluster.", wide),
      column("External-IP", "Its address outside of the cluster.", wide),
      column("OS-Image", "Its operating system.", wide),
      column("Kernel-Version", "The version of its kernel.", wide),
      column("Container-Runtime", "What runs its containers.", wide),
    ],
    cells: nodeCells,
  },
  pods: {
    columns: [
      NAME,
      column("Ready", "How many containers are ready, of all of them."),
      column("Status", "The state of the pod in one word."),
      column("Restarts", "How often containers were restarted, and when the last time."),
      AGE,
      column("IP", "The address of the pod.", wide),
      column("Node", "Where it runs.", wide),
      column("Nominated Node", "Where room is made for it.", wide),
      column("Readiness Gates", "How many of its readiness gates are open.", wide),
    ],
    cells: podCells,
  },
  replicasets: {
    columns: [
      NAME,
      column("Desired", "How many pods are wanted.", integer),
      column("Current", "How many pods there are.", integer),
      column("Ready", "How many pods are ready.", integer),
      AGE,
      ...TEMPLATE,
    ],
    cells: ({ metadata, spec = {}, status = {} }, now) => [
      metadata.name ?? "",
      spec.replicas ?? 0,
      status.replicas ?? 0,
      status.readyReplicas ?? 0,
      since(metadata.creationTimestamp, now),
      ...templateCells(spec),
    ],
  },
  services: {
    columns: [
      NAME,
      column("Type", "How the service is reached."),
      column("Cluster-IP", "Its address inside of the cluster."),
      column("External-IP", "Its addresses outside of the cluster."),
      column("Port(s)", "Its ports."),
      AGE,
      column("Selector", "The labels of the pods that it leads to.", wide),
    ],
    cells: serviceCells,
  },
};
