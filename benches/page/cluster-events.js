// What a watch of a cluster's pods brings: most events are heartbeats, some belong to rollouts, and few change a spec. benches/README.md
// says in which proportions and why. The same options give the same events, here and for every peer.
import { random } from "./different-pods.js";
import { CONDITIONS, editSpec, newState, proceed, report, RESTART, stagedPods, START } from "./pod-stages.js";

/** Of a hundred events. */
export const SHARES = { heartbeat: 92, rollout: 6, spec: 2 };

/** Every so many pods one has yet to start when the list is made. */
const STARTING = 8;
/** Pods that are rolled out at a time, at most. */
const ROLLING = 24;
/** No pod changes twice within so many events, so that a batch of {@link FRAMES_A_TASK} has no pod twice. */
const APART = 20;
/** From one pod to the next: a prime, so that every pod has its turn. */
const STEP = 7919;
const FIRST_EVENT = Date.parse("2026-05-04T00:00:00Z");
const SECOND = 1000;

/**
 * The pods of a cluster and what happens to them.
 * @param realPod a pod of a real cluster, tests/data/pod.json
 * @param {{ objects: number, groups?: number, shares?: Record<"heartbeat" | "rollout" | "spec", number>, seed?: number }} options
 * @returns `item(number, version)`, a pod as it is now; `next(version)`, the next event as `{ kind, number, text }`; and `roll(number,
 * version)`, the next step of one pod's rollout
 */
export function clusterEvents(realPod, { objects, groups = 0, shares = SHARES, seed = 1 }) {
  const write = stagedPods(realPod, groups);
  const chance = random(seed);
  const below = (bound) => chance() % bound;
  const whole = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const apart = Math.min(APART, objects >> 1);
  const states = new Map();
  const recent = [];
  /** Pods that are rolled out, and the stages before each; who waited longest is next. */
  const rolling = [];
  let turn = 0;
  let started = 0;
  let events = 0;

  const fresh = (number) => newState(number % STARTING === 0 ? START[0] : START.at(-1));
  const stateOf = (number) => {
    if (!states.has(number)) states.set(number, fresh(number));
    return states.get(number);
  };
  const now = () => FIRST_EVENT + events * SECOND;
  const busy = (number) => recent.includes(number) || rolling.some((roll) => roll.number === number);

  /** The first pod that has rested for a while. */
  function rested(candidate) {
    for (let tried = 0; tried <= objects; tried++) {
      const number = candidate();
      if (!busy(number)) return number;
    }
    return below(objects);
  }
  const inTurn = () => rested(() => (turn = (turn + STEP) % objects));
  const any = () => rested(() => below(objects));

  /** A pod that has yet to start, or else one whose container fails. */
  function toRoll() {
    for (; started < objects; started += STARTING) {
      if (!busy(started)) return { number: (started += STARTING) - STARTING, left: START.slice(1) };
    }
    return { number: any(), left: RESTART.slice(1) };
  }

  const kinds = {
    heartbeat() {
      const number = inTurn();
      const first = below(CONDITIONS);
      const changed = Array.from({ length: 1 + below(CONDITIONS - 1) }, (_, i) => (first + i) % CONDITIONS);
      report(stateOf(number), now(), changed);
      return number;
    },
    rollout() {
      while (rolling.length < Math.min(ROLLING, objects >> 2)) rolling.push(toRoll());
      const roll = rolling.shift();
      proceed(stateOf(roll.number), roll.left.shift(), now());
      if (roll.left.length > 0) rolling.push(roll);
      return roll.number;
    },
    spec() {
      const number = any();
      editSpec(stateOf(number), now());
      return number;
    },
  };

  function drawn() {
    let draw = below(whole);
    for (const [kind, share] of Object.entries(shares)) if ((draw -= share) < 0) return kind;
    throw new RangeError("no kind of event has a share");
  }

  const item = (number, version) => write(number, version, states.get(number) ?? fresh(number));
  return {
    item,
    next(version) {
      events++;
      const kind = drawn();
      const number = kinds[kind]();
      recent.push(number);
      if (recent.length > apart) recent.shift();
      return { kind, number, text: item(number, version) };
    },
    roll(number, version) {
      events++;
      const state = stateOf(number);
      const way = START.includes(state.stage) && state.stage !== START.at(-1) ? START : RESTART;
      proceed(state, way[way.indexOf(state.stage) + 1], now());
      return item(number, version);
    },
  };
}
