// The package, whose caches are behind a worker of their own each.
import * as real from "watchcache";
import { hub, portTo } from "../../e2e/shared.mjs";
import { addressOf } from "./handed.mjs";

export * from "watchcache";

const MODE = /** @type {"shared" | "worker"} */ (process.env.WATCHCACHE_MODE ?? "shared");

/** Whether it is an object that can be copied without asking it anything. */
function isPlain(value) {
  try {
    if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
    return Object.values(Object.getOwnPropertyDescriptors(value)).every((member) => "value" in member);
  } catch {
    return false;
  }
}

const METHODS = ["list", "watch", "get", "create", "update", "patch", "delete", "deleteCollection"];
/** A source that could be handed to a cache of this page. What could not is refused as it is. */
function isSource(source, polls) {
  try {
    const isMethod = (name) => typeof source[name] === "function";
    const { collection = {} } = source;
    return (
      isPlain(collection) &&
      isMethod("list") &&
      (polls || isMethod("watch")) &&
      METHODS.every((name) => source[name] === undefined || isMethod(name))
    );
  } catch {
    return false;
  }
}

/** What a cache is given instead, and which sources it has. */
function handed(spec, sources) {
  if (!isPlain(spec) || !isSource(spec.source, spec.poll !== undefined)) return spec;
  sources.add(spec.source);
  return { ...spec, source: addressOf(spec.source) };
}

const { setTimeout } = globalThis;
/** Until the worker has let go of them, which is later than its page. Others may have their streams. */
async function letGo(sources) {
  const isOpen = ({ streams }) => streams > 0;
  for (let waits = 0; waits < 50 && [...sources].some(isOpen); waits++) await new Promise((resolve) => setTimeout(resolve, 10));
}

export function createWatchCache(options = {}) {
  if (!isPlain(options) || options.mode !== undefined || options.worker !== undefined) return real.createWatchCache(options);
  const own = {};
  const { ...given } = options;
  // The worker's own, which no page can hand over.
  for (const name of ["fetch", "WebSocket"])
    if (typeof given[name] === "function") {
      own[name] = given[name];
      delete given[name];
    }
  if (own.WebSocket !== undefined) given.transport ??= "auto";
  const ender = new AbortController();
  // It ends with its page, so that its process does.
  const worker = hub({ linger: given.linger, ...own, signal: ender.signal });
  const open = () => {
    const port = portTo(worker);
    // Whoever listens next has it hold the process.
    queueMicrotask(() => port.unref());
    return port;
  };
  const cache = real.createWatchCache({ identity: "somebody", ...given, mode: MODE, worker: open });
  const { resource, close } = cache;
  const sources = new Set();
  const instead = {
    resource: (spec) => resource(handed(spec, sources)),
    close: () => close().then(() => (ender.abort(), letGo(sources))),
  };
  for (const [name, value] of Object.entries(instead)) Object.defineProperty(cache, name, { value, configurable: true, writable: true });
  return cache;
}
