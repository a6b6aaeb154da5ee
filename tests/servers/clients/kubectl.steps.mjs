/**
 * What kubectl is asked, step by step, on both servers; and what may differ in their answers, with the reason.
 * @module
 */

/**
 * @typedef {object} Step
 * @property {string} name unique
 * @property {string[]} args
 * @property {unknown} [input] what stands in the file `-`
 * @property {true} [fails] whether it is refused
 * @property {(text: string) => string} [pick] the part of the answer that is compared
 * @property {string[]} [during] the names of other steps, run while this one goes on; it ends when `lines` lines have come
 * @property {number} [lines]
 */

const deployment = (
  /** @type {Record<string, any>} */ { replicas = 2, image = "example/web:v1", env = [{ name: "A", value: "1" }], ...labels } = {},
) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", labels: { app: "web", ...labels } },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [
          { name: "main", image, env, ports: [{ containerPort: 80 }] },
          { name: "side", image: "example/side:v1" },
        ],
      },
    },
  },
});
const pod = (/** @type {string} */ name, more = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: "job", ...more } },
  spec: { containers: [{ name: "main", image: "example/job:v1", env: [{ name: "A", value: "1" }] }] },
});
const map = (/** @type {Record<string, string>} */ data) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" }, data });
const event = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "one.1" },
  involvedObject: { kind: "Pod", namespace: "team", name: "one", apiVersion: "v1" },
  reason: "Pulled",
  message: "Container image already present on machine",
  type: "Normal",
  source: { component: "kubelet" },
  firstTimestamp: "2026-01-01T00:00:00Z",
  lastTimestamp: "2026-01-01T00:00:00Z",
  count: 3,
};
const node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "node-1", labels: { "kubernetes.io/hostname": "node-1" } },
  spec: { podCIDR: "10.244.1.0/24", podCIDRs: ["10.244.1.0/24"] },
};

/** Only the lines of what both servers have: the real one has more resources. @param {RegExp} known */
const linesOf = (known) => (/** @type {string} */ text) =>
  text
    .split("\n")
    .filter((line) => known.test(line))
    .map((line) => line.replace(/ +/g, " "))
    .join("\n");

/** Owners are in the order of their seconds. @param {string} text */
const sortedWords = (text) => text.split(" ").sort().join(" ");

const RESOURCES = /^(NAME|configmaps|events .* v1 |namespaces|nodes|pods |services |deployments|replicasets|selfsubject)/;

/** @type {Step[]} */
export const STEPS = [
  // What there is.
  { name: "api-versions", args: ["api-versions"], pick: linesOf(/^(v1|apps\/v1|authorization.k8s.io\/v1|authentication.k8s.io\/v1)$/) },
  { name: "api-resources", args: ["api-resources"], pick: linesOf(RESOURCES) },
  { name: "api-resources by name", args: ["api-resources", "-o", "name", "--api-group=apps"], pick: linesOf(/^(deployments|replicasets)/) },
  { name: "nothing there", args: ["get", "pods"] },
  { name: "no such object", fails: true, args: ["get", "pod", "nobody"] },
  { name: "no such resource", fails: true, args: ["get", "gadgets"] },
  // Made by commands.
  { name: "create a namespace", args: ["create", "namespace", "team"] },
  { name: "create it again", fails: true, args: ["create", "namespace", "team"] },
  { name: "create a map", args: ["-n", "team", "create", "configmap", "made", "--from-literal=a=1", "--from-literal=b=2"] },
  { name: "create a deployment", args: ["-n", "team", "create", "deployment", "made", "--image=example/made:v1"] },
  { name: "expose it", args: ["-n", "team", "expose", "deployment", "made", "--port=80", "--target-port=8080"] },
  { name: "its service", args: ["-n", "team", "get", "service", "made", "-o", "jsonpath={.spec.type} {.spec.ports} {.spec.selector}"] },
  { name: "run a pod", args: ["-n", "team", "run", "ran", "--image=example/ran:v1", "--labels=app=ran"] },
  // Made of files.
  {
    name: "create pods",
    args: ["-n", "team", "create", "-f", "-"],
    input: { apiVersion: "v1", kind: "List", items: [pod("one"), pod("two", { tier: "x" })] },
  },
  { name: "create them again", fails: true, args: ["-n", "team", "create", "-f", "-"], input: pod("one") },
  { name: "create a node", args: ["create", "-f", "-"], input: node },
  { name: "create an event", args: ["-n", "team", "create", "-f", "-"], input: event },
  {
    name: "a field that there is not",
    fails: true,
    args: ["-n", "team", "create", "-f", "-"],
    input: { ...pod("odd"), spec: { containers: [{ name: "main", imag: "x", image: "x" }] } },
  },
  { name: "an object of no namespace", fails: true, args: ["-n", "nowhere", "create", "-f", "-"], input: pod("one") },
  { name: "dry run", args: ["-n", "team", "create", "-f", "-", "--dry-run=server"], input: pod("dry") },
  { name: "nothing of it", fails: true, args: ["-n", "team", "get", "pod", "dry"] },
  // Read.
  { name: "get", args: ["-n", "team", "get", "pods"] },
  { name: "get wide", args: ["-n", "team", "get", "pods", "-o", "wide"] },
  { name: "get names", args: ["-n", "team", "get", "pods", "-o", "name"] },
  { name: "get JSON", args: ["-n", "team", "get", "pod", "one", "-o", "json"] },
  { name: "get YAML of a map", args: ["-n", "team", "get", "configmap", "made", "-o", "yaml"] },
  { name: "get by label", args: ["-n", "team", "get", "po", "-l", "app in (job),!tier"] },
  { name: "get by field", args: ["-n", "team", "get", "po", "--field-selector", "metadata.name=two"] },
  { name: "a field that nobody selects by", fails: true, args: ["-n", "team", "get", "po", "--field-selector", "spec.odd=1"] },
  { name: "get with labels", args: ["-n", "team", "get", "po", "--show-labels", "--sort-by", "{.metadata.name}"] },
  { name: "get in pages", args: ["-n", "team", "get", "po", "--chunk-size=1", "-o", "name"] },
  { name: "get several kinds", args: ["-n", "team", "get", "deploy,svc"] },
  { name: "get all", args: ["-n", "team", "get", "all", "--ignore-not-found"] },
  { name: "get everywhere", args: ["get", "deployments", "-A"] },
  { name: "get own columns", args: ["-n", "team", "get", "po", "-o", "custom-columns=A:.metadata.name,B:.spec.restartPolicy"] },
  { name: "get nodes", args: ["get", "nodes", "-o", "wide"] },
  { name: "get namespaces", args: ["get", "ns"] },
  { name: "get events", args: ["-n", "team", "get", "events"] },
  { name: "get raw", args: ["get", "--raw", "/api/v1/namespaces/team/configmaps/made?pretty=false"] },
  // Applied by the client.
  { name: "apply", args: ["-n", "team", "apply", "-f", "-"], input: deployment() },
  { name: "apply the same", args: ["-n", "team", "apply", "-f", "-"], input: deployment() },
  {
    name: "apply another",
    args: ["-n", "team", "apply", "-f", "-"],
    input: deployment({ image: "example/web:v2", env: [{ name: "B", value: "2" }], tier: "front" }),
  },
  {
    name: "what came of it",
    args: ["-n", "team", "get", "deploy", "web", "-o", "jsonpath={.metadata.labels} {.spec}"],
  },
  { name: "apply a map", args: ["-n", "team", "apply", "-f", "-"], input: map({ a: "1", b: "2" }) },
  { name: "apply less of it", args: ["-n", "team", "apply", "-f", "-"], input: map({ a: "3" }) },
  { name: "the map", args: ["-n", "team", "get", "configmap", "applied", "-o", "jsonpath={.data}"] },
  { name: "last applied", args: ["-n", "team", "apply", "view-last-applied", "configmap", "applied", "-o", "json"] },
  // Applied by the server.
  {
    name: "apply there",
    args: ["-n", "team", "apply", "--server-side", "-f", "-"],
    input: { ...map({ own: "1", other: "1" }), metadata: { name: "owned" } },
  },
  {
    name: "another there",
    fails: true,
    args: ["-n", "team", "apply", "--server-side", "--field-manager=rival", "-f", "-"],
    input: { ...map({ other: "2" }), metadata: { name: "owned" } },
  },
  {
    name: "another there by force",
    args: ["-n", "team", "apply", "--server-side", "--force-conflicts", "--field-manager=rival", "-f", "-"],
    input: { ...map({ other: "2" }), metadata: { name: "owned" } },
  },
  {
    name: "give it up",
    args: ["-n", "team", "apply", "--server-side", "-f", "-"],
    input: { ...map({ fresh: "1" }), metadata: { name: "owned" } },
  },
  {
    name: "what is owned",
    args: ["-n", "team", "get", "configmap", "owned", "-o", "jsonpath={.data} {.metadata.managedFields[*].manager}"],
    pick: sortedWords,
  },
  {
    name: "apply a deployment there",
    args: ["-n", "team", "apply", "--server-side", "-f", "-"],
    input: { ...deployment(), metadata: { name: "there" } },
  },
  { name: "change it by hand", args: ["-n", "team", "patch", "deploy", "there", "--type=merge", "-p", '{"spec":{"replicas":4}}'] },
  {
    name: "apply it there again",
    fails: true,
    args: ["-n", "team", "apply", "--server-side", "-f", "-"],
    input: { ...deployment(), metadata: { name: "there" } },
  },
  // Changed.
  { name: "label", args: ["-n", "team", "label", "pod", "one", "tier=y"] },
  { name: "label what is labelled", fails: true, args: ["-n", "team", "label", "pod", "one", "tier=z"] },
  { name: "label it over", args: ["-n", "team", "label", "pod", "one", "tier=z", "--overwrite"] },
  { name: "annotate", args: ["-n", "team", "annotate", "pod", "one", "note=here"] },
  {
    name: "patch",
    args: [
      "-n",
      "team",
      "patch",
      "deploy",
      "web",
      "-p",
      '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example/side:v2"}]}}}}',
    ],
  },
  {
    name: "patch in operations",
    args: ["-n", "team", "patch", "deploy", "web", "--type=json", "-p", '[{"op":"replace","path":"/spec/replicas","value":5}]'],
  },
  {
    name: "patch a list away",
    args: [
      "-n",
      "team",
      "patch",
      "deploy",
      "web",
      "-p",
      '{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}',
    ],
  },
  {
    name: "patch with a mistake",
    fails: true,
    args: ["-n", "team", "patch", "deploy", "web", "--type=json", "-p", '[{"op":"remove","path":"/spec/nothing"}]'],
  },
  { name: "set an image", args: ["-n", "team", "set", "image", "deploy/web", "main=example/web:v3"] },
  { name: "what came of patches", args: ["-n", "team", "get", "deploy", "web", "-o", "jsonpath={.spec}"] },
  { name: "scale", args: ["-n", "team", "scale", "deploy/web", "--replicas=3"] },
  { name: "scale from another size", fails: true, args: ["-n", "team", "scale", "deploy/web", "--current-replicas=9", "--replicas=1"] },
  { name: "pause", args: ["-n", "team", "rollout", "pause", "deploy/web"] },
  { name: "cordon", args: ["cordon", "node-1"] },
  { name: "the node", args: ["get", "node", "node-1"] },
  { name: "replace", args: ["-n", "team", "replace", "-f", "-"], input: { ...map({ replaced: "1" }), metadata: { name: "made" } } },
  {
    name: "replace what is not there",
    fails: true,
    args: ["-n", "team", "replace", "-f", "-"],
    input: { ...map({}), metadata: { name: "absent" } },
  },
  // Described, and what one may.
  { name: "describe a pod", args: ["-n", "team", "describe", "pod", "one"] },
  { name: "describe a deployment", args: ["-n", "team", "describe", "deploy", "web"] },
  { name: "describe a map", args: ["-n", "team", "describe", "configmap", "made"] },
  { name: "describe a namespace", args: ["describe", "namespace", "team"] },
  { name: "describe a service", args: ["-n", "team", "describe", "service", "made"] },
  { name: "may I", args: ["auth", "can-i", "list", "pods"] },
  { name: "may I there", args: ["-n", "team", "auth", "can-i", "create", "deployments.apps"] },
  { name: "explain", args: ["explain", "pods.spec.containers"], pick: linesOf(/^\s*(KIND|VERSION|FIELD|RESOURCE|GROUP)/) },
  // Watched.
  {
    name: "watch",
    args: ["-n", "team", "get", "pods", "-l", "app=job", "-w", "-o", 'jsonpath={.metadata.name} {.metadata.labels}{"\\n"}'],
    lines: 5,
    during: ["create while watched", "label while watched", "delete while watched"],
  },
  // Deleted.
  { name: "delete a map", args: ["-n", "team", "delete", "configmap", "made"] },
  { name: "delete it again", fails: true, args: ["-n", "team", "delete", "configmap", "made"] },
  { name: "delete it again, quietly", args: ["-n", "team", "delete", "configmap", "made", "--ignore-not-found"] },
  { name: "delete by label", args: ["-n", "team", "delete", "pods", "-l", "app=job", "--grace-period=0", "--force"] },
  { name: "delete of a file", args: ["-n", "team", "delete", "-f", "-"], input: deployment() },
  { name: "delete all", args: ["-n", "team", "delete", "deployments", "--all"] },
  { name: "what is left", args: ["-n", "team", "get", "po,deploy,cm"], pick: linesOf(/^(?!configmap\/kube-root)/) },
];

/** Steps that are run during others. @type {Step[]} */
export const MEANWHILE = [
  { name: "create while watched", args: ["-n", "team", "create", "-f", "-"], input: pod("three") },
  { name: "label while watched", args: ["-n", "team", "label", "pod", "three", "seen=yes"] },
  { name: "delete while watched", args: ["-n", "team", "delete", "pod", "three", "--grace-period=0", "--force"] },
];

/** What differs: the reason, by step. What does not differ any more must go from here. */
const SAME_FOR_BOTH = {
  "describe a namespace": "it asks for quotas and limit ranges, of which the embedded server has none",
};

/** By client. @type {Record<string, Record<string, string>>} */
export const DIFFERENCES = {
  newest: SAME_FOR_BOTH,
  debian: {
    ...SAME_FOR_BOTH,
    "describe a service": "it asks for endpoints, of which the real one says that they are old; the embedded server has none",
  },
};
