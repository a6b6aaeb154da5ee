// Faults on command: everything that happens to a stream in the wild, at the moment somebody asks for it.
import { encodeJson } from "./json.mjs";
import { badRequest, StatusError, tooManyRequests, unavailable } from "./status.mjs";
import { findResourceByName } from "./resources.mjs";
import { timestamp } from "./time.mjs";

/**
 * An open watch, as faults see it.
 * @typedef {object} Stream
 * @property {"websocket" | "http"} transport
 * @property {string} resource
 * @property {string} namespace
 * @property {(options: { midFrame?: boolean }) => void} drop
 * @property {(ms: number) => void} freeze
 * @property {() => void} [unfreeze]
 * @property {(frame: Buffer) => void} [inject] sends bytes as one frame; absent where frames are only passed on
 * @property {import("./watch.mjs").Watcher | import("./front-watch.mjs").FrontWatcher} [watcher]
 */

/**
 * @typedef {object} Active
 * @property {Record<string, any>} options
 * @property {number} until milliseconds of performance.now(); Infinity: until cleared
 * @property {number} requests how many requests it still hits
 */

/** Which streams or requests a fault hits; empty: all of them. */
const MATCH = { resource: "", namespace: "", transport: "" };
/** How long a fault stays: for some time or for some requests, whatever ends first. 0: not limited so. */
const SPAN = { ms: 0, requests: 0 };

/**
 * Every fault with its options and their defaults. `proxied`: works on sockets alone, so it works before a real cluster, too.
 * @type {Record<string, { proxied: boolean, options: Record<string, string | number | boolean> }>}
 */
export const FAULTS = {
  drop: { proxied: true, options: { ...MATCH, count: 0, midFrame: false } },
  freeze: { proxied: true, options: { ...MATCH, count: 0, ms: 0 } },
  expire: { proxied: false, options: { drop: true } },
  status: { proxied: true, options: { ...SPAN, resource: "", on: "all", code: 503, retryAfterSeconds: 1, plain: false } },
  refuseUpgrade: { proxied: true, options: { ...SPAN, resource: "", code: 503 } },
  staleReplica: { proxied: false, options: { ms: 10_000, behind: 100 } },
  slowPages: { proxied: false, options: { ...SPAN, resource: "", pageMs: 1_000, chunks: 10 } },
  badFrame: { proxied: false, options: { ...MATCH, count: 0, how: "json" } },
  htmlErrorPage: { proxied: true, options: { ...SPAN, resource: "", on: "list", code: 200 } },
  unknownType: { proxied: false, options: { ...MATCH, count: 0 } },
  noVersion: { proxied: false, options: { ...MATCH, count: 0 } },
  bigObject: { proxied: false, options: { resource: "pods", namespace: "default", bytes: 10 * 1024 * 1024, ms: 0 } },
  outOfOrder: { proxied: false, options: { ...MATCH, count: 0 } },
};

const CHOICES = /** @type {Record<string, readonly string[]>} */ ({
  on: ["list", "watch", "all"],
  how: ["json", "utf8"],
  transport: ["", "websocket", "http"],
});
const LASTING = new Set(["status", "refuseUpgrade", "staleReplica", "slowPages", "htmlErrorPage"]);

/** The switchboard. */
export class Faults {
  /** @param {import("./store.mjs").Store | undefined} store undefined before a proxied cluster */
  constructor(store) {
    this.store = store;
    /** @type {Set<Stream>} */
    this.streams = new Set();
    /** @type {Map<string, Active>} */
    this.active = new Map();
    /** Big objects that are to go again. @type {{ table: import("./store.mjs").Table, key: string, timer?: NodeJS.Timeout }[]} */
    this.litter = [];
    /** @type {Record<string, number>} */
    this.counts = {};
    /** @type {NodeJS.Timeout | undefined} */
    this.nudge = undefined;
  }

  /**
   * Does what a name says.
   * @param {string} name one of {@link FAULTS}, or "clear"
   * @param {unknown} [given] options; what is left out has its default
   * @returns {{ fault: string, options: Record<string, any>, affected: number }} `affected`: streams or objects hit at once
   * @throws {StatusError} 400 for an unknown option or a bad value, 404 for an unknown fault, 409 where it needs a server of ours
   */
  trigger(name, given = {}) {
    if (name === "clear") return { fault: name, options: {}, affected: this.clear() };
    const options = this.#options(name, given);
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    return { fault: name, options, affected: this.#start(name, options) };
  }

  /** @param {string} name @param {unknown} given */
  #options(name, given) {
    const known = Object.hasOwn(FAULTS, name) ? FAULTS[name] : undefined;
    if (!known)
      throw new StatusError(404, "NotFound", `no fault is called "${name}"; there are ${Object.keys(FAULTS).join(", ")} and clear`);
    if (!known.proxied && !this.store)
      throw new StatusError(409, "Conflict", `the fault "${name}" needs the embedded server, and this one only forwards to another`);
    if (typeof given !== "object" || given === null || Array.isArray(given)) throw badRequest("options of a fault are a JSON object");
    for (const [option, value] of Object.entries(given)) {
      if (!Object.hasOwn(known.options, option))
        throw badRequest(`the fault "${name}" has no option "${option}"; it has ${Object.keys(known.options).join(", ")}`);
      if (typeof value !== typeof known.options[option])
        throw badRequest(`the option "${option}" of the fault "${name}" is a ${typeof known.options[option]}`);
      if (typeof value === "number" && !(value >= 0)) throw badRequest(`the option "${option}" of the fault "${name}" is not negative`);
      if (CHOICES[option] && !CHOICES[option].includes(String(value)))
        throw badRequest(`the option "${option}" of the fault "${name}" is one of ${CHOICES[option].join(", ")}`);
    }
    return { ...known.options, ...given };
  }

  /** @param {string} name @param {Record<string, any>} options @returns {number} */
  #start(name, options) {
    if (LASTING.has(name)) return this.#last(name, options);
    switch (name) {
      case "drop":
        return this.#each(options, (stream) => stream.drop({ midFrame: options.midFrame }));
      case "freeze":
        return this.#each(options, (stream) => stream.freeze(options.ms || Infinity));
      case "expire":
        this.store?.compact();
        return options.drop ? this.#each({ ...MATCH, count: 0 }, (stream) => stream.drop({})) : 0;
      case "bigObject":
        return this.#bigObject(options);
      default:
        return this.#each(options, (stream) => {
          const frame = stream.inject && stream.watcher && strangeFrame(name, options, stream.watcher);
          if (frame) stream.inject?.(frame);
        });
    }
  }

  /** @param {Record<string, any>} options @param {(stream: Stream) => void} action */
  #each(options, action) {
    let affected = 0;
    for (const stream of [...this.streams]) {
      if (options.count > 0 && affected === options.count) break;
      if (options.resource && stream.resource !== options.resource) continue;
      if (options.namespace && stream.namespace !== options.namespace) continue;
      if (options.transport && stream.transport !== options.transport) continue;
      action(stream);
      affected += 1;
    }
    return affected;
  }

  /** @param {string} name @param {Record<string, any>} options */
  #last(name, options) {
    const until = options.ms > 0 ? performance.now() + options.ms : Infinity;
    this.active.set(name, { options, until, requests: options.requests > 0 ? options.requests : Infinity });
    if (name === "staleReplica") {
      clearTimeout(this.nudge);
      // The replica catches up at the end: whoever watches it must be told, for no event may come by itself.
      if (options.ms > 0) this.nudge = setTimeout(() => this.#catchUp(), options.ms + 1);
    }
    return 0;
  }

  #catchUp() {
    this.store?.changed();
    for (const stream of this.streams) stream.watcher?.schedule();
  }

  /** @param {Record<string, any>} options */
  #bigObject({ resource, namespace, bytes, ms }) {
    const definition = findResourceByName(resource);
    if (!definition || !this.store) throw badRequest(`there is no resource "${resource}"`);
    const table = this.store.table(definition);
    const name = `big-object-${this.store.revision + 1}`;
    const metadata = {
      name,
      ...(definition.namespaced ? { namespace } : {}),
      uid: crypto.randomUUID(),
      creationTimestamp: timestamp(Date.now()),
      annotations: { padding: "x".repeat(bytes) },
    };
    const spec = resource === "pods" ? { spec: { containers: [] }, status: { phase: "Pending" } } : {};
    const { key } = table.put({ metadata, ...spec });
    /** @type {{ table: import("./store.mjs").Table, key: string, timer?: NodeJS.Timeout }} */
    const left = { table, key };
    if (ms > 0) left.timer = setTimeout(() => this.#tidy(left), ms).unref();
    this.litter.push(left);
    return 1;
  }

  /** @param {{ table: import("./store.mjs").Table, key: string, timer?: NodeJS.Timeout }} left */
  #tidy(left) {
    clearTimeout(left.timer);
    left.table.remove(left.key);
    this.litter = this.litter.filter((other) => other !== left);
  }

  /** Ends all faults: frozen streams move on, big objects are deleted. */
  clear() {
    const affected = this.active.size + this.litter.length;
    this.active.clear();
    clearTimeout(this.nudge);
    for (const left of [...this.litter]) this.#tidy(left);
    for (const stream of this.streams) stream.unfreeze?.();
    this.#catchUp();
    return affected;
  }

  /**
   * The fault of a name, if it is on and means this request. Asking counts as one request.
   * @param {string} name @param {{ verb?: "list" | "watch", resource?: string }} [request]
   * @returns {Record<string, any> | undefined} its options
   */
  take(name, { verb, resource } = {}) {
    const fault = this.#current(name);
    if (!fault) return undefined;
    const { on, resource: only } = fault.options;
    if (on && on !== "all" && verb && on !== verb) return undefined;
    if (only && resource !== only) return undefined;
    fault.requests -= 1;
    if (fault.requests <= 0) this.active.delete(name);
    return fault.options;
  }

  /**
   * What is to be answered instead of what was asked for, if a fault says so.
   * @param {{ verb: "list" | "watch", resource: string, upgrade?: boolean }} request `upgrade`: a WebSocket is asked for
   * @returns {{ code: number, type: string, body: string, headers: Record<string, string> } | undefined}
   */
  answer({ upgrade = false, ...request }) {
    const page = this.take("htmlErrorPage", request);
    if (page) return { code: page.code, type: "text/html", body: HTML_PAGE, headers: {} };
    const refused = (upgrade ? this.take("refuseUpgrade", request) : undefined) ?? this.take("status", request);
    if (!refused) return undefined;
    if (refused.plain) {
      const headers = { "retry-after": String(refused.retryAfterSeconds) };
      return { code: refused.code, type: "text/plain; charset=utf-8", body: TOO_MANY_REQUESTS_TEXT, headers };
    }
    const error = refusal(refused);
    return { code: error.code, type: "application/json", body: `${encodeJson(error.toStatus())}\n`, headers: error.headers() };
  }

  /** @param {string} name */
  #current(name) {
    const fault = this.active.get(name);
    if (fault && performance.now() >= fault.until) {
      this.active.delete(name);
      return undefined;
    }
    return fault;
  }

  /** Whether new readers see a state that is behind. */
  get isBehind() {
    return this.#current("staleReplica") !== undefined;
  }

  /**
   * What a new reader of a table may see: everything, or, of a replica that is behind, less, for as long as the fault lasts.
   * @param {import("./store.mjs").Table} table
   * @returns {() => number}
   */
  visible(table) {
    const fault = this.#current("staleReplica");
    if (!fault) return () => table.store.revision;
    return () =>
      this.#current("staleReplica") === fault
        ? Math.max(table.store.revision - fault.options.behind, table.window.oldest)
        : table.store.revision;
  }

  /** What is on. */
  report() {
    const now = performance.now();
    /** @type {Record<string, unknown>} */
    const on = {};
    for (const name of [...this.active.keys()]) {
      const fault = this.#current(name);
      if (!fault) continue;
      on[name] = {
        ...fault.options,
        ...(Number.isFinite(fault.until) ? { leftMs: Math.round(fault.until - now) } : {}),
        ...(Number.isFinite(fault.requests) ? { leftRequests: fault.requests } : {}),
      };
    }
    return { on, counts: { ...this.counts } };
  }
}

/** @param {Record<string, any>} options of the fault "status" or "refuseUpgrade" @returns {StatusError} */
function refusal({ code, retryAfterSeconds = 0 }) {
  const details = retryAfterSeconds > 0 ? { retryAfterSeconds } : undefined;
  if (code === 429) return tooManyRequests("storage is (re)initializing", retryAfterSeconds);
  if (code === 503) return unavailable("the server is currently unable to handle the request", retryAfterSeconds);
  return new StatusError(code, REASONS[code] ?? "", `the server answers ${code} on command`, details);
}

const REASONS = /** @type {Record<number, string>} */ ({
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  410: "Expired",
  500: "InternalError",
  504: "Timeout",
});

const HTML_PAGE =
  "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>\n";
const TOO_MANY_REQUESTS_TEXT = "Too many requests, please try again later.\n";

/**
 * A frame that a sound server would not send.
 * @param {string} name @param {Record<string, any>} options @param {NonNullable<Stream["watcher"]>} watcher
 * @returns {Buffer | undefined} undefined when there is no object to make it of
 */
function strangeFrame(name, options, watcher) {
  if (name === "badFrame") {
    if (options.how === "json")
      return Buffer.from('{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"broken",}}\n');
    return Buffer.concat([
      Buffer.from('{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"broken-'),
      Buffer.from([0xff, 0xc3, 0x28]),
      Buffer.from('"}}}\n'),
    ]);
  }
  const [sample] = watcher.state(watcher.table.store.revision);
  if (!sample) return undefined;
  const object = sample.parse();
  if (name === "unknownType") return Buffer.from(`${JSON.stringify({ type: "RENAMED", object })}\n`);
  if (name === "noVersion") {
    delete object.metadata.resourceVersion;
    return Buffer.from(`${JSON.stringify({ type: "MODIFIED", object })}\n`);
  }
  return oldFrame(watcher) ?? sample.frame("MODIFIED");
}

/** The oldest event of the window that the watcher has seen go by. @param {NonNullable<Stream["watcher"]>} watcher */
function oldFrame(watcher) {
  const { window } = watcher.table;
  for (let position = window.first; position < Math.min(window.end, watcher.position); position += 1) {
    const { current } = window.at(position);
    if (current && watcher.matches(current)) return current.frame("MODIFIED");
  }
  return undefined;
}
