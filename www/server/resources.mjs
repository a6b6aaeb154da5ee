// The resources this server knows: paths, kinds, selectable fields, and what an empty object of the kind looks like.

/**
 * @typedef {object} ResourceDefinition
 * @property {string} group "" for the core group
 * @property {string} version
 * @property {string} resource plural, as in the path
 * @property {string} singular
 * @property {string} kind
 * @property {string[]} shortNames
 * @property {string[]} categories
 * @property {boolean} namespaced
 * @property {boolean} status whether /status exists
 * @property {readonly string[]} statusKeeps metadata that a write of the status leaves alone
 * @property {readonly string[]} parts other subresources that exist
 * @property {boolean} deletesAll whether a collection can be deleted
 * @property {boolean} returnsDeleted whether DELETE answers the object instead of a Status
 * @property {boolean} namesFieldsItself whether the type has its own list of selectable fields; it decides the text of the error
 * @property {Record<string, (object: any) => string>} fields selectable fields
 * @property {string[]} computedFields those of them that stand nowhere in an object just so
 * @property {Record<string, string>} fieldAliases old names of fields
 * @property {Record<string, unknown>} empty the parts beside metadata of an object that only has zero values, as bookmarks carry it
 */

const text = (/** @type {unknown} */ value) => (value === undefined || value === null ? "" : String(value));
const flag = (/** @type {unknown} */ value) => (value ? "true" : "false");

const nameOnly = { "metadata.name": (/** @type {any} */ object) => text(object.metadata.name) };
const nameAndNamespace = { ...nameOnly, "metadata.namespace": (/** @type {any} */ object) => text(object.metadata.namespace) };

/** @param {Partial<ResourceDefinition> & { resource: string, singular: string, kind: string }} part @returns {ResourceDefinition} */
function define(part) {
  return {
    group: "",
    version: "v1",
    shortNames: [],
    categories: [],
    namespaced: true,
    status: false,
    statusKeeps: [],
    parts: [],
    deletesAll: true,
    returnsDeleted: false,
    namesFieldsItself: true,
    fields: nameAndNamespace,
    computedFields: [],
    fieldAliases: {},
    empty: {},
    ...part,
  };
}

/** @type {ResourceDefinition[]} */
export const RESOURCES = [
  define({ resource: "configmaps", singular: "configmap", kind: "ConfigMap", shortNames: ["cm"], namesFieldsItself: false }),
  define({
    resource: "events",
    singular: "event",
    kind: "Event",
    shortNames: ["ev"],
    fields: {
      ...nameAndNamespace,
      "involvedObject.kind": (event) => text(event.involvedObject?.kind),
      "involvedObject.namespace": (event) => text(event.involvedObject?.namespace),
      "involvedObject.name": (event) => text(event.involvedObject?.name),
      "involvedObject.uid": (event) => text(event.involvedObject?.uid),
      "involvedObject.apiVersion": (event) => text(event.involvedObject?.apiVersion),
      "involvedObject.resourceVersion": (event) => text(event.involvedObject?.resourceVersion),
      "involvedObject.fieldPath": (event) => text(event.involvedObject?.fieldPath),
      reason: (event) => text(event.reason),
      reportingComponent: (event) => text(event.reportingComponent),
      source: (event) => text(event.source?.component || event.reportingComponent),
      type: (event) => text(event.type),
    },
    computedFields: ["source"],
    empty: {
      involvedObject: {},
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: "",
      reportingInstance: "",
    },
  }),
  define({
    resource: "namespaces",
    singular: "namespace",
    kind: "Namespace",
    shortNames: ["ns"],
    namespaced: false,
    status: true,
    deletesAll: false,
    returnsDeleted: true,
    fields: { ...nameOnly, "status.phase": (namespace) => text(namespace.status?.phase) },
    empty: { spec: {}, status: {} },
  }),
  define({
    resource: "nodes",
    singular: "node",
    kind: "Node",
    shortNames: ["no"],
    namespaced: false,
    status: true,
    fields: { ...nameOnly, "spec.unschedulable": (node) => flag(node.spec?.unschedulable) },
    computedFields: ["spec.unschedulable"],
    empty: {
      spec: {},
      status: {
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        nodeInfo: {
          machineID: "",
          systemUUID: "",
          bootID: "",
          kernelVersion: "",
          osImage: "",
          containerRuntimeVersion: "",
          kubeletVersion: "",
          kubeProxyVersion: "",
          operatingSystem: "",
          architecture: "",
        },
      },
    },
  }),
  define({
    resource: "pods",
    singular: "pod",
    kind: "Pod",
    shortNames: ["po"],
    categories: ["all"],
    status: true,
    statusKeeps: ["ownerReferences"],
    parts: ["eviction"],
    returnsDeleted: true,
    fields: {
      ...nameAndNamespace,
      "spec.nodeName": (pod) => text(pod.spec?.nodeName),
      "spec.restartPolicy": (pod) => text(pod.spec?.restartPolicy),
      "spec.schedulerName": (pod) => text(pod.spec?.schedulerName),
      "spec.serviceAccountName": (pod) => text(pod.spec?.serviceAccountName),
      "spec.hostNetwork": (pod) => flag(pod.spec?.hostNetwork),
      "status.phase": (pod) => text(pod.status?.phase),
      "status.podIP": (pod) => text(pod.status?.podIPs?.[0]?.ip),
      "status.nominatedNodeName": (pod) => text(pod.status?.nominatedNodeName),
    },
    computedFields: ["spec.hostNetwork", "status.podIP"],
    fieldAliases: { "spec.host": "spec.nodeName" },
    empty: { spec: { containers: null }, status: {} },
  }),
  define({
    resource: "services",
    singular: "service",
    kind: "Service",
    shortNames: ["svc"],
    categories: ["all"],
    status: true,
    returnsDeleted: true,
    fields: {
      ...nameAndNamespace,
      "spec.clusterIP": (service) => text(service.spec?.clusterIP),
      "spec.type": (service) => text(service.spec?.type),
    },
    empty: { spec: {}, status: { loadBalancer: {} } },
  }),
  define({
    group: "apps",
    resource: "deployments",
    singular: "deployment",
    kind: "Deployment",
    shortNames: ["deploy"],
    categories: ["all"],
    status: true,
    statusKeeps: ["labels"],
    parts: ["scale"],
    namesFieldsItself: false,
    empty: { spec: { replicas: 0, selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} }, status: {} },
  }),
  define({
    group: "apps",
    resource: "replicasets",
    singular: "replicaset",
    kind: "ReplicaSet",
    shortNames: ["rs"],
    categories: ["all"],
    status: true,
    parts: ["scale"],
    namesFieldsItself: false,
    empty: { spec: { replicas: 0, selector: null, template: { metadata: {}, spec: { containers: null } } }, status: { replicas: 0 } },
  }),
];

const BY_PATH = new Map(RESOURCES.map((definition) => [`${definition.group}/${definition.version}/${definition.resource}`, definition]));

/** @param {string} group @param {string} version @param {string} resource */
export function findResource(group, version, resource) {
  return BY_PATH.get(`${group}/${version}/${resource}`);
}

/** @param {string} resource plural name, without its group */
export function findResourceByName(resource) {
  return RESOURCES.find((definition) => definition.resource === resource);
}

/** "v1" or "apps/v1", as objects carry it. @param {ResourceDefinition} definition */
export function apiVersion(definition) {
  return definition.group ? `${definition.group}/${definition.version}` : definition.version;
}

/**
 * The key of an object inside its resource: "/name" or "/namespace/name". It orders lists and stands in continue tokens.
 * @param {ResourceDefinition} definition @param {string} namespace @param {string} name
 */
export function keyOf(definition, namespace, name) {
  return definition.namespaced ? `/${namespace}/${name}` : `/${name}`;
}
