// The synthetic cluster: namespaces of uneven size, nodes, workloads and their pods, all there before the first client comes.
import { timestamp } from "../time.mjs";
import { findResourceByName } from "../resources.mjs";
import { NAMESPACES } from "./names.mjs";
import { hostIP, newNode } from "./node.mjs";
import { crashPod, finishPod, newPod, reportStatus, runPod, schedulePod, setReady, startPod } from "./pod.mjs";
import { Random } from "./random.mjs";
import { configMap, deployment, newWorkload, replicaSet, service } from "./workload.mjs";

/** @typedef {import("./workload.mjs").Workload} Workload */

const PODS_A_NODE = 80;
/** Pods of a generated cluster are up to this old. */
const OLDEST_MS = 9 * 24 * 3_600_000;

/** What the generator knows of the cluster beside the store. */
export class Cluster {
  /** @param {import("../store.mjs").Store} store @param {Random} random @param {() => number} now @param {number} pods */
  constructor(store, random, now, pods) {
    this.store = store;
    this.random = random;
    this.now = now;
    /** Wanted number of pods. */
    this.target = pods;
    this.nodes = pods === 0 ? 0 : Math.max(3, Math.ceil(pods / PODS_A_NODE));
    /** @type {Workload[]} */
    this.workloads = [];
    this.addresses = 0;
    this.nextIndex = 1;
  }

  /** @param {string} resource */
  table(resource) {
    return this.store.table(/** @type {import("../resources.mjs").ResourceDefinition} */ (findResourceByName(resource)));
  }

  randomNode() {
    const index = this.random.int(1, this.nodes);
    return { name: `node-${String(index).padStart(3, "0")}`, hostIP: hostIP(index) };
  }

  nextPodIP() {
    this.addresses += 1;
    return `10.${244 + ((this.addresses >> 16) & 7)}.${(this.addresses >> 8) & 255}.${this.addresses & 255}`;
  }

  /** @param {string} namespace @param {Workload["kind"]} [kind] */
  addWorkload(namespace, kind) {
    const workload = newWorkload(namespace, this.nextIndex, this.random, kind);
    this.nextIndex += 1;
    this.workloads.push(workload);
    return workload;
  }
}

/**
 * Fills an empty store and forgets how that happened, as after a start of the server.
 * @param {import("../store.mjs").Store} store
 * @param {{ pods: number, seed: number, now: () => number }} options
 */
export function populate(store, { pods, seed, now }) {
  const random = new Random(seed);
  const cluster = new Cluster(store, random, now, pods);
  const born = () => now() - random.int(0, OLDEST_MS);
  for (const [name] of pods === 0 ? [["default"]] : NAMESPACES) addNamespace(cluster, /** @type {string} */ (name), now() - OLDEST_MS);
  for (let index = 1; index <= cluster.nodes; index += 1) cluster.table("nodes").put(newNode(index, random, now() - OLDEST_MS));
  let left = pods;
  while (left > 0) {
    const job = random.chance(0.05);
    const workload = cluster.addWorkload(random.weighted(NAMESPACES), job ? "Job" : "Deployment");
    const birth = born();
    workload.replicas = Math.min(
      left,
      job
        ? 1
        : random.weighted([
            [1, 3],
            [2, 6],
            [3, 6],
            [random.int(4, 12), 5],
            [random.int(13, 40), 1],
          ]),
    );
    left -= workload.replicas;
    if (!job) addDeployment(cluster, workload, birth);
    for (let replica = 0; replica < workload.replicas; replica += 1) cluster.table("pods").put(settledPod(cluster, workload, birth));
  }
  store.compact();
  return cluster;
}

/** @param {Cluster} cluster @param {string} name @param {number} birth */
function addNamespace(cluster, name, birth) {
  cluster.table("namespaces").put({
    metadata: { name, uid: cluster.random.uuid(), creationTimestamp: timestamp(birth), labels: { "kubernetes.io/metadata.name": name } },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  });
}

/** @param {Cluster} cluster @param {Workload} workload @param {number} birth */
function addDeployment(cluster, workload, birth) {
  const { random } = cluster;
  cluster.table("configmaps").put(configMap(workload, random, birth));
  cluster.table("services").put(service(workload, cluster.nextIndex, random, birth));
  const object = deployment(workload, random, birth);
  cluster.table("deployments").put(object);
  cluster.table("replicasets").put(replicaSet(workload, object.metadata.uid, birth));
}

/** A pod that has been there for a while. @param {Cluster} cluster @param {Workload} workload @param {number} birth */
function settledPod(cluster, workload, birth) {
  const { random } = cluster;
  const pod = newPod(workload, random, birth);
  age(cluster, workload, pod, birth);
  reportStatus(pod, birth);
  return pod;
}

/** What became of it. @param {Cluster} cluster @param {Workload} workload @param {any} pod @param {number} birth */
function age(cluster, workload, pod, birth) {
  const { random } = cluster;
  const node = cluster.randomNode();
  if (random.chance(0.01)) return;
  schedulePod(pod, node.name, birth + 1_000);
  startPod(pod, node.hostIP, birth + 2_000);
  if (random.chance(0.01)) return;
  runPod(pod, cluster.nextPodIP(), random, birth + 6_000);
  setReady(pod, true, birth + 12_000);
  if (workload.kind === "Job") finishPod(pod, random.chance(0.85), birth + 90_000);
  else if (random.chance(0.12)) {
    pod.status.containerStatuses[0].restartCount = random.int(0, 6);
    crashPod(pod, random, birth + 3_600_000);
    if (random.chance(0.85)) {
      pod.status.containerStatuses[0].state = { running: { startedAt: timestamp(birth + 3_700_000) } };
      setReady(pod, true, birth + 3_700_000);
    }
  }
}
