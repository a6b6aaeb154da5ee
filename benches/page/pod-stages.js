// The real pod in six stages: those that a watch shows of a pod until it is ready, and those of a container that fails.
import { containerId, podWriter, random, timeText } from "./different-pods.js";

/** The pod's conditions, as the real pod has them in order. */
const READY_TO_START = 0;
const INITIALIZED = 1;
const READY = 2;
const CONTAINERS_READY = 3;
export const CONDITIONS = 5;

/** From one stage to the next: a pod that starts, and one whose first container fails and is restarted. */
export const START = ["initializing", "creating", "running", "ready"];
export const RESTART = ["ready", "failed", "waiting", "running", "ready"];

/** In a template, where something stands that differs. */
const slot = (name) => `#{${name}}`;
/** The same in its text. The quotes are part of it, so a number may take its place. */
const quoted = (name) => JSON.stringify(slot(name));

const BEFORE = { image: "registry.k8s.io/pause:3.9", cpu: "5m" };
/** What an image is in a registry. */
const DIGEST = `@sha256:${"7031c1b283388d2c".repeat(4)}`;
const ALL_UNREADY = "containers with unready status: [main sidecar]";
const FIRST_UNREADY = "containers with unready status: [main]";

/** The time of a condition, or of something that a container did, until an event has changed it: seconds after the pod was made. */
const BORN = { conditions: [7, 1, 1, 1, 1], reported: 20, started: 21, finished: 22 };

function setReady(conditions, message) {
  for (const at of [READY, CONTAINERS_READY]) {
    const { lastProbeTime, lastTransitionTime, observedGeneration, type } = conditions[at];
    conditions[at] =
      message === undefined
        ? { lastProbeTime, lastTransitionTime, observedGeneration, status: "True", type }
        : { lastProbeTime, lastTransitionTime, message, observedGeneration, reason: "ContainersNotReady", status: "False", type };
  }
}

const terminated = (exitCode, reason) => ({
  terminated: { containerID: slot("main"), exitCode, finishedAt: slot("finished"), reason, startedAt: slot("mainStarted") },
});

/** A container that runs: its status with what the runtime tells. */
function run(status, id) {
  const { image, imageID, lastState, name, volumeMounts } = status;
  const state = { running: { startedAt: slot(`${id}Started`) } };
  const told = { lastState, name, ready: true, restartCount: status.restartCount, started: true, state, volumeMounts };
  return { containerID: slot(id), image, imageID: imageID || slot(`${id}Image`), ...told };
}

/** The initialized pod: its second init container has ended. */
function initialized(status) {
  const { lastProbeTime, lastTransitionTime, observedGeneration, type } = status.conditions[INITIALIZED];
  status.conditions[INITIALIZED] = { lastProbeTime, lastTransitionTime, observedGeneration, status: "True", type };
  const [first, second] = status.initContainerStatuses;
  Object.assign(second, { ready: true, started: false });
  const { containerID } = second;
  second.state = { terminated: { ...first.state.terminated, containerID } };
  for (const { state } of status.containerStatuses) state.waiting.reason = "ContainerCreating";
}

function running(status) {
  initialized(status);
  status.phase = "Running";
  status.containerStatuses = status.containerStatuses.map((container, i) => run(container, ["main", "sidecar"][i]));
  Object.assign(status.containerStatuses[0], { ready: false });
  setReady(status.conditions, FIRST_UNREADY);
}

/** Changes to the status of a pod that waits for its second init container, which is what the real one does. */
const STAGES = {
  initializing: (status) => setReady(status.conditions, ALL_UNREADY),
  creating: initialized,
  running,
  ready(status) {
    running(status);
    status.containerStatuses[0].ready = true;
    setReady(status.conditions, undefined);
  },
  failed(status) {
    running(status);
    Object.assign(status.containerStatuses[0], { ready: false, started: false, state: terminated(137, "OOMKilled") });
  },
  waiting(status) {
    running(status);
    const message = "back-off 10s restarting failed container=main pod=main";
    const state = { waiting: { message, reason: "CrashLoopBackOff" } };
    Object.assign(status.containerStatuses[0], { ready: false, started: false, state, lastState: terminated(137, "OOMKilled") });
  },
};

/** The real pod in a stage, with the names of what differs where that stands. */
function template(realPod, stage, groups) {
  const pod = structuredClone(realPod);
  const { metadata, spec, status } = pod;
  if (groups > 0) metadata.labels.group = slot("group");
  metadata.generation = slot("generation");
  metadata.managedFields.at(-1).time = slot("reported");
  metadata.managedFields.push(slot("edited"));
  Object.assign(spec.containers[0], { image: slot("image") });
  spec.containers[0].resources.requests.cpu = slot("cpu");
  Object.assign(status.containerStatuses[0], { image: slot("runningImage"), restartCount: slot("restarts"), lastState: slot("last") });
  STAGES[stage](status);
  status.conditions.forEach((condition, i) => {
    Object.assign(condition, { lastTransitionTime: slot(`condition${i}`), observedGeneration: slot("observed") });
  });
  status.observedGeneration = slot("observed");
  return JSON.stringify(pod);
}

/** The entry of who has edited the pod, which its first edit adds. */
const edit = (time) => ({
  apiVersion: "v1",
  fieldsType: "FieldsV1",
  fieldsV1: {
    "f:spec": { "f:containers": { 'k:{"name":"main"}': { "f:image": {}, "f:resources": { "f:requests": { "f:cpu": {} } } } } },
  },
  manager: "kubectl-edit",
  operation: "Update",
  time,
});

const text = JSON.stringify;
const after = (born, seconds) => text(timeText(born + seconds * 1000));
const either = (time, born, seconds) => (time === undefined ? after(born, seconds) : text(timeText(time)));
/** The id of a container of the pod, of its first start or of a later one. */
const idOf = (number, container, restarts) => text(containerId(random((number * 31 + container) * 1009 + restarts)));

const last = ({ number, state, born }) => {
  if (state.restarts === 0) return "{}";
  const ended = { containerID: JSON.parse(idOf(number, 0, state.restarts - 1)), exitCode: 137 };
  const times = {
    finishedAt: timeText(state.finished),
    reason: "OOMKilled",
    startedAt: JSON.parse(either(state.previous, born, BORN.started)),
  };
  return text({ terminated: { ...ended, ...times } });
};

/** What stands in the place of each name. */
const SLOTS = {
  group: ({ number, groups }) => text(`g-${number % groups}`),
  generation: ({ state }) => state.generation,
  observed: ({ state }) => state.observed,
  reported: ({ state, born }) => either(state.reported, born, BORN.reported),
  image: ({ state }) => text(state.image),
  runningImage: ({ state }) => text(state.runningImage),
  cpu: ({ state }) => text(state.cpu),
  restarts: ({ state }) => state.restarts,
  last,
  main: ({ number, state }) => idOf(number, 0, state.restarts),
  sidecar: ({ number }) => idOf(number, 1, 0),
  mainImage: ({ state }) => text(`${state.runningImage}${DIGEST}`),
  sidecarImage: () => text(`${BEFORE.image}${DIGEST}`),
  mainStarted: ({ state, born }) => either(state.started, born, BORN.started),
  sidecarStarted: ({ state, born }) => either(state.firstStarted, born, BORN.started),
  finished: ({ state, born }) => either(state.finished, born, BORN.finished),
};

/**
 * @param realPod a pod of a real cluster, tests/data/pod.json
 * @param {number} groups with groups, a pod's label `group` is its number's remainder
 * @returns (number, version, state) => JSON of that pod in that {@link newState}
 */
export function stagedPods(realPod, groups = 0) {
  const conditions = Array.from({ length: CONDITIONS }, (_, i) => [
    quoted(`condition${i}`),
    ({ state, born }) => either(state.conditions[i], born, BORN.conditions[i]),
  ]);
  const slots = [
    [`,${quoted("edited")}`, ({ state }) => (state.edited === undefined ? "" : `,${text(edit(timeText(state.edited)))}`)],
    ...conditions,
    ...Object.entries(SLOTS).map(([name, value]) => [quoted(name), value]),
  ];
  const write = Object.fromEntries(
    Object.keys(STAGES).map((stage) => [stage, podWriter(realPod, template(realPod, stage, groups), slots)]),
  );
  return (number, version, state) => write[state.stage]({ number, version, state, groups });
}

/** What a pod's text depends on beside its number and version. Times that no event has changed are those of its start. */
export function newState(stage) {
  const { image, cpu } = BEFORE;
  return { stage, generation: 1, observed: 1, image, runningImage: image, cpu, restarts: 0, conditions: Array(CONDITIONS).fill(undefined) };
}

/** A kubelet reports: so many of the conditions have changed since. It also tells which generation it has seen. */
export function report(state, time, conditions) {
  for (const at of conditions) state.conditions[at] = time;
  state.reported = time;
  state.observed = state.generation;
}

/** The next stage of a pod: the kubelet reports it, with the conditions that it changes. */
export function proceed(state, stage, time) {
  const before = state.stage;
  state.stage = stage;
  const changed = { creating: [INITIALIZED], ready: [READY, CONTAINERS_READY], failed: [READY, CONTAINERS_READY] }[stage] ?? [];
  if (stage === "failed") state.finished = time;
  if (stage === "running") {
    if (before === "waiting") {
      state.previous = state.started;
      state.restarts++;
    }
    state.started = time;
    if (before === "creating") state.firstStarted = time;
    state.runningImage = state.image;
  }
  report(state, time, stage === "running" && before === "creating" ? [READY_TO_START] : changed);
}

/** Somebody edits the spec: another image and other requests, which are a new generation. */
export function editSpec(state, time) {
  state.generation++;
  state.image = `${BEFORE.image}-${state.generation}`;
  state.cpu = `${4 + state.generation}m`;
  state.edited = time;
}
