// What the table of pods says of a pod: its readiness and the one word for its state.
import { since } from "./age.mjs";

/** Phases that a pod does not leave. */
const FINAL = new Set(["Succeeded", "Failed"]);

/** @param {any} pod @param {number} now @returns {unknown[]} */
export function podCells(pod, now) {
  const { ready, total, word, restarts, restartedAt } = stateOf(pod);
  const restarted = restarts !== 0 && restartedAt ? `${restarts} (${since(restartedAt, now)} ago)` : String(restarts);
  return [
    pod.metadata.name ?? "",
    `${ready}/${total}`,
    word,
    restarted,
    since(pod.metadata.creationTimestamp, now),
    pod.status?.podIPs?.[0]?.ip || "<none>",
    pod.spec?.nodeName || "<none>",
    pod.status?.nominatedNodeName || "<none>",
    readinessGates(pod),
  ];
}

/** @param {any} pod */
function readinessGates(pod) {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return "<none>";
  const open = gates.filter((/** @type {any} */ gate) => hasCondition(pod, gate.conditionType));
  return `${open.length}/${gates.length}`;
}

/** @param {any} pod @param {string} type */
const hasCondition = (pod, type) =>
  (pod.status?.conditions ?? []).some((/** @type {any} */ condition) => condition.type === type && condition.status === "True");

/** The later of two times; either may be missing. @param {string | undefined} left @param {string | undefined} right */
const later = (left, right) => (right && (!left || Date.parse(right) > Date.parse(left)) ? right : left);

/** How a container ended. @param {any} terminated */
const ending = ({ reason, signal, exitCode }) => reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`);

/** A sidecar is an init container that stays. @param {any} container */
const isSidecar = (container) => container?.restartPolicy === "Always";

/** @param {any} pod */
function stateOf(pod) {
  const { spec = {}, status = {}, metadata } = pod;
  const inits = spec.initContainers ?? [];
  const sidecars = new Map(inits.filter(isSidecar).map((/** @type {any} */ container) => [container.name, container]));
  const total = (spec.containers ?? []).length + sidecars.size;
  let word = status.reason || status.phase || "";
  const gated = (status.conditions ?? []).find((/** @type {any} */ condition) => condition.type === "PodScheduled");
  if (gated?.reason === "SchedulingGated") word = "SchedulingGated";

  const beginning = initState(status.initContainerStatuses ?? [], inits.length, sidecars);
  let { ready, restarts, restartedAt } = beginning;
  if (beginning.word) word = beginning.word;
  if (!beginning.word || hasCondition(pod, "Initialized")) {
    ({ restarts, restartedAt } = beginning.sidecars);
    let isRunning = false;
    for (const container of [...(status.containerStatuses ?? [])].reverse()) {
      const { waiting, terminated, running } = container.state ?? {};
      restarts += container.restartCount ?? 0;
      restartedAt = later(restartedAt, container.lastState?.terminated?.finishedAt);
      if (waiting?.reason) word = waiting.reason;
      else if (terminated) word = ending(terminated);
      else if (container.ready && running) {
        isRunning = true;
        ready += 1;
      }
    }
    if (word === "Completed" && isRunning) word = hasCondition(pod, "Ready") ? "Running" : "NotReady";
  }
  if (metadata.deletionTimestamp && status.reason === "NodeLost") word = "Unknown";
  else if (metadata.deletionTimestamp && !FINAL.has(status.phase)) word = "Terminating";
  return { ready, total, word, restarts, restartedAt };
}

/**
 * The first init container that is not done decides the word.
 * @param {any[]} statuses @param {number} count of all init containers @param {Map<string, any>} sidecars
 */
function initState(statuses, count, sidecars) {
  const state = {
    word: "",
    ready: 0,
    restarts: 0,
    restartedAt: /** @type {string | undefined} */ (undefined),
    sidecars: { restarts: 0, restartedAt: /** @type {string | undefined} */ (undefined) },
  };
  for (const [index, container] of statuses.entries()) {
    const { waiting, terminated } = container.state ?? {};
    const finishedAt = container.lastState?.terminated?.finishedAt;
    const stays = sidecars.has(container.name);
    state.restarts += container.restartCount ?? 0;
    state.restartedAt = later(state.restartedAt, finishedAt);
    if (stays) {
      state.sidecars.restarts += container.restartCount ?? 0;
      state.sidecars.restartedAt = later(state.sidecars.restartedAt, finishedAt);
    }
    if (terminated && (terminated.exitCode ?? 0) === 0) continue;
    if (stays && container.started) {
      if (container.ready) state.ready += 1;
      continue;
    }
    if (terminated) state.word = `Init:${ending(terminated)}`;
    else if (waiting?.reason && waiting.reason !== "PodInitializing") state.word = `Init:${waiting.reason}`;
    else state.word = `Init:${index}/${count}`;
    break;
  }
  return state;
}
