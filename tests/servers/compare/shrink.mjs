/**
 * Makes a failing trace small: leaves out steps while it still fails in the same way, each time on names of its own.
 * @module
 */

/** @typedef {import("./generate.mjs").Trace} Trace */
/** @typedef {import("./generate.mjs").Step} Step */
/** @typedef {import("./play.mjs").Difference} Difference */

/** Fields of a request that can be left out to make it simpler. */
const OPTIONAL = ["labelSelector", "fieldSelector", "namespace", "limit", "bookmarks", "timeout", "match", "initial", "version"];

/** What kind of difference it is: the names and numbers in it change from run to run. @param {Difference} difference */
export function signature({ request, differences }) {
  const [first] = differences[0].split("\n");
  return `${request.step}: ${first.replace(/\d+/g, "N")}`;
}

/**
 * @param {Trace} trace that fails
 * @param {Difference} difference the one to keep
 * @param {(trace: Trace) => Promise<Difference[]>} differences plays a trace
 * @param {{ plays?: number, limitMs?: number }} [bounds] after which the smallest trace so far is given
 * @returns {Promise<Trace>}
 */
export async function shrink(trace, difference, differences, { plays = 80, limitMs = 60_000 } = {}) {
  const wanted = signature(difference);
  const deadline = Date.now() + limitMs;
  let best = trace;
  /** Keeps a smaller trace if it fails in the same way. @param {Step[]} steps */
  const keeps = async (steps) => {
    if (plays-- <= 0 || Date.now() > deadline) return false;
    const smaller = { ...best, steps };
    const found = await differences(smaller);
    if (!found.some((it) => signature(it) === wanted)) return false;
    best = smaller;
    return true;
  };

  // The request alone, with the pages before it, and what was written until it was over.
  const needed = ancestors(trace, difference.step);
  const isAsk = (/** @type {Step} */ step) => "id" in step && step.step !== "write";
  const own = (/** @type {Step} */ step) => !isAsk(step) || needed.has(/** @type {any} */ (step).id);
  const ends = (/** @type {Step} */ step) => step.step === "end" && needed.has(step.of);
  const last = trace.steps.findIndex(
    (step) => ends(step) || (isAsk(step) && step.step !== "watch" && /** @type {any} */ (step).id === difference.step),
  );
  const until = last < 0 ? trace.steps : trace.steps.slice(0, last + 1);
  await keeps(until.filter((step) => own(step) && (step.step !== "end" || ends(step))));

  // What does not depend on what was written needs none of it.
  await keeps(best.steps.filter((step) => step.step !== "write"));

  // Then halves, quarters and so on of what is left, down to single steps.
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = best.steps.length - size; at > -size; at -= size) {
      const [from, to] = [Math.max(0, at), at + size];
      const steps = best.steps.filter(
        (step, i) => i < from || i >= to || step.step === "open" || (isAsk(step) && needed.has(/** @type {any} */ (step).id)),
      );
      if (steps.length < best.steps.length) await keeps(steps);
    }
  }

  // Then the request's own options.
  for (const field of OPTIONAL) {
    const i = best.steps.findIndex((step) => "id" in step && step.step !== "write" && step.id === difference.step);
    const step = /** @type {any} */ (best.steps[i]);
    // A get names its object; without the namespace it would be about nothing.
    if (!step || step[field] === undefined || (step.step === "get" && field === "namespace")) continue;
    const { [field]: _, ...simpler } = step;
    await keeps(best.steps.with ? best.steps.with(i, simpler) : best.steps.map((it, j) => (j === i ? simpler : it)));
  }
  return best;
}

/** The request and, for a page, those it goes on from. @param {Trace} trace @param {number} id */
function ancestors(trace, id) {
  const needed = new Set([id]);
  for (let at = id; ;) {
    const step = /** @type {any} */ (trace.steps.find((it) => "id" in it && it.id === at));
    if (step?.step !== "page") return needed;
    at = step.of;
    needed.add(at);
  }
}

/** A trace as a person reads it. @param {Trace} trace */
export function describeTrace({ steps, window }) {
  const lines = window === undefined ? [] : [`the package keeps ${window} events`];
  for (const step of steps) {
    if (step.step === "open") lines.push("the package opens every resource");
    else if (step.step === "restart") lines.push("kube-apiserver dies and starts again");
    else if (step.step === "compact") lines.push("etcd forgets what was before");
    else if (step.step === "end") lines.push(`watch ${step.of} ends`);
    else {
      const { step: what, id, ...rest } = step;
      lines.push(`${id}: ${what} ${JSON.stringify(rest)}`);
    }
  }
  return lines.map((line) => `    ${line}`).join("\n");
}
