/**
 * The two sides of a comparison, brought to one form: kube-apiserver by raw HTTP and WebSocket, the package by its public methods.
 * @module
 */
import { createWatchCache, WatchCacheError } from "watchcache";
import { bare, Traffic } from "../../e2e/cache.mjs";
import { KINDS } from "./resources.mjs";

/**
 * An error as the API tells it: a Status, or what stands in place of one.
 * @typedef {{ code: number | undefined, reason: string | undefined, message: string, retryAfter: number | undefined, continue?: string }} Refusal
 */

/**
 * What a list, a page or a get was answered.
 * @typedef {{ error: Refusal } | { object: any } | { items: any[], version: string, continue?: string, remaining?: number }} Answer
 */

/**
 * One event: an object, or a bookmark, or the Status of an ERROR.
 * @typedef {{ type: string, object?: any, version?: string, initialEnd?: boolean, error?: Refusal }} SeenEvent
 */

/**
 * A watch as it stands: what has come, and whether it is over.
 * @typedef {{ events: SeenEvent[], refused?: Refusal, ended: boolean, stop(): void | Promise<void> }} Seen
 */

/**
 * A request with its names resolved.
 * @typedef {{ step: "list" | "get" | "page" | "watch", kind: import("./resources.mjs").Kind, namespace?: string, name?: string, labelSelector?: string,
 *   fieldSelector?: string, version?: string, match?: string, limit?: number, continue?: string, initial?: boolean, bookmarks?: boolean, timeout?: number }} Request
 */

/** @param {any} status @param {number} [code] @param {string | null} [header] @returns {Refusal} */
function refusal(status, code, header) {
  return {
    code: status?.code ?? code,
    reason: status?.reason || undefined,
    message: status?.message ?? "",
    retryAfter: status?.details?.retryAfterSeconds || (header ? Number(header) : undefined),
    ...(status?.metadata?.continue && { continue: status.metadata.continue }),
  };
}

/** @param {import("../../e2e/wire.mjs").WireEvent} frame @returns {SeenEvent} */
function seen({ type, object }) {
  if (type === "ERROR") return { type, error: refusal(object) };
  if (type !== "BOOKMARK") return { type, object: bare(object) };
  const initialEnd = object.metadata.annotations?.["k8s.io/initial-events-end"] === "true";
  return { type, version: object.metadata.resourceVersion, initialEnd };
}

/** The query of a request, as the API names its parameters. @param {Request} request */
function query({ labelSelector, fieldSelector, version, match, limit, continue: token, initial, bookmarks, timeout }) {
  return {
    labelSelector,
    fieldSelector,
    resourceVersion: version,
    resourceVersionMatch: match,
    limit,
    continue: token,
    sendInitialEvents: initial,
    allowWatchBookmarks: bookmarks,
    timeoutSeconds: timeout,
  };
}

/** kube-apiserver. */
export class Server {
  /** @param {import("../../e2e/wire.mjs").Api} api */
  constructor(api) {
    this.api = api;
  }

  /** @param {Request} request @returns {string} */
  #path({ kind, namespace, name, step }) {
    const collection = namespace === undefined ? `/api/v1/${kind.resource}` : `/api/v1/namespaces/${namespace}/${kind.resource}`;
    return step === "get" ? `${collection}/${name}` : collection;
  }

  /** @param {Request} request @returns {Promise<Answer>} */
  async ask(request) {
    const { status, headers, body, text } = await this.api.get(this.#path(request), query(request));
    if (status !== 200) return { error: refusal(body ?? { message: text }, status, headers.get("retry-after")) };
    if (request.step === "get") return { object: bare(body) };
    const { resourceVersion, continue: token, remainingItemCount } = body.metadata;
    return {
      items: body.items.map(bare),
      version: resourceVersion,
      ...(token && { continue: token }),
      ...(remainingItemCount !== undefined && { remaining: remainingItemCount }),
    };
  }

  /** @param {Request} request @returns {Promise<Seen>} */
  async watch(request) {
    const wire = this.api.watch(this.#path(request), query(request));
    await wire.until(() => wire.refused || wire.events.length > 0 || wire.socket.readyState === 1, "an answer", { evenAfterEnd: true });
    return {
      get events() {
        return wire.events.map(seen);
      },
      get refused() {
        return (
          wire.refused &&
          refusal(wire.refused.body ?? { message: wire.refused.text }, wire.refused.status, wire.refused.headers.get("retry-after"))
        );
      },
      get ended() {
        return wire.end !== undefined;
      },
      stop: () => wire.stop(),
    };
  }
}

/**
 * Changes what the package gives, to see whether the comparison finds that.
 * @typedef {object} Tamper
 * @property {(event: SeenEvent) => SeenEvent | undefined} [event] undefined drops it
 * @property {(answer: Answer, request: Request) => Answer} [answer]
 */

/** @param {unknown} error @returns {Refusal} */
function thrown(error) {
  if (!(error instanceof WatchCacheError)) throw error;
  const { status, message, retryAfterSeconds } = error;
  return {
    ...refusal(status ?? { message: `${error.code}: ${message}` }),
    ...(retryAfterSeconds !== undefined && { retryAfter: retryAfterSeconds }),
  };
}

/** The package: each resource watched whole. */
export class Ours {
  /** @param {any} cache @param {Tamper} tamper */
  constructor(cache, tamper) {
    this.cache = cache;
    this.tamper = tamper;
    /** @type {Map<string, any>} */
    this.resources = new Map(Object.keys(KINDS).map((resource) => [resource, cache.resource({ version: "v1", resource })]));
  }

  /**
   * Opens every resource, and waits until it is live.
   * @param {{ url: string, token: string, window?: number, tamper?: Tamper }} options `window`: the most events that are kept
   */
  static async open({ url, token, window, tamper = {} }) {
    const traffic = new Traffic(url);
    const cache = createWatchCache({
      server: url,
      auth: () => ({ token }),
      fetch: traffic.fetch,
      WebSocket: /** @type {any} */ (traffic.WebSocket),
      strip: [], // so that objects can be compared to the last field
      linger: 600_000,
      ...(window !== undefined && { history: { minEvents: window, maxEvents: window } }),
    });
    const ours = new Ours(cache, tamper);
    await Promise.all([...ours.resources.values()].map((resource) => resource.synced()));
    return ours;
  }

  /** The version that a resource's stream has reached. @param {string} kind */
  version(kind) {
    return /** @type {string} */ (this.resources.get(kind).resourceVersion ?? "0");
  }

  /** The oldest version that a watch can start from. @param {string} kind */
  windowFrom(kind) {
    return this.cache.stats().resources.find((/** @type {any} */ r) => r.name === kind)?.historyFrom;
  }

  /** @param {Request} request @returns {Promise<Answer>} */
  async ask(request) {
    const answer = await this.#ask(request);
    return this.tamper.answer?.(answer, request) ?? answer;
  }

  /** @param {Request} request @returns {Promise<Answer>} */
  async #ask({ step, kind, namespace, name, labelSelector, fieldSelector, version, match, limit, continue: token }) {
    const resource = this.resources.get(kind.resource);
    try {
      if (step === "get") {
        const key = namespace === undefined ? name : `${namespace}/${name}`;
        return { object: bare(await resource.get(key, { resourceVersion: version })) };
      }
      const list = await resource.list({
        namespace,
        labelSelector,
        fieldSelector,
        resourceVersion: version,
        resourceVersionMatch: match,
        limit,
        continue: token,
      });
      return {
        items: list.items.map(bare),
        version: list.resourceVersion,
        ...(list.continue && { continue: list.continue }),
        ...(list.remainingItemCount !== undefined && { remaining: list.remainingItemCount }),
      };
    } catch (error) {
      return { error: thrown(error) };
    }
  }

  /** @param {Request} request @returns {Seen} */
  watch({ kind, namespace, labelSelector, fieldSelector, version, match, initial, bookmarks, timeout }) {
    let watcher;
    try {
      watcher = this.resources.get(kind.resource).watch({
        namespace,
        labelSelector,
        fieldSelector,
        resourceVersion: version,
        resourceVersionMatch: match,
        sendInitialEvents: initial,
        allowWatchBookmarks: bookmarks,
        timeoutSeconds: timeout,
      });
    } catch (error) {
      // What makes no sense is told where it is said, without a request.
      return { events: [], refused: thrown(error), ended: true, stop: () => {} };
    }
    /** @type {Seen} */
    const it = { events: [], ended: false, stop: () => watcher.stop() };
    (async () => {
      try {
        for await (const event of watcher) {
          const { type, object, resourceVersion, initialEventsEnd } = event;
          /** @type {SeenEvent} */
          let one = { type, object: undefined };
          if (type === "ERROR") one = { type, error: refusal(object) };
          else if (type === "BOOKMARK") one = { type, version: resourceVersion, initialEnd: initialEventsEnd === true };
          else one = { type, object: bare(object) };
          const kept = this.tamper.event ? this.tamper.event(one) : one; // one tampered with may be dropped
          if (kept) it.events.push(kept);
        }
      } catch (error) {
        it.refused = thrown(error);
      }
      it.ended = true;
    })();
    return it;
  }

  close() {
    return this.cache.close();
  }
}
