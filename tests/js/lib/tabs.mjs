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

/** Nobody is asked any more. */
export async function isQuiet(asked) {
  for (let before = -1; before !== asked.length; await sleep(100)) before = asked.length;
}
