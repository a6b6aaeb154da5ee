// What a server adds to an object that a client sent: defaults, and the order that Go gives to maps.

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

/**
 * @param {import("./resources.mjs").ResourceDefinition} definition
 * @param {any} object a new one; changed in place
 */
export function applyDefaults(definition, object) {
  if (GENERATIONS.has(definition.resource)) object.metadata.generation = 1;
  if (definition.resource === "pods") {
    const { containers, ...rest } = object.spec ?? {};
    const withDefaults = Array.isArray(containers) ? containers.map(containerWithDefaults) : containers;
    object.spec = { containers: withDefaults, ...POD_SPEC, ...rest };
    object.status = { phase: "Pending", qosClass: "BestEffort" };
  } else if (definition.resource === "namespaces") {
    object.spec = { finalizers: ["kubernetes"] };
    object.status = { phase: "Active" };
    object.metadata.labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": object.metadata.name };
  } else if (definition.status && definition.resource !== "nodes") {
    object.status = structuredClone(definition.empty.status ?? {});
  }
}

/** @param {any} container */
function containerWithDefaults(container) {
  const floating = !/:(?!latest$)[^/]+$/.test(String(container?.image ?? ""));
  const { name, image, ...rest } = container ?? {};
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
