import { indexes } from "../indexes/options.js";
import { grammar, scope } from "../options/grammar.js";
import { callback, flag, is, type Kind, invalid, list, number, period, signal, whole, word } from "../options/kinds.js";
import { type Bag, bag } from "../options/read.js";
import { DEFAULT_MIN_EVENTS, MAX_GROWTH, MAX_WAIT_MS, MIN_FRESH_MS } from "../wire/bounds.js";
import type { InformerFactoryOptions } from "./informer-factory-types.js";
import type { WatchCacheOptions } from "./options-types.js";

/** The wait between two tries: no wait makes a loop, and one without end is no try. */
const pause = number(1, MAX_WAIT_MS);
const sizes = bag({ minMs: number(MIN_FRESH_MS), minEvents: whole(1), maxEvents: whole(1), maxBytes: period });
/** The bounds of the event window. The core has the same rules, in the same words, but a cache is made before the core is there. */
const history: Kind = (value, name) => {
  const bounds = sizes(value, name);
  const { minEvents = DEFAULT_MIN_EVENTS, maxEvents = minEvents } = bounds;
  if (maxEvents < minEvents) throw invalid(`${name}.maxEvents, ${maxEvents}, is below minEvents, ${minEvents}`);
  return bounds;
};

const filled = is("text that is not empty", (value) => typeof value === "string" && value !== "");

export const CACHE: Bag<WatchCacheOptions> = {
  server: is("a URL or its text", (value) => value !== "" && (typeof value === "string" || typeof value?.href === "string")),
  transport: word("auto", "websocket", "fetch"),
  auth: callback,
  fetch: callback,
  WebSocket: callback,
  credentials: word("omit", "same-origin", "include"),
  strip: list(grammar),
  trigger: grammar,
  indexes,
  history,
  memory: bag({ maxBytes: period }),
  pageSize: whole(1),
  watchList: flag,
  linger: period,
  idleTimeout: number(1),
  retry: bag({ initialMs: pause, factor: number(1, MAX_GROWTH), capMs: pause, jitter: number(0, MAX_GROWTH), resetAfterMs: period }),
  flush: word("frame", "microtask"),
  debug: flag,
  checkConsistency: flag,
  logger: is("an object with the methods of console", (value) => [value?.warn, value?.error].every((log) => typeof log === "function")),
  signal,
  mode: word("inline", "worker", "shared"),
  identity: filled,
  persist: bag({ resources: list(filled), maxBytes: period, maxAgeMs: period }),
  worker: is(
    "a URL, its text, or a function",
    (value) => value !== "" && (["string", "function"].includes(typeof value) || typeof value?.href === "string"),
  ),
};
export const FACTORY: Bag<InformerFactoryOptions> = { ...scope, resyncPeriod: period, transform: callback, onWatchError: callback };

export const cache = is("a WatchCache", (value) => typeof value?.resource === "function");
