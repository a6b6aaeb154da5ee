/**
 * The writes that both servers are sent, group by group, one after another.
 * @module
 */

/**
 * @typedef {object} WriteRequest
 * @property {"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} method
 * @property {string} path
 * @property {unknown} [body] a text as it is, anything else as JSON
 * @property {string} [type] of the content
 * @property {true} [validated] kube-apiserver refuses a value that is of its type. The embedded server takes it
 */

const DEFAULT = "namespaces/default";
const MAPS = `/api/v1/${DEFAULT}/configmaps`;
const PODS = `/api/v1/${DEFAULT}/pods`;
const SERVICES = `/api/v1/${DEFAULT}/services`;
const EVENTS = `/api/v1/${DEFAULT}/events`;
const DEPLOYMENTS = `/apis/apps/v1/${DEFAULT}/deployments`;
const REPLICA_SETS = `/apis/apps/v1/${DEFAULT}/replicasets`;
const NODES = "/api/v1/nodes";
const NAMESPACES = "/api/v1/namespaces";

const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const OPERATIONS = "application/json-patch+json";
const APPLY = "application/apply-patch+yaml";

/** The refusals of validation, which the embedded server does not have. */
export const VALIDATED = /Required value|must not be empty|must be between|may only be used when/;

/** @param {string} path @param {unknown} body @returns {WriteRequest} */
const post = (path, body) => ({ method: "POST", path, body });
/** @param {string} path @param {unknown} body @returns {WriteRequest} */
const put = (path, body) => ({ method: "PUT", path, body });
/** @param {string} path @param {unknown} body @param {string} type @returns {WriteRequest} */
const patch = (path, body, type) => ({ method: "PATCH", path, body, type });
/** @param {string} path @param {unknown} [body] @returns {WriteRequest} */
const remove = (path, body) => ({ method: "DELETE", path, body });
/** @param {WriteRequest} request @returns {WriteRequest} */
const validated = (request) => ({ ...request, validated: true });

let made = 0;
/** A name that no other has. */
const name = () => `made-${(made += 1)}`;

/** @param {Record<string, unknown>} metadata @param {Record<string, unknown>} [more] */
const map = (metadata, more = {}) => post(MAPS, { metadata: { name: name(), ...metadata }, ...more });
/** @param {unknown} [spec] */
const pod = (spec) => post(PODS, { metadata: { name: name() }, spec });
/** @param {Record<string, unknown>} more of its one container */
const podOf = (more) => pod({ containers: [{ name: "main", image: "example/main:v1", ...more }] });
/** @param {unknown} [spec] */
const service = (spec) => post(SERVICES, { metadata: { name: name() }, spec });
/** @param {string} it */
const workload = (it) => ({
  metadata: { name: it },
  spec: {
    selector: { matchLabels: { app: it } },
    template: { metadata: { labels: { app: it } }, spec: { containers: [{ name: "main", image: "example/main:v1" }] } },
  },
});
const marked = { labels: { marked: "1" }, annotations: { marked: "1" } };

/** @type {Record<string, WriteRequest[]>} */
export const REQUESTS = {
  "labels and annotations have a form": [
    ...["Not a label!", "-a", "a".repeat(64), "", "a b"].map((value) => map({ labels: { app: value } })),
    ...["Not a label!", "a/b/c", "/a", "-x.y/a", "x.y/", "a".repeat(64), `${"a".repeat(254)}/b`].flatMap((key) => [
      map({ labels: { [key]: "a" } }),
      map({ annotations: { [key]: "Not a label!" } }),
    ]),
    map({ annotations: { "Example.COM/Big": "a" } }),
    post(MAPS, { metadata: { name: "labelled", labels: { app: "a" } } }),
    put(`${MAPS}/labelled`, { metadata: { name: "labelled", labels: { app: "-" } } }),
    ...[MERGE, STRATEGIC].map((type) => patch(`${MAPS}/labelled?dryRun=All`, { metadata: { labels: { app: "Not a label!" } } }, type)),
    patch(`${MAPS}/labelled`, [{ op: "add", path: "/metadata/annotations", value: { "a b": "" } }], OPERATIONS),
    patch(
      `${MAPS}/labelled?fieldManager=me&force=true`,
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "labelled", labels: { "a b": "" } } },
      APPLY,
    ),
    post(PODS, { metadata: { name: "labelled" }, spec: { containers: [{ name: "main", image: "example/main:v1" }] } }),
    patch(`${PODS}/labelled/status`, { metadata: { labels: { app: "-" } } }, MERGE),
  ],
  "a value of another type is none": [
    ...[1, 1.5, true, {}, []].map((it) => map({ name: it })),
    map({ generateName: 3 }),
    map({ labels: { a: 1 } }),
    map({ labels: [] }),
    map({ labels: "x" }),
    map({ namespace: 5 }),
    map({ resourceVersion: 5 }),
    map({ finalizers: [1] }),
    map({ creationTimestamp: "x" }),
    map({ deletionTimestamp: 5 }),
    post(MAPS, { metadata: "x" }),
    post(MAPS, { kind: 5, metadata: { name: "k" } }),
    post(MAPS, { apiVersion: 5, metadata: { name: "k" } }),
    map({}, { data: { a: 1 } }),
    map({}, { data: "x" }),
    map({}, { data: [] }),
    map({}, { binaryData: { a: "!!" } }),
    map({}, { immutable: "yes" }),
    pod("x"),
    pod({ containers: {} }),
    pod({ containers: ["x"] }),
    pod({ restartPolicy: 1 }),
    podOf({ name: 1 }),
    podOf({ ports: [{ containerPort: "80" }] }),
    podOf({ resources: { limits: { cpu: "x" } } }),
    post(DEPLOYMENTS, { metadata: { name: name() }, spec: { replicas: "3" } }),
    post(DEPLOYMENTS, { metadata: { name: name() }, spec: { replicas: 1.5 } }),
    service({ ports: [{ port: 80, targetPort: true }] }),
    post(EVENTS, { metadata: { name: name() }, involvedObject: { namespace: "default" }, count: "3" }),
  ],
  "null is nothing": [
    post(MAPS, { metadata: { name: null } }),
    post(MAPS, { metadata: null }),
    map({ labels: null, annotations: null }),
    map({ labels: { a: null } }),
    map({}, { data: null }),
    map({}, { data: { a: null } }),
    map({}, { data: {} }),
    map({}, { immutable: null }),
    map({}, { binaryData: { a: "eA==" } }),
    map({}, { kind: null, apiVersion: null }),
    podOf({ ports: null, env: null }),
    post(PODS, { metadata: { name: name() }, spec: { containers: [{ name: "main", image: "a" }], nodeName: null }, status: null }),
    service({ ports: [{ port: 80, targetPort: "http" }] }),
    post(NODES, { metadata: { name: name() }, spec: null }),
    post(NODES, { metadata: { name: name() } }),
    post(NAMESPACES, { metadata: { name: name() }, spec: null }),
    post(EVENTS, { metadata: { name: name() }, involvedObject: null }),
    post(EVENTS, { metadata: { name: name() }, involvedObject: { namespace: "default" }, count: 3 }),
    validated(map({ ownerReferences: [null] })),
    validated(pod(null)),
    validated(pod()),
    validated(pod({ containers: null })),
    validated(pod({ containers: [null] })),
    validated(post(DEPLOYMENTS, { metadata: { name: name() }, spec: null })),
    validated(service(null)),
    validated(service({ ports: [null] })),
  ],
  "updates and patches that leave a value of another type": [
    post(MAPS, { metadata: { name: "a" }, data: { x: "1" } }),
    post(DEPLOYMENTS, workload("w")),
    put(`${MAPS}/a`, { metadata: { name: "a" }, data: { x: 1 } }),
    put(`${MAPS}/a`, { metadata: { name: 1 } }),
    put(`${MAPS}/a`, { metadata: null }),
    put(`${MAPS}/a`, { metadata: { name: "a" }, data: null }),
    ...[MERGE, STRATEGIC].flatMap((type) => [
      ...["[]", "null", "5", "{", "", { metadata: null }, { metadata: { name: 5 } }, { metadata: { labels: { a: true } } }].map((body) =>
        patch(`${MAPS}/a`, body, type),
      ),
      ...[{ data: { x: 1 } }, { data: "x" }, { data: [] }, { data: { y: null } }, { kind: "Pod" }].map((body) =>
        patch(`${MAPS}/a`, body, type),
      ),
      patch(`${DEPLOYMENTS}/w`, { spec: { replicas: "x" } }, type),
      patch(`${DEPLOYMENTS}/w`, { spec: { template: { spec: { containers: "x" } } } }, type),
      patch(`${DEPLOYMENTS}/w`, { spec: { replicas: 0, paused: false } }, type),
    ]),
    patch(`${DEPLOYMENTS}/w`, { spec: { template: { spec: { containers: [{ image: "x" }] } } } }, STRATEGIC),
    ...[
      "{}",
      [5],
      [{ op: "odd", path: "/data" }],
      [{ op: "replace", path: "/data", value: 5 }],
      [{ op: "replace", path: "/metadata/name", value: 5 }],
      [{ op: "add", path: "/data", value: null }],
      [{ op: "replace", path: "/data/none/x", value: "1" }],
      [{ op: "remove", path: "/data" }],
      [{ op: "replace", path: "", value: null }],
      [{ op: "replace", path: "", value: 5 }],
      [{ op: "replace", path: "", value: [] }],
      [{ op: "remove", path: "" }],
    ].map((body) => patch(`${MAPS}/a`, body, OPERATIONS)),
  ],
  "applies of another type, and of none": [
    post(MAPS, { metadata: { name: "b" }, data: { x: "1" } }),
    post(DEPLOYMENTS, workload("v")),
    ...["[]", "null", "", {}, { kind: "Pod" }, { apiVersion: "v1", kind: "Pod" }, { apiVersion: 5, kind: "Pod" }].map((body) =>
      patch(`${MAPS}/b?fieldManager=me`, body, APPLY),
    ),
    ...[{ data: { x: 1 } }, { data: { x: true } }, { data: "x" }, { data: ["x"] }, { metadata: { name: 5 } }, { immutable: "x" }].map(
      (part) => patch(`${MAPS}/b?fieldManager=me`, { apiVersion: "v1", kind: "ConfigMap", ...part }, APPLY),
    ),
    patch(`${MAPS}/b?fieldManager=me`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" }, data: null }, APPLY),
    ...[{ replicas: "x" }, { replicas: true }, { template: { spec: { containers: "x" } } }].map((spec) =>
      patch(`${DEPLOYMENTS}/v?fieldManager=me`, { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "v" }, spec }, APPLY),
    ),
  ],
  "a status takes metadata with it, and no spec": [
    post(PODS, { metadata: { name: "p" }, spec: { containers: [{ name: "main", image: "example/main:v1" }] } }),
    patch(`${PODS}/p/status`, { metadata: marked, spec: { nodeName: "n" }, status: { phase: "Running" } }, MERGE),
    patch(`${PODS}/p/status`, { metadata: { labels: { two: "2" } }, status: { message: "m" } }, STRATEGIC),
    patch(
      `${PODS}/p/status`,
      [
        { op: "add", path: "/metadata/labels", value: { three: "3" } },
        { op: "add", path: "/status/reason", value: "r" },
      ],
      OPERATIONS,
    ),
    put(`${PODS}/p/status`, { metadata: { name: "p", labels: { four: "4" }, finalizers: ["x.y/z"] }, status: { phase: "Failed" } }),
    put(`${PODS}/p/status`, { metadata: { name: "p", ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n", uid: "u" }] } }),
    put(`${PODS}/p/status`, { metadata: { name: "p" }, status: null }),
    patch(`${PODS}/p/status`, { status: null }, MERGE),
    patch(`${PODS}/p/status`, { status: { phase: 5 } }, MERGE),
    patch(
      `${PODS}/p/status?fieldManager=me`,
      { apiVersion: "v1", kind: "Pod", metadata: { name: "p", labels: { applied: "1" } }, status: { phase: "Running" } },
      APPLY,
    ),
    patch(`${PODS}/p`, { metadata: { labels: { main: "1" } }, status: { phase: "Pending" } }, MERGE),
    post(DEPLOYMENTS, workload("d")),
    patch(`${DEPLOYMENTS}/d/status`, { metadata: marked, status: { replicas: 1 } }, MERGE),
    put(`${DEPLOYMENTS}/d/status`, { metadata: { name: "d", labels: { q: "1" } }, status: { replicas: 2 } }),
    post(REPLICA_SETS, workload("r")),
    patch(`${REPLICA_SETS}/r/status`, { metadata: marked, status: { replicas: 1 } }, MERGE),
    post(NODES, { metadata: { name: "n" } }),
    patch(`${NODES}/n/status`, { metadata: marked, spec: { unschedulable: true }, status: { phase: "x" } }, MERGE),
    post(NAMESPACES, { metadata: { name: "ns" } }),
    patch(`${NAMESPACES}/ns/status`, { metadata: marked, status: { phase: "Active" } }, MERGE),
    post(SERVICES, { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } }),
    patch(`${SERVICES}/s/status`, { metadata: marked }, MERGE),
    validated(patch(`${SERVICES}/s/status`, { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } }, MERGE)),
  ],
  "scales, evictions and options of another type": [
    put(`${DEPLOYMENTS}/d/scale`, { metadata: { name: "d" }, spec: { replicas: "x" } }),
    patch(`${DEPLOYMENTS}/d/scale`, { spec: { replicas: "x" } }, MERGE),
    put(`${DEPLOYMENTS}/d/scale`, { metadata: { name: 5 }, spec: { replicas: 1 } }),
    put(`${DEPLOYMENTS}/d/scale`, { metadata: { name: "d" }, spec: null }),
    post(`${PODS}/p/eviction`, { metadata: { name: 5 } }),
    post(`${PODS}/p/eviction`, { metadata: { name: "p" }, deleteOptions: "x" }),
    ...["[]", { preconditions: "x" }, { preconditions: { uid: 5 } }, { gracePeriodSeconds: "x" }, { dryRun: "All" }].map((body) =>
      remove(`${MAPS}/a`, body),
    ),
    remove(`${MAPS}/a`, "null"),
  ],
};
