// One informer under measurement, step by step as the benchmark's process asks, which also makes the events.
import { harnesses, Told } from "./harnesses.js";

/** How long the held bytes may not change before it counts as idle, and how long that is waited for. */
const STILL_MS = 500;
const PATIENCE_MS = 60_000;

/**
 * @param {object} env what the harnesses need; `load`, which loads each harness's packages by its name; and this host's clocks, `cpuMs()`
 * and `now()` (milliseconds since 1970)
 */
export function informerClient(env) {
  let harness;
  let told;
  let expected;
  let change;
  return {
    /** Gets the packages ready. */
    async load({ name }) {
      harness = await harnesses[name]({ ...env, ...(await env.load[name]()) });
    },

    /** Starts it: how long until its handler has heard of every object. */
    async sync() {
      told = new Told();
      const cpu = await env.cpuMs();
      const began = performance.now();
      await harness.sync(told.hear);
      return { ms: performance.now() - began, cpuMs: (await env.cpuMs()) - cpu, checksum: `${told.count} added, ${told.sum}` };
    },

    /** Waits until it has nothing left to do; bytes outside of the JavaScript heap. */
    async rest() {
      const deadline = performance.now() + PATIENCE_MS;
      let last = harness.stats();
      for (let since = performance.now(); performance.now() - since < STILL_MS && performance.now() < deadline;) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (harness.stats() === last) continue;
        last = harness.stats();
        since = performance.now();
      }
      return { extraBytes: harness.extraBytes() };
    },

    /** Gets ready for events with so many handlers. */
    async expect({ handlers, events, reads = "names" }) {
      told = new Told();
      await harness.handlers(handlers, told.hear, reads);
      expected = handlers * events;
    },

    /** From here on processor time counts. */
    async begin() {
      change = await env.cpuMs();
    },

    /** Waits for the last of them: the processor time since `begin`. */
    async take() {
      await told.reached(expected);
      return { cpuMs: (await env.cpuMs()) - change, checksum: `${told.count} updated, ${told.sum}` };
    },

    /** Waits for one event: when it came. */
    async arrived() {
      await told.reached(expected);
      return { at: env.now(), checksum: `${told.count} updated` };
    },

    close: () => harness.close(),
  };
}
