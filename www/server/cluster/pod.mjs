// Pods: how one is born, and what happens to it until it is gone.
import { SCHEDULING } from "../defaults.mjs";
import { timestamp } from "../time.mjs";
import { managedBy } from "../managed-fields.mjs";
import { REGISTRY } from "./names.mjs";

/** @typedef {import("./random.mjs").Random} Random */
/** @typedef {import("./workload.mjs").Workload} Workload */

const ENVIRONMENT = [
  ["GOMEMLIMIT", "750MiB"],
  ["HTTP_READ_TIMEOUT", "30s"],
  ["JAVA_TOOL_OPTIONS", "-XX:MaxRAMPercentage=75.0 -XX:+ExitOnOutOfMemoryError -Dfile.encoding=UTF-8"],
  ["LOG_FORMAT", "json"],
  ["LOG_LEVEL", "info"],
  ["NODE_ENV", "production"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://otel-collector.monitoring.svc.cluster.local:4317"],
  ["OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=production,service.namespace=shop"],
  ["PYTHONUNBUFFERED", "1"],
  ["REDIS_URL", "redis://redis-master.cache.svc.cluster.local:6379/0?db=0&pool=<32>"],
  ["DATABASE_POOL_SIZE", "20"],
  ["FEATURE_FLAGS", "new-checkout,fast-search,äöü-locale"],
  ["REGION", "eu-central-1"],
];

const FIELD_ENVIRONMENT = [
  ["POD_NAME", "metadata.name"],
  ["POD_NAMESPACE", "metadata.namespace"],
  ["NODE_NAME", "spec.nodeName"],
  ["POD_IP", "status.podIP"],
];

const LIVENESS = {
  httpGet: { path: "/livez", port: "http", scheme: "HTTP" },
  initialDelaySeconds: 10,
  timeoutSeconds: 2,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
};

/** @param {Workload} workload @param {string} name @param {Random} random @param {number} size rough number of plain variables */
function container(workload, name, random, size) {
  const isMain = name === workload.app;
  const image = isMain ? `${REGISTRY}/${workload.namespace}/${workload.app}:${workload.version}` : `${REGISTRY}/platform/${name}:1.27.3`;
  const env = [
    ...FIELD_ENVIRONMENT.slice(0, isMain ? 4 : 2).map(([variable, fieldPath]) => ({
      name: variable,
      valueFrom: { fieldRef: { apiVersion: "v1", fieldPath } },
    })),
    { name: "CPU_LIMIT", valueFrom: { resourceFieldRef: { containerName: name, resource: "limits.cpu", divisor: "0" } } },
    { name: "MEMORY_LIMIT", valueFrom: { resourceFieldRef: { containerName: name, resource: "limits.memory", divisor: "0" } } },
    ...ENVIRONMENT.slice(0, size).map(([variable, value]) => ({ name: variable, value })),
  ];
  const port = 8080 + random.int(0, 3);
  return {
    name,
    image,
    ports: [
      { name: "http", containerPort: port, protocol: "TCP" },
      { name: "metrics", containerPort: 9090, protocol: "TCP" },
    ],
    env,
    resources: {
      limits: { cpu: "1", memory: "1Gi" },
      requests: { cpu: `${50 * random.int(1, 8)}m`, memory: `${64 * random.int(1, 8)}Mi` },
    },
    volumeMounts: [
      ...(isMain
        ? [
            { name: "config", mountPath: "/etc/config" },
            { name: "tmp", mountPath: "/tmp" },
          ]
        : []),
      { name: workload.tokenVolume, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
    ],
    ...(isMain ? { livenessProbe: LIVENESS } : {}),
    readinessProbe: {
      httpGet: { path: "/readyz", port: "http", scheme: "HTTP" },
      timeoutSeconds: 2,
      periodSeconds: 5,
      successThreshold: 1,
      failureThreshold: 3,
    },
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: "IfNotPresent",
  };
}

/** @param {Workload} workload */
function initContainer(workload) {
  return {
    name: "migrate",
    image: `${REGISTRY}/${workload.namespace}/${workload.app}:${workload.version}`,
    command: ["/bin/sh", "-c", "./migrate --wait && ./check"],
    resources: {},
    volumeMounts: [{ name: workload.tokenVolume, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }],
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: "IfNotPresent",
  };
}

/**
 * A pod as its controller creates it: pending, without a node.
 * @param {Workload} workload
 * @param {Random} random
 * @param {number} now
 */
export function newPod(workload, random, now) {
  const job = workload.kind === "Job";
  const owner = job ? workload.name : `${workload.name}-${workload.hash}`;
  const name = `${owner}-${random.suffix(5)}`;
  const time = timestamp(now);
  const labels = {
    app: workload.app,
    "app.kubernetes.io/component": workload.tier,
    "app.kubernetes.io/instance": workload.name,
    "app.kubernetes.io/managed-by": "Helm",
    "app.kubernetes.io/name": workload.app,
    "app.kubernetes.io/part-of": workload.namespace,
    "app.kubernetes.io/version": workload.version,
    ...(job ? { "job-name": workload.name } : { "pod-template-hash": workload.hash }),
    tier: workload.tier,
    track: workload.track,
  };
  const annotations = {
    "checksum/config": random.hex(64),
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "true",
    "kubectl.kubernetes.io/restartedAt": time,
    "prometheus.io/path": "/metrics",
    "prometheus.io/port": "9090",
    "prometheus.io/scrape": "true",
  };
  const ownerReferences = [
    {
      apiVersion: job ? "batch/v1" : "apps/v1",
      kind: job ? "Job" : "ReplicaSet",
      name: owner,
      uid: workload.ownerUid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ];
  const spec = {
    volumes: [
      { name: "config", configMap: { name: workload.name, defaultMode: 420 } },
      { name: "tmp", emptyDir: {} },
      {
        name: workload.tokenVolume,
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
            { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
            { downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] } },
          ],
          defaultMode: 420,
        },
      },
    ],
    ...(workload.init ? { initContainers: [initContainer(workload)] } : {}),
    containers: workload.containers.map((containerName, index) =>
      container(workload, containerName, random, index === 0 ? workload.variables : 2),
    ),
    restartPolicy: job ? "OnFailure" : "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    serviceAccountName: workload.app,
    serviceAccount: workload.app,
    securityContext: { runAsNonRoot: true, fsGroup: 65532 },
    ...SCHEDULING,
  };
  const {
    serviceAccount: _serviceAccount,
    preemptionPolicy: _preemptionPolicy,
    priority: _priority,
    tolerations: _tolerations,
    ...managedSpec
  } = spec;
  return {
    metadata: {
      name,
      generateName: `${owner}-`,
      namespace: workload.namespace,
      uid: random.uuid(),
      generation: 1,
      creationTimestamp: time,
      labels,
      annotations,
      ownerReferences,
      managedFields: [
        managedBy(
          { manager: "kube-controller-manager", apiVersion: "v1", time },
          { metadata: { annotations, generateName: "", labels, ownerReferences }, spec: managedSpec },
        ),
      ],
    },
    spec,
    /** @type {any} */
    status: { phase: "Pending", qosClass: "Burstable" },
  };
}

/** @param {string} type @param {boolean} value @param {string} time @param {{ reason?: string, message?: string }} [why] */
function condition(type, value, time, why = {}) {
  return { type, observedGeneration: 1, status: value ? "True" : "False", lastProbeTime: null, lastTransitionTime: time, ...why };
}

/** Sets a condition; its time moves only when its status does. @param {any} pod @param {ReturnType<typeof condition>} next */
function setCondition(pod, next) {
  const conditions = (pod.status.conditions ??= []);
  const at = conditions.findIndex((/** @type {any} */ existing) => existing.type === next.type);
  if (at < 0) conditions.push(next);
  else conditions[at] = conditions[at].status === next.status ? { ...next, lastTransitionTime: conditions[at].lastTransitionTime } : next;
}

/** @param {any} pod @param {string} node @param {number} now */
export function schedulePod(pod, node, now) {
  pod.spec.nodeName = node;
  setCondition(pod, condition("PodScheduled", true, timestamp(now)));
}

/** @param {any} pod @param {string} hostIP @param {number} now */
export function startPod(pod, hostIP, now) {
  const time = timestamp(now);
  pod.status.hostIP = hostIP;
  pod.status.hostIPs = [{ ip: hostIP }];
  pod.status.startTime = time;
  const names = pod.spec.containers.map((/** @type {any} */ { name }) => name);
  const unready = { reason: "ContainersNotReady", message: `containers with unready status: [${names.join(" ")}]` };
  setCondition(pod, condition("PodReadyToStartContainers", false, time));
  setCondition(pod, condition("Initialized", !pod.spec.initContainers, time));
  setCondition(pod, condition("Ready", false, time, unready));
  setCondition(pod, condition("ContainersReady", false, time, unready));
  pod.status.containerStatuses = pod.spec.containers.map((/** @type {any} */ { name, image }) => ({
    name,
    state: { waiting: { reason: pod.spec.initContainers ? "PodInitializing" : "ContainerCreating" } },
    lastState: {},
    ready: false,
    restartCount: 0,
    image,
    imageID: "",
    started: false,
  }));
}

/** @param {any} pod @param {string} podIP @param {Random} random @param {number} now */
export function runPod(pod, podIP, random, now) {
  const time = timestamp(now);
  pod.status.phase = "Running";
  pod.status.podIP = podIP;
  pod.status.podIPs = [{ ip: podIP }];
  setCondition(pod, condition("PodReadyToStartContainers", true, time));
  setCondition(pod, condition("Initialized", true, time));
  if (pod.spec.initContainers) {
    pod.status.initContainerStatuses = pod.spec.initContainers.map((/** @type {any} */ { name, image }) => {
      const containerID = `containerd://${random.hex(64)}`;
      return {
        name,
        state: { terminated: { exitCode: 0, reason: "Completed", startedAt: time, finishedAt: time, containerID } },
        lastState: {},
        ready: true,
        restartCount: 0,
        image,
        imageID: `${image.split(":")[0]}@sha256:${random.hex(64)}`,
        containerID,
        started: false,
      };
    });
  }
  for (const status of pod.status.containerStatuses) {
    status.state = { running: { startedAt: time } };
    status.imageID = `${status.image.split(":")[0]}@sha256:${random.hex(64)}`;
    status.containerID = `containerd://${random.hex(64)}`;
    status.started = true;
  }
}

/** @param {any} pod @param {boolean} ready @param {number} now */
export function setReady(pod, ready, now) {
  const time = timestamp(now);
  for (const status of pod.status.containerStatuses) status.ready = ready;
  const why = ready ? {} : { reason: "ContainersNotReady", message: `containers with unready status: [${pod.spec.containers[0].name}]` };
  setCondition(pod, condition("Ready", ready, time, why));
  setCondition(pod, condition("ContainersReady", ready, time, why));
}

/** The first container ends with an error and waits before its next try. @param {any} pod @param {Random} random @param {number} now */
export function crashPod(pod, random, now) {
  const time = timestamp(now);
  const [status] = pod.status.containerStatuses;
  const killed = random.chance(0.4);
  const started = status.state.running?.startedAt ?? pod.status.startTime;
  status.lastState = {
    terminated: {
      exitCode: killed ? 137 : random.int(1, 3),
      reason: killed ? "OOMKilled" : "Error",
      startedAt: started,
      finishedAt: time,
      containerID: status.containerID,
    },
  };
  status.restartCount += 1;
  status.started = false;
  status.state = {
    waiting: {
      reason: "CrashLoopBackOff",
      message: `back-off 10s restarting failed container=${status.name} pod=${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`,
    },
  };
  setReady(pod, false, now);
}

/** @param {any} pod @param {Random} random @param {number} now */
export function restartPod(pod, random, now) {
  const [status] = pod.status.containerStatuses;
  status.state = { running: { startedAt: timestamp(now) } };
  status.containerID = `containerd://${random.hex(64)}`;
  status.started = true;
  setReady(pod, true, now);
}

/** @param {any} pod @param {boolean} success @param {number} now */
export function finishPod(pod, success, now) {
  const time = timestamp(now);
  pod.status.phase = success ? "Succeeded" : "Failed";
  for (const status of pod.status.containerStatuses) {
    const started = status.state.running?.startedAt ?? time;
    status.state = {
      terminated: {
        exitCode: success ? 0 : 1,
        reason: success ? "Completed" : "Error",
        startedAt: started,
        finishedAt: time,
        containerID: status.containerID,
      },
    };
    status.ready = false;
    status.started = false;
  }
  const why = { reason: success ? "PodCompleted" : "PodFailed" };
  setCondition(pod, condition("Ready", false, time, why));
  setCondition(pod, condition("ContainersReady", false, time, why));
}

/** @param {any} pod @param {number} now */
export function terminatePod(pod, now) {
  pod.metadata.deletionTimestamp = timestamp(now + 30_000);
  pod.metadata.deletionGracePeriodSeconds = 30;
}

/**
 * Whoever reports a status owns its fields: to be called once after the status has changed.
 * @param {any} pod @param {number} now
 */
export function reportStatus(pod, now) {
  if (!pod.status.startTime) return;
  const time = timestamp(now);
  const { phase: _phase, qosClass: _qosClass, ...fields } = pod.status;
  const entry = managedBy({ manager: "kubelet", apiVersion: "v1", time, subresource: "status" }, { status: fields });
  pod.metadata.managedFields = [...pod.metadata.managedFields.filter((/** @type {any} */ { manager }) => manager !== "kubelet"), entry];
}
