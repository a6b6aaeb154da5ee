// Pods as a real cluster has them: alike, and each different. For the page and for the server that serves it.

/** Numbers that look random and are the same for the same seed. */
export function random(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** Pods that one workload has. */
const PODS_A_WORKLOAD = 40;

const hex = (next, length) => {
  let text = "";
  while (text.length < length) text += next().toString(16).padStart(8, "0");
  return text.slice(0, length);
};
const uuid = (next) => hex(next, 32).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
const letters = (next, length) => next().toString(36).padStart(length, "0").slice(-length);

/** What a runtime calls a container. */
export const containerId = (next) => `containerd://${hex(next, 64)}`;

/** A time as Kubernetes writes it, to the second. */
export const timeText = (ms) => new Date(ms).toISOString().replace(".000", "");

/** When the real pod was made. The pods made from it are up to ten days younger. */
const ORIGIN = Date.parse("2026-04-23T12:23:01Z");

/**
 * Different pods made from the real one, as the pods of one cluster differ. Each has its own name, uid, times, addresses, containers' ids
 * and volumes' names. Each workload has its own name, hash, owner and namespace. What a cache can save by likeness, it can save here no
 * more than there.
 * @param realPod a pod of a real cluster, tests/data/pod.json
 * @returns (number, version, beat) => JSON; the heartbeat `beat` moves all times
 */
export function differentPods(realPod) {
  const write = podWriter(realPod, JSON.stringify(realPod));
  return (number, version, beat = 0) => write({ number, version, beat });
}

/**
 * Writes a text about the real pod for other pods, with what differs from pod to pod.
 * @param realPod a pod of a real cluster
 * @param text JSON of that pod, or of the same pod in another state
 * @param {[string, (facts: object) => unknown][]} more further parts of the text, and what stands there instead
 * @returns (given) => JSON, of a pod's `number`, its `version`, seconds by which its times are later, and what else `more` asks for
 */
export function podWriter(realPod, text, more = []) {
  // What differs, as the real pod has it, and what stands there instead.
  const slots = [
    ...more,
    [
      realPod.metadata.name,
      ({ workload, number }) => `small-deployment-${workload.number}-${workload.hash}-${number.toString(36).padStart(5, "0")}`,
    ],
    [realPod.metadata.uid, ({ next }) => uuid(next)],
    [realPod.metadata.ownerReferences[0].uid, ({ workload }) => workload.uid],
    [realPod.metadata.labels["pod-template-hash"], ({ workload }) => workload.hash],
    ["small-deployment-10", ({ workload }) => `small-deployment-${workload.number}`],
    ["small-service-10", ({ workload }) => `small-service-${workload.number}`],
    [realPod.metadata.namespace, ({ workload }) => `test-gpqsgu-${workload.number % 20}`],
    [realPod.spec.nodeName, ({ number }) => `kind-worker${number % 300}`],
    [realPod.status.hostIP, ({ number }) => `192.168.${(number % 300) >> 4}.${number % 250}`],
    [`"resourceVersion":"${realPod.metadata.resourceVersion}"`, ({ version }) => `"resourceVersion":"${version}"`],
    ["kube-api-access-sjcs6", ({ volume }) => `kube-api-access-${volume}`],
  ];
  const escaped = slots.map(([text]) => text.replace(/[.*+?^${}()|[\]\\"]/g, "\\$&"));
  const pattern = new RegExp(`(${escaped.join("|")}|containerd://[0-9a-f]{64}|2026-04-23T12:2\\d:\\d\\dZ)`);
  const pieces = text.split(pattern).map((piece, i) => {
    if (i % 2 === 0) return piece;
    const slot = slots.find(([known]) => known === piece);
    if (slot) return slot[1];
    if (piece.startsWith("containerd:")) return ({ next, ids }) => (ids[piece] ??= containerId(next));
    const offset = Date.parse(piece) - ORIGIN;
    return ({ born, beat }) => timeText(born + offset + beat * 1000);
  });
  const workloads = new Map();
  const workloadOf = (number) => {
    const known = workloads.get(number);
    if (known) return known;
    const next = random(number ^ 0x5bd1e995);
    const workload = { number, hash: hex(next, 10), uid: uuid(next) };
    workloads.set(number, workload);
    return workload;
  };
  return (given) => {
    const { number } = given;
    const next = random(number);
    const workload = workloadOf(Math.floor(number / PODS_A_WORKLOAD));
    const born = ORIGIN + (next() % 8_000_000) * 100;
    const facts = { beat: 0, ...given, next, workload, volume: letters(next, 5), born: born - (born % 1000), ids: {} };
    return pieces.map((piece) => (typeof piece === "string" ? piece : piece(facts))).join("");
  };
}
