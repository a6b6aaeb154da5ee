// A session of a page: mounts, filters and routes over the real core, under a clock that is turned by hand. tests/js/session.test.mjs
// counts what is left of it by kind, and benches/guard/session.mjs in bytes.
import { mock } from "node:test";
import { createWatchCache, init } from "watchcache";
import { memorySource } from "watchcache/memory";
import { turned } from "./clock.mjs";
import { pod } from "./pod.mjs";

const real = { setTimeout };
/** Lets the host have its turns: finalizers run in tasks of their own. */
export const turns = async (count = 10) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => real.setTimeout.call(globalThis, resolve, 1));
};

/** Timers that are armed now, as the clock of the test has them. */
function timers() {
  const armed = new Set();
  const { setTimeout: set, clearTimeout: clear, setInterval: setEvery, clearInterval: clearEvery } = globalThis;
  globalThis.setTimeout = (call, ...rest) => {
    const id = set(
      () => {
        armed.delete(id);
        call();
      },
      ...rest,
    );
    armed.add(id);
    return id;
  };
  globalThis.clearTimeout = (id) => {
    armed.delete(id);
    clear(id);
  };
  globalThis.setInterval = (...given) => {
    const id = setEvery(...given);
    armed.add(id);
    return id;
  };
  globalThis.clearInterval = (id) => {
    armed.delete(id);
    clearEvery(id);
  };
  return armed;
}

/** Moves the clock in small steps, with the host's turns between. */
export async function pass(ms, step = 500) {
  for (let passed = 0; passed < ms; passed += step) {
    mock.timers.tick(Math.min(step, ms - passed));
    await turns(1);
  }
}

const PHASES = ["Running", "Pending", "Failed"];
export const LINGER = 1_000;

/** What one user does: everything that a dashboard does with a handle, and nothing is closed that a component would not close. */
async function mount(cache, source, i, also) {
  const pods = cache.resource({ source, id: "pods" });
  // Filters typed letter by letter, each a new view.
  const text = `app=web${i}x`;
  for (let letters = 5; letters <= text.length; letters++) pods.view({ labelSelector: text.slice(0, letters) }).getSnapshot();
  // A component: StrictMode subscribes twice.
  const view = pods.view({
    fieldSelector: `status.phase=${PHASES[i % 3]}`,
    window: { offset: i % 5, limit: 3 },
    orderBy: [{ path: "metadata.name" }],
  });
  view.subscribe(() => {})();
  const controller = new AbortController();
  const off = view.subscribe(() => void view.rows.length, { signal: controller.signal });
  view.setWindow({ offset: 0, limit: 1 + (i % 4) });
  const watch = pods.watch({ labelSelector: text });
  void watch.next();
  const handled = pods.informer();
  handled.addEventHandler({ onAdd() {} }, { labelSelector: text });
  // A filter box over an informer, reads by index, an informer that is made and never started, a resource that is only named.
  handled.list(text);
  handled.byIndex("namespace", `ns-${i}`);
  pods.byIndex("namespace", `ns-${i}`);
  pods.peek(`ns-${i % 7}/p-${i % 7}`);
  pods.informer({ start: false });
  cache.resource({ source, id: `route-${i}` });
  if (i % 10 === 0) cache.resource({ source: memorySource({ objects: [pod("a/x")] }), id: `other-${i}` }).resume();
  const leave = also?.(i, pods, handled);
  await turns(1);
  // The route changes.
  leave?.();
  off();
  controller.abort();
  watch.stop();
  handled.stop();
}

/** A cache on a synced resource of 50 pods. `mounts(count)` is the session, `close` gives the clock back. */
export async function openSession(options = {}) {
  await init();
  const back = turned({ timers: ["setTimeout", "setInterval"] });
  const [set, clear, every, clearEvery] = [setTimeout, clearTimeout, setInterval, clearInterval];
  const armed = timers();
  const upstream = memorySource({ objects: Array.from({ length: 50 }, (_, i) => pod(`ns-${i % 7}/p-${i}`, { phase: PHASES[i % 3] })) });
  const cache = createWatchCache({
    flush: "microtask",
    linger: LINGER,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    ...options,
  });
  const pods = () => cache.resource({ source: upstream, id: "pods" });
  /** Until the resource is synced, as it is again after it was let go. */
  async function sync() {
    const synced = pods().synced();
    await pass(2_000);
    await synced;
  }
  return {
    cache,
    upstream,
    armed,
    pods,
    sync,
    /** @param also what each does besides; it may return what it does when the route changes */
    async mounts(count, from = 0, also) {
      for (let i = 0; i < count; i++) await mount(cache, upstream, from + i, also);
    },
    /** Nobody uses anything, and what lingers is over. */
    linger: () => pass(3 * LINGER),
    /** The five minutes after which nothing is kept any more. */
    async fiveMinutes() {
      await pass(400_000, 10_000);
      await pass(3 * LINGER);
    },
    close() {
      Object.assign(globalThis, { setTimeout: set, clearTimeout: clear, setInterval: every, clearInterval: clearEvery });
      back();
    },
  };
}
