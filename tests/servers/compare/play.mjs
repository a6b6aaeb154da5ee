/**
 * Plays a trace: writes to the server, asks both sides the same, and compares.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Api, compareVersions } from "../../e2e/wire.mjs";
import { KINDS, NAMES, NAMESPACES, Place } from "./resources.mjs";
import { compareAnswers, compareWatches, isNarrowed } from "./rules.mjs";
import { Ours, Server } from "./sides.mjs";

/** @typedef {import("./generate.mjs").Trace} Trace */
/** @typedef {import("./generate.mjs").Step} Step */
/** @typedef {import("./sides.mjs").Request} Request */

/** Longest wait for streams to agree, in milliseconds: above the 3 s after which a version in the future is given up. */
const PATIENCE = 3_500;

/** Whether a watch that marks the end of its initial events has come so far. @param {Request} request @param {import("./sides.mjs").Seen} seen */
function hasStated({ initial, bookmarks }, { events, refused, ended }) {
  if (initial !== true || bookmarks !== true) return true;
  return refused !== undefined || ended || events.some((event) => event.initialEnd || event.error);
}

/** How long a watch that agrees is given to say something more before it is ended, in milliseconds. */
const AFTERTHOUGHT = 20;

/**
 * @typedef {object} Difference
 * @property {number} step id of the request
 * @property {Request} request as the package was asked
 * @property {string[]} differences
 */

/** What a comparison counts. */
export class Counts {
  requests = { list: 0, page: 0, get: 0, watch: 0 };
  equal = 0;
  skipped = 0;
  writes = 0;
  events = 0;
  /** Requests that needed a rule, by rule; one request may need several. @type {Record<string, number>} */
  excepted = {};

  /** @param {Counts} other */
  add(other) {
    for (const step of /** @type {const} */ (["list", "page", "get", "watch"])) this.requests[step] += other.requests[step];
    for (const field of /** @type {const} */ (["equal", "skipped", "writes", "events"])) this[field] += other[field];
    for (const [name, count] of Object.entries(other.excepted)) this.excepted[name] = (this.excepted[name] ?? 0) + count;
  }

  get total() {
    return Object.values(this.requests).reduce((sum, count) => sum + count, 0);
  }

  toString() {
    const { list, page, get, watch } = this.requests;
    const lines = [
      `${this.total} requests compared (${list} lists, ${page} pages, ${get} gets, ${watch} watches with ${this.events} events) over ${this.writes} writes`,
      `${this.equal} equal to the last field; ${this.skipped} pages had nothing to go on from`,
      ...Object.entries(this.excepted).map(([name, count]) => `${count} compared by rule: ${name}`),
    ];
    return lines.join("\n");
  }
}

let counter = 0;

/** One run of a trace. */
class Play {
  counts = new Counts();
  /** @type {Difference[]} */
  differences = [];
  /** Versions of the writes, by id. @type {Map<number, string>} */
  #versions = new Map();
  /** Answers of lists and pages, by id. @type {Map<number, Promise<{ server: any, ours: any } | undefined>>} */
  #answers = new Map();
  /** @type {Map<number, { request: Request, server: import("./sides.mjs").Seen, ours: import("./sides.mjs").Seen, context: any }>} */
  #watches = new Map();
  /** The server's own stream of each kind: tells the version of a deletion, and that a write has reached the cache. @type {Map<string, import("../../e2e/wire.mjs").WireWatch>} */
  #streams = new Map();
  /** Newest version written, by kind. @type {Map<string, string>} */
  #written = new Map();
  /** @type {Ours | undefined} */
  #ours;

  /** @param {import("../harness/cluster.mjs").Cluster} cluster @param {Trace} trace @param {{ tamper?: import("./sides.mjs").Tamper, patience?: number }} options */
  constructor(cluster, trace, { tamper, patience = PATIENCE }) {
    this.cluster = cluster;
    this.trace = trace;
    this.tamper = tamper;
    this.patience = patience;
    this.place = new Place(`compare-${process.pid}-${counter++}`);
    this.api = new Api(cluster.url, cluster.tokens.admin);
    this.server = new Server(this.api);
  }

  async run() {
    try {
      for (let i = 0; i < NAMESPACES.length; i++) {
        await this.api.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: this.place.namespace(i) } });
      }
      await this.#follow();
      const { steps } = this.trace;
      for (let i = 0; i < steps.length;) {
        let end = i + 1;
        if (asks(steps[i])) while (end < steps.length && asks(steps[end])) end++;
        if (end > i + 1 || asks(steps[i])) await this.#together(steps.slice(i, end));
        else await this.#alone(steps[i]);
        i = end;
      }
      await this.#synced();
      for (const id of [...this.#watches.keys()]) await this.#end(id);
    } finally {
      await this.#ours?.close();
      for (const stream of this.#streams.values()) stream.stop();
      await this.#clear();
    }
    return { counts: this.counts, differences: this.differences };
  }

  /** @param {Step} step */
  async #alone(step) {
    if (step.step === "write") await this.#write(step);
    else if (step.step === "open") {
      const { url, tokens } = this.cluster;
      this.#ours = await Ours.open({ url, token: tokens.admin, window: this.trace.window, tamper: this.tamper });
    } else if (step.step === "restart") {
      await this.cluster.killAndRestartApiServer();
      await this.#follow();
    } else if (step.step === "compact") await this.cluster.compact();
    else if (step.step === "end") {
      await this.#synced();
      await this.#end(step.of);
    }
  }

  /** Opens the server's own streams anew. */
  async #follow() {
    for (const [resource] of Object.entries(KINDS)) {
      this.#streams.get(resource)?.stop();
      const stream = this.api.watch(`/api/v1/${resource}`, {
        resourceVersion: "0",
        sendInitialEvents: false,
        resourceVersionMatch: "NotOlderThan",
      });
      this.#streams.set(resource, await stream.opened());
    }
  }

  /** @param {import("./generate.mjs").Write} write */
  async #write({ id, verb, kind: resource, namespace, name: index, body, status }) {
    const kind = KINDS[resource];
    const collection = this.place.collection(kind, namespace);
    const name = this.place.name(kind, index);
    const path = `${collection}/${name}`;
    const stream = /** @type {import("../../e2e/wire.mjs").WireWatch} */ (this.#streams.get(resource));
    const before = stream.events.length;
    const merge = { "content-type": "application/merge-patch+json" };
    const answer = await (verb === "create"
      ? this.api.request("POST", collection, { body: { apiVersion: "v1", kind: kind.kind, ...body, metadata: { name, ...body.metadata } } })
      : verb === "delete"
        ? this.api.request("DELETE", path, { body: { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 } })
        : this.api.request("PATCH", status ? `${path}/status` : path, { body, headers: merge }));
    // After a step is left out, later steps may have no object to change.
    if (answer.status === 404 || answer.status === 409) return;
    if (answer.status > 299) throw new Error(`${verb} ${path}: ${answer.status} ${answer.text}`);
    let version = answer.body.metadata.resourceVersion;
    const here = (/** @type {any} */ e) =>
      e.object.metadata.name === name &&
      e.object.metadata.namespace === (kind.namespaced ? this.place.namespace(Number(namespace)) : undefined);
    if (verb === "delete") {
      await stream.until(() => stream.events.slice(before).some((e) => e.type === "DELETED" && here(e)), `the deletion of ${path}`);
      version = stream.events.slice(before).find((e) => e.type === "DELETED" && here(e))?.object.metadata.resourceVersion;
    } else {
      const known = this.#written.get(resource) ?? "0";
      if (compareVersions(version, known) > 0) {
        await stream.until(
          () => stream.events.slice(before).some((e) => here(e) && e.object.metadata.resourceVersion === version),
          `the event of ${path}`,
        );
      }
    }
    this.counts.writes++;
    this.#versions.set(id, version);
    if (compareVersions(version, this.#written.get(resource) ?? "0") > 0) this.#written.set(resource, version);
  }

  /** Waits until the package's streams have brought everything that was written. */
  async #synced() {
    const ours = this.#ours;
    if (!ours) return;
    const deadline = Date.now() + 10_000;
    for (const [kind, version] of this.#written) {
      while (compareVersions(ours.version(kind), version) < 0) {
        if (Date.now() > deadline)
          throw new Error(`the package's stream of ${kind} did not reach ${version}; it is at ${ours.version(kind)}`);
        await sleep(1);
      }
    }
  }

  /** Requests with no write between them: all at once. @param {Step[]} steps */
  async #together(steps) {
    if (!this.#ours) return;
    await this.#synced();
    const opening = [];
    for (const step of steps) if (step.step === "watch") opening.push(this.#watch(step));
    await Promise.all(opening);
    const asking = [];
    for (const step of steps) if (step.step === "list" || step.step === "page" || step.step === "get") asking.push(this.#ask(step));
    await Promise.all(asking);
    // Before the next write, so that both have captured the same state.
    for (const step of steps) if (step.step === "watch") await this.#settled(step.id);
  }

  /** @param {import("./generate.mjs").VersionName | undefined} name */
  #version(name = {}) {
    if (name.text !== undefined) return name.text;
    const written = [...this.#versions].filter(([id]) => name.ahead !== undefined || id <= Number(name.write));
    if (name.write === undefined && name.ahead === undefined) return undefined;
    const version = written.at(-1)?.[1] ?? "1";
    return String(BigInt(version) + BigInt(name.plus ?? name.ahead ?? 0));
  }

  /** @param {import("./generate.mjs").Ask | import("./generate.mjs").Watch} step @returns {Request} */
  #request(step) {
    const kind = KINDS[step.kind];
    const { namespace, version, ...rest } = step;
    /** @type {any} */
    const request = { step: step.step, kind };
    if (kind.namespaced && namespace !== undefined) request.namespace = this.place.namespace(namespace);
    if ("name" in rest && rest.name !== undefined) request.name = this.place.name(kind, rest.name);
    for (const field of ["labelSelector", "fieldSelector"]) {
      const text = this.place.selector(kind, /** @type {any} */ (rest)[field]);
      if (text !== undefined) request[field] = text;
    }
    const resolved = this.#version(version);
    if (resolved !== undefined) request.version = resolved;
    for (const field of ["match", "limit", "initial", "bookmarks", "timeout"]) {
      if (/** @type {any} */ (rest)[field] !== undefined) request[field] = /** @type {any} */ (rest)[field];
    }
    return request;
  }

  /** @param {import("./generate.mjs").Ask} step */
  async #ask(step) {
    let settle = (/** @type {any} */ _) => {};
    this.#answers.set(step.id, new Promise((resolve) => (settle = resolve)));
    const ours = /** @type {Ours} */ (this.#ours);
    const [toServer, toOurs] = [this.#request(step), this.#request(step)];
    if (step.step === "page") {
      const before = await this.#answers.get(Number(step.of));
      const own = [before?.server.continue, before?.ours.continue];
      const tokens = step.text !== undefined ? [step.text, step.text] : step.token === "other" ? own.reverse() : own;
      if (tokens.some((token) => token === undefined) || (step.text === undefined && isNarrowed(toServer))) {
        this.counts.skipped++;
        settle(undefined);
        return;
      }
      [toServer.continue, toOurs.continue] = tokens;
    }
    const [server, own] = await Promise.all([this.server.ask(toServer), ours.ask(toOurs)]);
    settle({ server, ours: own });
    this.counts.requests[step.step]++;
    this.#count(step.id, toOurs, compareAnswers(toServer, server, toOurs, own, this.#context(step.kind)));
  }

  /** @param {string} kind */
  #context(kind) {
    const ours = /** @type {Ours} */ (this.#ours);
    return { reached: ours.version(kind), windowFrom: ours.windowFrom(kind) };
  }

  /** @param {import("./generate.mjs").Watch} step */
  async #watch(step) {
    const request = this.#request(step);
    const context = this.#context(step.kind);
    const ours = /** @type {Ours} */ (this.#ours).watch(request);
    this.#watches.set(step.id, { request, server: await this.server.watch(request), ours, context });
    this.counts.requests.watch++;
  }

  /** Waits until both sides of a watch agree, or patience ends. @param {number} id */
  async #settled(id) {
    const watch = this.#watches.get(id);
    if (!watch) return undefined;
    const { request, server, ours, context } = watch;
    for (const deadline = Date.now() + this.patience; ; await sleep(3)) {
      const verdict = compareWatches(request, server, ours, context);
      const over = request.timeout === undefined || (server.ended && ours.ended);
      // Two sides that have said nothing yet agree as well. A write at that moment would come before the state of one and after that of the
      // other.
      const stated = hasStated(request, server) && hasStated(request, ours);
      if (verdict.equal && !stated && Date.now() <= deadline) continue;
      if ((verdict.equal && over) || Date.now() > deadline) return verdict;
      // With a deadline, agreement so far is enough: it may still be running.
      if (verdict.equal && Date.now() > deadline - this.patience + AFTERTHOUGHT) return verdict;
    }
  }

  /** Compares a watch for good and ends it. @param {number} id */
  async #end(id) {
    const watch = this.#watches.get(id);
    if (!watch) return;
    await this.#settled(id);
    await sleep(AFTERTHOUGHT);
    const { request, server, ours, context } = watch;
    const verdict = compareWatches(request, server, ours, context);
    this.counts.events += ours.events.length;
    this.#count(id, request, verdict);
    this.#watches.delete(id);
    await server.stop();
    await ours.stop();
  }

  /** @param {number} step @param {Request} request @param {import("./rules.mjs").Verdict} verdict */
  #count(step, request, verdict) {
    if (!verdict.equal) this.differences.push({ step, request, differences: verdict.differences });
    else if (verdict.exceptions.size === 0) this.counts.equal++;
    for (const name of verdict.exceptions) this.counts.excepted[name] = (this.counts.excepted[name] ?? 0) + 1;
  }

  /** Removes what was written, so that lists of every namespace stay short. */
  async #clear() {
    const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 };
    for (const kind of Object.values(KINDS)) {
      if (kind.namespaced) {
        for (let i = 0; i < NAMESPACES.length; i++) await this.api.request("DELETE", this.place.collection(kind, i), { body });
      } else
        for (let i = 0; i < NAMES.length; i++)
          await this.api.request("DELETE", `/api/v1/${kind.resource}/${this.place.name(kind, i)}`, { body });
    }
  }
}

/** @param {Step} step */
function asks(step) {
  return step.step === "list" || step.step === "page" || step.step === "get" || step.step === "watch";
}

/**
 * Plays a trace on names of its own.
 * @param {import("../harness/cluster.mjs").Cluster} cluster @param {Trace} trace @param {{ tamper?: import("./sides.mjs").Tamper, patience?: number }} [options] `patience`: milliseconds that streams have to agree
 */
export function play(cluster, trace, options = {}) {
  return new Play(cluster, trace, options).run();
}
