// Workloads: deployments with their replica sets and services, and jobs.
import { timestamp } from "../time.mjs";
import { managedBy } from "../managed-fields.mjs";
import { APPS, TIERS, TRACKS } from "./names.mjs";

/**
 * What the generator remembers of a workload; the objects themselves are in the store.
 * @typedef {object} Workload
 * @property {"Deployment" | "Job"} kind
 * @property {string} namespace
 * @property {string} name
 * @property {string} app
 * @property {string} tier
 * @property {string} track
 * @property {string} version of the image
 * @property {string} hash of the pod template
 * @property {string} ownerUid of the replica set or the job
 * @property {string} tokenVolume
 * @property {string[]} containers
 * @property {boolean} init whether pods have an init container
 * @property {number} variables plain environment variables of the main container
 * @property {number} replicas wanted
 * @property {number} revision of the deployment
 */

/** @param {string} namespace @param {number} index @param {import("./random.mjs").Random} random @param {Workload["kind"]} [kind] @returns {Workload} */
export function newWorkload(namespace, index, random, kind = "Deployment") {
  const app = random.pick(APPS);
  const sidecar = random.chance(0.6);
  return {
    kind,
    namespace,
    name: kind === "Job" ? `${app}-${29_000_000 + index}` : `${app}-${index}`,
    app,
    tier: random.pick(TIERS),
    track: random.weighted(TRACKS),
    version: `v${random.int(1, 4)}.${random.int(0, 20)}.${random.int(0, 9)}`,
    hash: random.suffix(10),
    ownerUid: random.uuid(),
    tokenVolume: `kube-api-access-${random.suffix(5)}`,
    containers: sidecar ? [app, "istio-proxy"] : [app],
    init: random.chance(0.5),
    variables: sidecar ? random.int(2, 6) : random.int(10, 13),
    replicas: 1,
    revision: 1,
  };
}

/** @param {Workload} workload */
function labelsOf(workload) {
  return {
    app: workload.app,
    "app.kubernetes.io/instance": workload.name,
    "app.kubernetes.io/managed-by": "Helm",
    tier: workload.tier,
    track: workload.track,
  };
}

/** @param {Workload} workload @param {Record<string, string>} [labels] further ones */
function template(workload, labels) {
  return {
    metadata: { labels: { ...labelsOf(workload), "app.kubernetes.io/version": workload.version, ...labels } },
    spec: {
      containers: workload.containers.map((name) => ({
        name,
        image: `registry.example.com/${workload.namespace}/${name}:${workload.version}`,
        resources: {},
      })),
      restartPolicy: "Always",
      serviceAccountName: workload.app,
    },
  };
}

/** @param {Workload} workload @param {number} ready */
function deploymentStatus(workload, ready) {
  return {
    observedGeneration: workload.revision,
    replicas: workload.replicas,
    updatedReplicas: ready,
    readyReplicas: ready,
    availableReplicas: ready,
    unavailableReplicas: workload.replicas - ready,
  };
}

/** @param {Workload} workload @param {import("./random.mjs").Random} random @param {number} now */
export function deployment(workload, random, now) {
  const labels = labelsOf(workload);
  const annotations = { "deployment.kubernetes.io/revision": String(workload.revision) };
  const spec = {
    replicas: workload.replicas,
    selector: { matchLabels: { "app.kubernetes.io/instance": workload.name } },
    template: template(workload),
    strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  };
  const time = timestamp(now);
  return {
    metadata: {
      name: workload.name,
      namespace: workload.namespace,
      uid: random.uuid(),
      generation: workload.revision,
      creationTimestamp: time,
      labels,
      annotations,
      managedFields: [managedBy({ manager: "helm", apiVersion: "apps/v1", time }, { metadata: { annotations, labels }, spec })],
    },
    spec,
    status: deploymentStatus(workload, workload.replicas),
  };
}

/** A new template for a deployment: its object follows the workload. @param {any} object @param {Workload} workload */
export function rollDeployment(object, workload) {
  object.metadata.annotations["deployment.kubernetes.io/revision"] = String(workload.revision);
  object.metadata.generation = workload.revision;
  object.spec.replicas = workload.replicas;
  object.spec.template = template(workload);
  object.status = deploymentStatus(workload, 0);
}

/** @param {any} object @param {Workload} workload @param {number} ready */
export function reportDeployment(object, workload, ready) {
  object.status = deploymentStatus(workload, Math.min(ready, workload.replicas));
}

/** @param {Workload} workload @param {string} deploymentUid @param {number} now */
export function replicaSet(workload, deploymentUid, now) {
  const labels = { ...labelsOf(workload), "pod-template-hash": workload.hash };
  const time = timestamp(now);
  const ownerReferences = [
    { apiVersion: "apps/v1", kind: "Deployment", name: workload.name, uid: deploymentUid, controller: true, blockOwnerDeletion: true },
  ];
  const spec = {
    replicas: workload.replicas,
    selector: { matchLabels: { "app.kubernetes.io/instance": workload.name, "pod-template-hash": workload.hash } },
    template: template(workload, { "pod-template-hash": workload.hash }),
  };
  return {
    metadata: {
      name: `${workload.name}-${workload.hash}`,
      namespace: workload.namespace,
      uid: workload.ownerUid,
      generation: 1,
      creationTimestamp: time,
      labels,
      ownerReferences,
      managedFields: [
        managedBy({ manager: "kube-controller-manager", apiVersion: "apps/v1", time }, { metadata: { labels, ownerReferences }, spec }),
      ],
    },
    spec,
    status: {
      replicas: workload.replicas,
      fullyLabeledReplicas: workload.replicas,
      readyReplicas: workload.replicas,
      availableReplicas: workload.replicas,
      observedGeneration: 1,
    },
  };
}

/** @param {Workload} workload @param {number} index @param {import("./random.mjs").Random} random @param {number} now */
export function service(workload, index, random, now) {
  const clusterIP = `10.96.${(index >> 8) & 255}.${index & 255}`;
  return {
    metadata: {
      name: workload.name,
      namespace: workload.namespace,
      uid: random.uuid(),
      creationTimestamp: timestamp(now),
      labels: labelsOf(workload),
    },
    spec: {
      ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: "http" }],
      selector: { "app.kubernetes.io/instance": workload.name },
      clusterIP,
      clusterIPs: [clusterIP],
      type: "ClusterIP",
      sessionAffinity: "None",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      internalTrafficPolicy: "Cluster",
    },
    status: { loadBalancer: {} },
  };
}

/** @param {Workload} workload @param {import("./random.mjs").Random} random @param {number} now */
export function configMap(workload, random, now) {
  return {
    metadata: {
      name: workload.name,
      namespace: workload.namespace,
      uid: random.uuid(),
      creationTimestamp: timestamp(now),
      labels: labelsOf(workload),
    },
    data: { "config.yaml": `app: ${workload.app}\nlog:\n  level: info\n  format: json\nlimits:\n  rps: ${random.int(50, 5000)}\n` },
  };
}
