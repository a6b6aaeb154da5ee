// Traffic: what happens in the cluster, one write at a time. A step is one event; the same seed gives the same steps.
import { eventAbout, repeatEvent } from "./cluster/event.mjs";
import { heartbeat } from "./cluster/node.mjs";
import {
  crashPod,
  finishPod,
  newPod,
  reportStatus,
  restartPod,
  runPod,
  schedulePod,
  setReady,
  startPod,
  terminatePod,
} from "./cluster/pod.mjs";
import { replicaSet, reportDeployment, rollDeployment } from "./cluster/workload.mjs";
import { badRequest } from "./status.mjs";

/** @typedef {import("./cluster/workload.mjs").Workload} Workload */
/** @typedef {() => boolean} Action does one write; false when there was nothing to do any more */

const TICK_MS = 20;
/** After a pause (a sleeping machine, a long pause of the process) this much is made up for, not more. */
const MOST_MS_MADE_UP = 1_000;
/** Events of the cluster (the resource) that are kept, at least: as many as pods in a larger one. */
const KEPT_EVENTS = 500;
export const HIGHEST_RATE = 10_000;

/** Keeps the cluster alive. */
export class Traffic {
  /** @param {import("./store.mjs").Store} store @param {import("./cluster/cluster.mjs").Cluster} cluster @param {{ rate: number }} options */
  constructor(store, cluster, { rate }) {
    this.store = store;
    this.cluster = cluster;
    this.random = cluster.random;
    this.rate = 0;
    this.steps = 0;
    /** Steps that are due later, by the step they are due at. @type {Map<number, Action[]>} */
    this.later = new Map();
    /** @type {Action[]} */
    this.due = [];
    /** The keys of the cluster's events by the pod's uid and the reason, oldest first. @type {Map<string, string>} */
    this.eventKeys = new Map();
    this.owed = 0;
    this.last = 0;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
    this.setRate(rate);
  }

  /** @param {unknown} eventsPerSecond */
  setRate(eventsPerSecond) {
    if (typeof eventsPerSecond !== "number" || !(eventsPerSecond >= 0 && eventsPerSecond <= HIGHEST_RATE)) {
      throw badRequest(`eventsPerSecond is a number from 0 to ${HIGHEST_RATE}`);
    }
    this.rate = eventsPerSecond;
  }

  start() {
    this.last = performance.now();
    this.timer = setInterval(() => this.#tick(), TICK_MS);
  }

  stop() {
    clearInterval(this.timer);
  }

  #tick() {
    const now = performance.now();
    this.owed += (Math.min(now - this.last, MOST_MS_MADE_UP) * this.rate) / 1000;
    this.last = now;
    const steps = Math.floor(this.owed);
    this.owed -= steps;
    this.step(steps);
  }

  /** Makes events. An empty cluster has none. @param {number} count */
  step(count) {
    if (this.cluster.target === 0) return;
    for (let left = count; left > 0; left -= 1) {
      this.steps += 1;
      const due = this.later.get(this.steps);
      if (due) {
        this.later.delete(this.steps);
        this.due.push(...due);
      }
      this.#one();
    }
  }

  #one() {
    for (;;) {
      const action = this.due.shift();
      if (!action) break;
      if (action()) return;
    }
    while (!this.#begin()());
  }

  /** @param {number} steps @param {Action} action */
  #after(steps, action) {
    const at = this.steps + Math.max(steps, 1);
    const actions = this.later.get(at);
    if (actions) actions.push(action);
    else this.later.set(at, [action]);
  }

  /** Something new, such that the number of pods stays near the wanted one. @returns {Action} */
  #begin() {
    const { random, cluster } = this;
    const pods = cluster.table("pods").size;
    const surplus = (pods - cluster.target) / Math.max(cluster.target, 50);
    const what = random.weighted([
      ["status", 52],
      ["heartbeat", 10],
      ["event", 12],
      ["crash", 6],
      ["replace", 8],
      ["job", 3],
      ["rollout", 0.3],
      ["grow", surplus < 0.01 ? 4 : 0.5],
      ["shrink", surplus > -0.01 ? 4 : 0.5],
    ]);
    switch (what) {
      case "heartbeat":
        return () => this.#heartbeat();
      case "event":
        return () => this.#event();
      case "crash":
        return () => this.#crash();
      case "replace":
        return () => this.#replace();
      case "job":
        return () => this.#job();
      case "rollout":
        return () => this.#rollout();
      case "grow":
        return () => {
          const workload = this.#deployed();
          return workload !== undefined && this.#create(workload);
        };
      case "shrink":
        return () => this.#terminate(this.#somePod());
      default:
        return () => this.#status();
    }
  }

  /** A key of a pod, evenly. */
  #somePod() {
    return this.random.pick(this.cluster.table("pods").keys);
  }

  /** @returns {Workload | undefined} */
  #deployed() {
    return this.random.pick(this.cluster.workloads.filter((workload) => workload.kind === "Deployment"));
  }

  /**
   * Reads, changes and writes a pod.
   * @param {string} key @param {(pod: any) => boolean | void} change false: leave it
   */
  #update(key, change) {
    const table = this.cluster.table("pods");
    const current = table.get(key);
    if (!current) return false;
    const pod = current.parse();
    if (change(pod) === false) return false;
    reportStatus(pod, this.cluster.now());
    table.put(pod);
    return true;
  }

  #status() {
    const { random, cluster } = this;
    const key = this.#somePod();
    return this.#update(key, (pod) => {
      if (pod.status.phase !== "Running" || pod.metadata.deletionTimestamp || pod.status.containerStatuses[0].state.waiting) return false;
      const ready = pod.status.containerStatuses.every((/** @type {any} */ status) => status.ready);
      // A probe that fails once in a while, and the pod is ready again at its next report.
      if (!ready || random.chance(0.2)) {
        setReady(pod, !ready, cluster.now());
        if (ready) this.#after(1, () => this.#record(key, "Unhealthy"));
      } else pod.metadata.annotations["example.com/last-report"] = `${new Date(cluster.now()).toISOString()} #${this.steps}`;
      return true;
    });
  }

  #heartbeat() {
    const { cluster } = this;
    const table = cluster.table("nodes");
    const node = table.get(`/${cluster.randomNode().name}`)?.parse();
    if (!node) return false;
    heartbeat(node, cluster.now());
    table.put(node);
    return true;
  }

  #event() {
    return this.#record(this.#somePod(), this.random.pick(["Unhealthy", "BackOff"]));
  }

  /** An event about a pod. What happened to it before is counted once more. @param {string} key @param {string} reason */
  #record(key, reason) {
    const { cluster, eventKeys } = this;
    const pod = cluster.table("pods").get(key);
    if (!pod) return false;
    const table = cluster.table("events");
    const what = `${pod.uid} ${reason}`;
    const event = table.get(eventKeys.get(what) ?? "")?.parse();
    if (event) {
      repeatEvent(event, cluster.now());
      table.put(event);
      return true;
    }
    const [oldest] = eventKeys;
    if (oldest && eventKeys.size >= Math.max(KEPT_EVENTS, cluster.target)) {
      eventKeys.delete(oldest[0]);
      if (table.remove(oldest[1])) return true;
    }
    eventKeys.set(what, table.put(eventAbout(pod, reason, this.random, cluster.now())).key);
    return true;
  }

  #crash() {
    const { random, cluster } = this;
    const key = this.#somePod();
    const crashed = this.#update(key, (pod) => {
      if (pod.status.phase !== "Running" || pod.metadata.deletionTimestamp || pod.status.containerStatuses[0].state.waiting) return false;
      crashPod(pod, random, cluster.now());
      return true;
    });
    if (crashed) {
      this.#after(random.int(2, 15), () => this.#record(key, "BackOff"));
      this.#after(random.int(20, 400), () =>
        this.#update(key, (pod) => {
          if (pod.metadata.deletionTimestamp || !pod.status.containerStatuses?.[0].state.waiting) return false;
          restartPod(pod, random, cluster.now());
          return true;
        }),
      );
    }
    return crashed;
  }

  /** @param {Workload} workload */
  #create(workload) {
    const { random, cluster } = this;
    const pod = newPod(workload, random, cluster.now());
    const { key } = cluster.table("pods").put(pod);
    this.#bringUp(key, workload.kind === "Job");
    return true;
  }

  /** The life of a new pod, a write at a time. @param {string} key @param {boolean} job */
  #bringUp(key, job) {
    const { random, cluster } = this;
    const node = cluster.randomNode();
    /** Each stage, and the event that tells of it. @type {[number, (pod: any) => boolean | void, string?][]} */
    const life = [
      [random.int(1, 6), (pod) => schedulePod(pod, node.name, cluster.now()), "Scheduled"],
      [random.int(1, 10), (pod) => startPod(pod, node.hostIP, cluster.now()), "Pulled"],
      [random.int(10, 80), (pod) => runPod(pod, cluster.nextPodIP(), random, cluster.now()), "Started"],
      [random.int(5, 60), (pod) => setReady(pod, true, cluster.now())],
    ];
    if (job) life.push([random.int(50, 400), (pod) => finishPod(pod, random.chance(0.85), cluster.now())]);
    let wait = 0;
    for (const [steps, change, reason] of life) {
      wait += steps;
      this.#after(wait, () => this.#update(key, (pod) => (pod.metadata.deletionTimestamp ? false : change(pod))));
      if (reason) this.#after(wait, () => this.#record(key, reason));
    }
    if (job) this.#after(wait + random.int(200, 1_500), () => this.#terminate(key));
  }

  /** @param {string} key */
  #terminate(key) {
    const { random, cluster } = this;
    const terminated = this.#update(key, (pod) => {
      if (pod.metadata.deletionTimestamp) return false;
      terminatePod(pod, cluster.now());
      return true;
    });
    if (terminated) {
      this.#after(1, () => this.#record(key, "Killing"));
      this.#after(random.int(3, 60), () => cluster.table("pods").remove(key) !== undefined);
    }
    return terminated;
  }

  /** A new pod instead of an old one. */
  #replace() {
    const key = this.#somePod();
    const pod = this.cluster.table("pods").get(key);
    const workload = this.cluster.workloads.find(
      (candidate) =>
        candidate.kind === "Deployment" &&
        candidate.namespace === pod?.namespace &&
        candidate.name === pod.labels["app.kubernetes.io/instance"],
    );
    if (!pod || !workload) return false;
    this.#after(this.random.int(60, 160), () => this.#terminate(key));
    return this.#create(workload);
  }

  #job() {
    const { cluster } = this;
    const jobs = cluster.workloads.filter((workload) => workload.kind === "Job");
    // Finished jobs leave the memory, so that a server that runs for weeks does not grow.
    if (jobs.length > 200) cluster.workloads.splice(cluster.workloads.indexOf(jobs[0]), 1);
    return this.#create(cluster.addWorkload(this.random.pick(["batch", "analytics", "ml-serving"]), "Job"));
  }

  /** A new version of a deployment: its pods are replaced one after the other. */
  #rollout() {
    const { random, cluster } = this;
    const workload = this.#deployed();
    if (!workload) return false;
    const deployments = cluster.table("deployments");
    const object = deployments.get(`/${workload.namespace}/${workload.name}`)?.parse();
    if (!object) return false;
    const oldSet = `/${workload.namespace}/${workload.name}-${workload.hash}`;
    const pods = cluster.table("pods").snapshot(this.store.revision);
    const old = [...pods.range(`/${workload.namespace}/${workload.name}-${workload.hash}-`)].map((pod) => pod.key);
    workload.revision += 1;
    workload.hash = random.suffix(10);
    workload.ownerUid = random.uuid();
    workload.version = `v${random.int(1, 4)}.${random.int(0, 20)}.${random.int(0, 9)}`;
    rollDeployment(object, workload);
    deployments.put(object);
    this.#after(1, () => {
      cluster.table("replicasets").put(replicaSet(workload, object.metadata.uid, cluster.now()));
      return true;
    });
    let wait = 1;
    old.forEach((key, index) => {
      wait += random.int(4, 20);
      this.#after(wait, () => this.#create(workload));
      this.#after(wait + random.int(40, 120), () => this.#terminate(key));
      this.#after(wait + 130, () => {
        const current = deployments.get(`/${workload.namespace}/${workload.name}`)?.parse();
        if (!current) return false;
        reportDeployment(current, workload, index + 1);
        deployments.put(current);
        return true;
      });
    });
    this.#after(wait + 200, () => cluster.table("replicasets").remove(oldSet) !== undefined);
    return true;
  }
}
