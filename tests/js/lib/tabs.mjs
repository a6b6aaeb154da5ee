/**
 * Caches that are tabs of one worker, which runs beside them.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createWatchCache } from "watchcache";
import { startServer } from "../../../www/server/index.mjs";
import { eventually } from "../../e2e/cache.mjs";
import { hub, portTo } from "../../e2e/shared.mjs";

export const shared = { mode: "shared", identity: "jane" };

/** Has the host have this in place of its own, until the test ends. */
export function instead(t, name, value) {
  const own = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true });
  t.after(() => (own ? Object.defineProperty(globalThis, name, own) : Reflect.deleteProperty(globalThis, name)));
}

/** Closes with its test. */
export function opened(t, options, create = createWatchCache) {
  const warned = [];
  const cache = create({ logger: { ...console, warn: (text) => warned.push(text) }, ...options });
  t.after(() => cache.close());
  return { cache, warned, pods: cache.resource("pods") };
}

/** Opens tabs behind one worker. Each is asked for its token by name, and the server takes `good` alone. */
export async function tabsOf(t, options, own) {
  const server = await startServer({ port: 0, pods: 3, rate: 0, tokens: ["good"] });
  t.after(() => server.close());
  const [worker, asked, refusals] = [hub(own), [], []];
  const listens = (resource) => {
    const refused = () => resource.status.error?.code === "unauthorized" && refusals.push(resource.status.phase);
    for (const type of ["error", "status"]) resource.addEventListener(type, refused);
    t.after(resource.view().subscribe(() => {}));
    return resource;
  };
  const open = (name, token = () => name) => {
    const auth = async (...given) => (asked.push(given.length === 0 ? name : `${name} with ${given}`), { token: await token() });
    const { cache } = opened(t, { ...shared, server: server.url, worker: () => portTo(worker), auth, ...options });
    return { cache, use: (name) => listens(cache.resource(name)) };
  };
  return { server, asked, refusals, open };
}

/** Where it waits for ever, that is a failure and no hang. */
export async function isSynced(resource) {
  resource.synced().catch(() => {});
  await eventually(() => resource.hasSynced, `${resource.name} is synced`);
}

/** The key of one of them. A view that is read shows what it has found so far, which may be nothing on a busy machine. */
export async function keyOf(resource) {
  const [{ metadata }] = (await resource.list({ resourceVersion: "0", limit: 1 })).items;
  return `${metadata.namespace}/${metadata.name}`;
}

/** Nobody is asked any more. */
export async function isQuiet(asked) {
  for (let before = -1; before !== asked.length; await sleep(100)) before = asked.length;
}

/** How long a tab that does not answer is waited for: at first, and once it is known for that. */
export const [FIRST_MS, LATER_MS] = [10_000, 1_000];

/** Whether a timer that is set right now waits for a tab's answer. Others wait as long for something else, in the same file. */
export const waitsForAnswer = (ms) => (ms === FIRST_MS || ms === LATER_MS) && new Error().stack?.includes("#ask");

/**
 * Two tabs, of which the newer one answers no more until it `thaws`. What one of them `gets` shows who was asked, and which waits were in vain.
 * Those of a tab that is `asleep` end at once, and no others: a machine that is slow freezes nobody.
 */
export async function besideFrozen(t) {
  const [set, clear] = [globalThis.setTimeout, globalThis.clearTimeout];
  const waits = new Map();
  t.mock.method(globalThis, "setTimeout", (call, ms, ...rest) => {
    const timer = set(call, ms, ...rest);
    if (waitsForAnswer(ms)) waits.set(timer, { call, ms });
    return timer;
  });
  t.mock.method(globalThis, "clearTimeout", (timer) => (waits.delete(timer), clear(timer)));
  const inVain = [];
  const passes = () => {
    for (const [timer, { call, ms }] of [...waits]) {
      clearTimeout(timer);
      inVain.push(ms);
      call();
    }
  };
  const asleep = (answer) => () => (setImmediate(passes), answer);
  const { asked, open } = await tabsOf(t);
  const tokens = { awake: () => "good", frozen: () => "good" };
  const [awake, frozen] = ["awake", "frozen"].map((name) => open(name, () => tokens[name]()));
  for (const { use } of [awake, frozen]) await isSynced(use("pods"));
  await isSynced(frozen.use("nodes"));
  let thaws;
  tokens.frozen = asleep(new Promise((resolve) => (thaws = () => resolve((tokens.frozen = () => "good")()))));
  const key = await keyOf(awake.cache.resource("pods"));
  const gets = async ({ cache }) => {
    for (const seen of [asked, inVain]) seen.length = 0;
    const got = await cache
      .resource("pods")
      .get(key)
      .then(
        () => "got",
        (error) => error.code,
      );
    return [got, ...asked, ...inVain];
  };
  return { open, tokens, awake, frozen, gets, asleep, passes, thaws };
}
