// What a server adds to an object that a client sent: defaults, and the order that Go gives to maps.

import { randomBytes } from "node:crypto";

/** Resources whose objects count the versions of their spec. */
const GENERATIONS = new Set(["pods", "deployments", "replicasets"]);

/** How every pod is scheduled. */
export const SCHEDULING = {
  schedulerName: "default-scheduler",
  tolerations: [
    { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
    { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
  ],
  priority: 0,
  enableServiceLinks: true,
  preemptionPolicy: "PreemptLowerPriority",
};

const POD_SPEC = {
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  securityContext: {},
  ...SCHEDULING,
};

/** What keeps pods from a node until somebody says that it is ready. */
const NOT_READY = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

/** What the template of a workload gets. */
const TEMPLATE_SPEC = {
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  securityContext: {},
  schedulerName: "default-scheduler",
};

const DEPLOYMENT_SPEC = {
  replicas: 1,
  strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
  revisionHistoryLimit: 10,
  progressDeadlineSeconds: 600,
};

const SERVICE_SPEC = {
  type: "ClusterIP",
  sessionAffinity: "None",
  ipFamilies: ["IPv4"],
  ipFamilyPolicy: "SingleStack",
  internalTrafficPolicy: "Cluster",
};

/** What is not said, without what is; an object that was made new. @param {any} defaults @param {any} spec */
const completed = (defaults, spec) => {
  const result = { ...structuredClone(defaults), ...spec };
  for (const [field, value] of Object.entries(defaults)) if (result[field] === undefined) result[field] = structuredClone(value);
  return result;
};

/** @param {any} spec of a pod @param {any} defaults */
function podSpec(spec, defaults) {
  const { containers, ...rest } = spec ?? {};
  const withDefaults = Array.isArray(containers) ? containers.map(containerWithDefaults) : containers;
  const inits = Array.isArray(rest.initContainers) ? { initContainers: rest.initContainers.map(containerWithDefaults) } : {};
  return { containers: withDefaults, ...completed(defaults, rest), ...inits };
}

/** @param {any} spec of a workload @param {any} defaults */
function workloadSpec(spec, defaults) {
  const { template, ...rest } = completed(defaults, spec);
  return { ...rest, template: { ...template, metadata: template?.metadata ?? {}, spec: podSpec(template?.spec, TEMPLATE_SPEC) } };
}

/**
 * The spec of an object that is written, complete. What it says already stays.
 * @param {import("./resources.mjs").ResourceDefinition} definition
 * @param {any} object changed in place
 */
export function completeSpec(definition, object) {
  const { spec } = object;
  if (definition.resource === "deployments") object.spec = workloadSpec(spec, DEPLOYMENT_SPEC);
  else if (definition.resource === "replicasets") object.spec = workloadSpec(spec, { replicas: 1 });
  else if (definition.resource === "services") {
    const ports = spec?.ports?.map((/** @type {any} */ port) => ({ protocol: "TCP", ...port, targetPort: port.targetPort ?? port.port }));
    object.spec = completed(SERVICE_SPEC, { ...spec, ...(ports ? { ports } : {}) });
  }
}

/** An address of its own. @param {any} service changed in place */
function giveAddress({ spec }) {
  if (spec.type === "ExternalName") return;
  const [high, low] = randomBytes(2);
  spec.clusterIP ??= `10.97.${high}.${low}`;
  spec.clusterIPs ??= [spec.clusterIP];
}

/**
 * @param {import("./resources.mjs").ResourceDefinition} definition
 * @param {any} object a new one; changed in place
 */
export function applyDefaults(definition, object) {
  for (const [part, value] of Object.entries(definition.empty)) object[part] ??= structuredClone(value);
  completeSpec(definition, object);
  if (definition.resource === "services") giveAddress(object);
  if (GENERATIONS.has(definition.resource)) object.metadata.generation = 1;
  if (definition.resource === "pods") {
    object.spec = podSpec(object.spec, POD_SPEC);
    object.status = { phase: "Pending", qosClass: "BestEffort" };
  } else if (definition.resource === "namespaces") {
    object.spec = { finalizers: ["kubernetes"] };
    object.status = { phase: "Active" };
    object.metadata.labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": object.metadata.name };
  } else if (definition.resource === "nodes") {
    object.spec.taints = [...(object.spec.taints ?? []), NOT_READY];
  } else if (definition.status) {
    object.status = structuredClone(definition.empty.status ?? {});
  }
}

/** @param {any} container */
function containerWithDefaults(container) {
  const floating = !/:(?!latest$)[^/]+$/.test(String(container?.image ?? ""));
  const { name, image, ...rest } = container ?? {};
  if (Array.isArray(rest.ports)) rest.ports = rest.ports.map((/** @type {any} */ port) => ({ ...port, protocol: port.protocol ?? "TCP" }));
  return {
    name,
    image,
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: floating ? "Always" : "IfNotPresent",
    ...rest,
  };
}

/** Maps have no order in Go and are written sorted by key. @param {any} object changed in place */
export function sortMaps(object) {
  const { metadata } = object;
  for (const map of ["labels", "annotations"]) if (metadata[map]) metadata[map] = sorted(metadata[map]);
  for (const map of ["data", "binaryData"]) if (object[map] && typeof object[map] === "object") object[map] = sorted(object[map]);
}

/** @param {Record<string, unknown>} map */
function sorted(map) {
  return Object.fromEntries(Object.entries(map).sort(([left], [right]) => (left < right ? -1 : 1)));
}
