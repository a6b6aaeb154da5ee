// Nodes, and the heartbeat that keeps their stream busy.
import { timestamp } from "../time.mjs";
import { managedBy } from "../managed-fields.mjs";
import { MACHINES, ZONES } from "./names.mjs";

const HEALTHY = /** @type {const} */ ([
  ["MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
  ["Ready", "True", "KubeletReady", "kubelet is posting ready status"],
]);

/** @param {number} index @param {import("./random.mjs").Random} random @param {number} now */
export function newNode(index, random, now) {
  const name = `node-${String(index).padStart(3, "0")}`;
  const time = timestamp(now);
  const machine = random.pick(MACHINES);
  const labels = {
    "beta.kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "node.kubernetes.io/instance-type": machine,
    "topology.kubernetes.io/region": "eu-central-1",
    "topology.kubernetes.io/zone": ZONES[index % ZONES.length],
  };
  const annotations = { "node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true" };
  const spec = {
    podCIDR: `10.${244 + (index >> 8)}.${index & 255}.0/24`,
    podCIDRs: [`10.${244 + (index >> 8)}.${index & 255}.0/24`],
    providerID: `aws:///${ZONES[index % ZONES.length]}/i-${random.hex(17)}`,
  };
  const quantities = {
    cpu: "16",
    "ephemeral-storage": "203056560Ki",
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    memory: "64758516Ki",
    pods: "110",
  };
  const status = {
    capacity: quantities,
    allocatable: { ...quantities, cpu: "15890m", memory: "61843188Ki" },
    conditions: HEALTHY.map(([type, value, reason, message]) => ({
      type,
      status: value,
      lastHeartbeatTime: time,
      lastTransitionTime: time,
      reason,
      message,
    })),
    addresses: [
      { type: "InternalIP", address: hostIP(index) },
      { type: "Hostname", address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: random.hex(32),
      systemUUID: random.uuid(),
      bootID: random.uuid(),
      kernelVersion: "6.12.41",
      osImage: "Debian GNU/Linux 13 (trixie)",
      containerRuntimeVersion: "containerd://2.1.4",
      kubeletVersion: "v1.36.3",
      kubeProxyVersion: "",
      operatingSystem: "linux",
      architecture: "amd64",
    },
    images: Array.from({ length: 12 }, () => ({
      names: [`registry.example.com/platform/image@sha256:${random.hex(64)}`],
      sizeBytes: random.int(10_000_000, 900_000_000),
    })),
  };
  return {
    metadata: {
      name,
      uid: random.uuid(),
      creationTimestamp: time,
      labels,
      annotations,
      managedFields: [
        managedBy({ manager: "kubelet", apiVersion: "v1", time }, { metadata: { annotations, labels }, spec }),
        managedBy({ manager: "kubelet", apiVersion: "v1", time, subresource: "status" }, { status }),
      ],
    },
    spec,
    status,
  };
}

/** @param {number} index */
export function hostIP(index) {
  return `192.168.${index >> 8}.${index & 255}`;
}

/** @param {any} node @param {number} now */
export function heartbeat(node, now) {
  for (const condition of node.status.conditions) condition.lastHeartbeatTime = timestamp(now);
}
