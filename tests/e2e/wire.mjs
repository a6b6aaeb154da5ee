/**
 * The Kubernetes API as bytes on the wire, with nothing of the package between: fetch for requests, `ws` for watches.
 * The scenarios say in these terms what they expect of a server. The second client, which writes while the cache watches,
 * uses it too.
 * @module
 */
import WebSocket from "ws";

/** Milliseconds after which a wait is given up as failed: far above what any answer takes, below a runner's patience. */
const PATIENCE = 30_000;

/**
 * A Kubernetes object as JSON.
 * @typedef {{ apiVersion?: string, kind?: string, metadata: { name?: string, generateName?: string, namespace?: string, resourceVersion?: string,
 *   uid?: string, labels?: Record<string, string>, annotations?: Record<string, string>, [key: string]: any }, [key: string]: any }} KubeObject
 */

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {Headers} headers
 * @property {string} text
 * @property {any} body the parsed JSON, or undefined when the answer is not JSON
 */

/** Query parameters; undefined ones are left out. @typedef {Record<string, string | number | boolean | undefined>} Query */

/** @param {Query} query */
function search(query) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) params.set(key, String(value));
  const text = params.toString();
  return text && `?${text}`;
}

/** Base64url without padding, as the bearer subprotocol wants it. @param {string} text */
export function base64url(text) {
  return Buffer.from(text, "utf8").toString("base64url");
}

/** The subprotocols of an authenticated watch. @param {string} token */
export function bearerProtocols(token) {
  return [`base64url.bearer.authorization.k8s.io.${base64url(token)}`, "base64.binary.k8s.io"];
}

/** An answer that is not the one that was asked for. */
export class UnexpectedAnswer extends Error {
  /** @param {string} what @param {Answer} answer */
  constructor(what, answer) {
    super(`${what}: ${answer.status} ${answer.text.slice(0, 400)}`);
    this.answer = answer;
  }
}

/** A client of one server with one token. */
export class Api {
  /** @param {string} url origin @param {string | undefined} token */
  constructor(url, token) {
    this.url = url;
    this.token = token;
  }

  /**
   * Any request; every status is an answer, only a broken connection rejects.
   * @param {string} method @param {string} path
   * @param {{ query?: Query, body?: unknown, headers?: Record<string, string> }} [options]
   * @returns {Promise<Answer>}
   */
  async request(method, path, { query = {}, body, headers = {} } = {}) {
    const answer = await fetch(`${this.url}${path}${search({ pretty: false, ...query })}`, {
      method,
      signal: AbortSignal.timeout(PATIENCE),
      headers: {
        ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    const json = /\bjson\b/.test(answer.headers.get("content-type") ?? "");
    return { status: answer.status, headers: answer.headers, text, body: json ? JSON.parse(text) : undefined };
  }

  /** @param {string} path @param {Query} [query] */
  get(path, query) {
    return this.request("GET", path, { query });
  }

  /**
   * As {@link request}, but anything other than 2xx rejects.
   * @param {string} method @param {string} path @param {unknown} [body] @param {Record<string, string>} [headers]
   * @returns {Promise<KubeObject & any>}
   */
  async must(method, path, body, headers) {
    const answer = await this.request(method, path, { body, headers });
    if (answer.status < 200 || answer.status > 299) throw new UnexpectedAnswer(`${method} ${path}`, answer);
    return answer.body;
  }

  /** @param {string} path collection @param {KubeObject} object */
  create(path, object) {
    return this.must("POST", path, object);
  }

  /** A JSON merge patch (RFC 7386). @param {string} path object @param {unknown} patch */
  patch(path, patch) {
    return this.must("PATCH", path, patch, { "content-type": "application/merge-patch+json" });
  }

  /** @param {string} path object @param {KubeObject} object */
  update(path, object) {
    return this.must("PUT", path, object);
  }

  /** Deletes at once: a pod would else wait for its kubelet. @param {string} path object */
  delete(path) {
    return this.must("DELETE", path, { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0 });
  }

  /**
   * The whole list, read in one request.
   * @param {string} path @param {Query} [query]
   * @returns {Promise<{ items: KubeObject[], metadata: { resourceVersion: string, continue?: string, remainingItemCount?: number } }>}
   */
  async list(path, query) {
    const answer = await this.get(path, query);
    if (answer.status !== 200) throw new UnexpectedAnswer(`GET ${path}`, answer);
    return answer.body;
  }

  /**
   * Opens a watch over WebSocket.
   * @param {string} path @param {Query} query @param {{ protocols?: string[], headers?: Record<string, string>, origin?: string | null }} [options]
   */
  watch(path, query, { protocols = bearerProtocols(this.token ?? ""), headers, origin = this.url } = {}) {
    const url = `${this.url.replace(/^http/, "ws")}${path}${search({ watch: 1, ...query })}`;
    return new WireWatch(url, protocols, { headers, ...(origin !== null && { origin }) });
  }
}

/**
 * One frame of a watch.
 * @typedef {{ type: string, object: KubeObject & { code?: number, message?: string, reason?: string } }} WireEvent
 */

/** A watch over WebSocket that keeps every event it has seen, in order. */
export class WireWatch {
  /** @type {WireEvent[]} everything received so far */
  events = [];
  /** @type {{ text: string, binary: boolean }[]} the frames as they came */
  frames = [];
  /** @type {{ code: number, wasOpen: boolean } | undefined} set when the socket is gone */
  end;
  /** The answer when the server refused the upgrade. @type {Answer | undefined} */
  refused;
  #wasOpen = false;
  #wake = () => {};

  /** @param {string} url @param {string[]} protocols @param {import("ws").ClientOptions} options */
  constructor(url, protocols, options) {
    this.socket = new WebSocket(url, protocols, options);
    this.socket.on("open", () => {
      this.#wasOpen = true;
      this.#wake();
    });
    this.socket.on("message", (data, binary) => {
      const text = data.toString();
      this.frames.push({ text, binary });
      this.events.push(JSON.parse(text));
      this.#wake();
    });
    this.socket.on("error", () => {}); // "close" follows and says all there is
    this.socket.on("close", (code) => {
      this.end = { code, wasOpen: this.#wasOpen };
      this.#wake();
    });
    this.socket.on("unexpected-response", (request, response) => {
      let text = "";
      request.on("error", () => {});
      response.on("error", () => {});
      response.on("data", (chunk) => (text += chunk));
      response.on("end", () => {
        const json = /\bjson\b/.test(response.headers["content-type"] ?? "");
        this.refused = {
          status: response.statusCode ?? 0,
          headers: new Headers(/** @type {Record<string, string>} */ (response.headers)),
          text,
          body: json ? JSON.parse(text) : undefined,
        };
        this.socket.terminate();
        this.#wake();
      });
    });
  }

  /**
   * Waits until `condition` holds; fails, with what was seen, when the socket ends first or patience does.
   * @param {() => unknown} condition @param {string} what for the message
   */
  async until(condition, what, { evenAfterEnd = false } = {}) {
    const deadline = Date.now() + PATIENCE;
    while (!condition()) {
      if (this.end && !evenAfterEnd)
        throw new Error(`The watch ended (${this.end.code}) while waiting for ${what}; seen: ${this.summary()}`);
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`Waited in vain for ${what}; seen: ${this.summary()}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
    }
    return this;
  }

  /** Resolves when the server has accepted the watch. */
  opened() {
    return this.until(() => this.#wasOpen, "the upgrade");
  }

  /** Resolves with the answer of a server that refuses the upgrade. */
  async refusal() {
    await this.until(() => this.refused || this.#wasOpen, "a refusal", { evenAfterEnd: true });
    if (!this.refused) {
      this.stop();
      throw new Error("The server accepted the watch that it had to refuse.");
    }
    return this.refused;
  }

  /** Resolves when at least `count` events have come. @param {number} count */
  count(count) {
    return this.until(() => this.events.length >= count, `${count} events`);
  }

  /** Resolves with the first event that satisfies the predicate. @param {(event: WireEvent) => boolean} predicate @param {string} what */
  async event(predicate, what) {
    await this.until(() => this.events.some(predicate), what);
    return /** @type {WireEvent} */ (this.events.find(predicate));
  }

  /** Resolves with the close code when the socket is gone. */
  async closed() {
    await this.until(() => this.end, "the end of the watch", { evenAfterEnd: true });
    return /** @type {{ code: number, wasOpen: boolean }} */ (this.end);
  }

  /**
   * Events without the mark of a deletion: before it removes a pod, kube-apiserver writes a deletionTimestamp, and
   * watchers see that as MODIFIED. A server that removes at once is right too.
   */
  withoutMarks() {
    return this.events.filter((e) => !(e.type === "MODIFIED" && e.object.metadata.deletionTimestamp));
  }

  /** `TYPE name@version` of each event, for messages and comparisons. */
  summary() {
    return this.events
      .map((e) =>
        e.type === "ERROR" ? `ERROR ${e.object.message}` : `${e.type} ${e.object.metadata.name ?? ""}@${e.object.metadata.resourceVersion}`,
      )
      .join(", ");
  }

  /** Leaves without a close handshake. */
  stop() {
    this.socket.terminate();
  }
}

/**
 * Runs `work` for 0..count-1 with at most `width` at a time; results in order.
 * @template T
 * @param {number} count @param {(index: number) => Promise<T>} work
 * @returns {Promise<T[]>}
 */
export async function concurrently(count, work, width = 16) {
  /** @type {T[]} */
  const results = new Array(count);
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(width, count) }, async () => {
      while (next < count) {
        const index = next++;
        results[index] = await work(index);
      }
    }),
  );
  return results;
}

/**
 * Compares resource versions: decimal strings of any length.
 * @param {string} a @param {string} b
 * @returns {number} negative, zero or positive
 */
export function compareVersions(a, b) {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
