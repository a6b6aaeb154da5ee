/**
 * What the tests of bad input share: a server and a witness. The server sends exactly the bytes that a test gives it. The witness
 * holds everything that a user can hold (objects, rows, watches), and notices when any of it is harmed.
 * @module
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import WebSocket, { WebSocketServer } from "ws";
import { memorySource } from "watchcache/memory";
import { createWatchCache, WatchCacheError } from "../../dist/node.js";
import { pod } from "../js/lib/pod.mjs";
import { Recorder, bare, eventually } from "./cache.mjs";

/** Retries come soon; the first wait is long enough that nobody can overlook it. */
export const RETRY = { initialMs: 60, factor: 1.5, capMs: 150, jitter: 0.2 };

const PATH = "/api/v1/pods";

/** @param {number} i */
export const keyOf = (i) => `default/pod-${String(i).padStart(2, "0")}`;

/** @param {number} count */
export const podsOf = (count) => Array.from({ length: count }, (_, i) => pod(keyOf(i)));

/** Node's `ws` as a browser's WebSocket: with an Origin. @param {string} origin */
export function socketOf(origin) {
  return class extends WebSocket {
    /** @param {string | URL} url @param {string | string[]} [protocols] */
    constructor(url, protocols) {
      super(url, protocols, { origin });
    }
  };
}

/**
 * An answer to one request for a list, in place of the honest one.
 * @typedef {object} Page
 * @property {string | Buffer} [body]
 * @property {number} [status] 200
 * @property {string} [type] application/json
 * @property {boolean} [cut] only the first half arrives, then the connection is reset
 */

/**
 * A list+watch API over real HTTP and real WebSockets. It is honest until a test changes that: `page` answers a list in its own
 * way, and `say` puts any bytes into the open watches.
 */
export class RawServer {
  /** @type {((request: { token?: string, number: number }, body: string) => Page | undefined) | undefined} */
  page;
  /** Bytes that each new watch says first. @type {string | Buffer | undefined} */
  greeting;
  /** Lists asked for so far, pages counted one by one. */
  lists = 0;
  /** Watches opened so far. */
  watches = 0;
  /** @type {Set<(frame: string | Buffer, options?: { binary?: boolean }) => void>} */
  #watchers = new Set();
  /** @type {Set<() => void>} */
  #enders = new Set();
  /** Continue tokens of honest pages. @type {Set<string>} */
  #tokens = new Set();

  /** @param {any[]} objects @param {{ prefix?: string, pageSize?: number }} [options] */
  constructor(objects, { prefix = "", pageSize = Infinity } = {}) {
    this.upstream = memorySource({ objects });
    this.pageSize = pageSize;
    this.path = prefix + PATH;
    this.prefix = prefix;
    this.port = 0;
  }

  /** @param {any[]} objects @param {{ prefix?: string, pageSize?: number }} [options] */
  static async start(objects, options) {
    const server = new RawServer(objects, options);
    await server.listen();
    return server;
  }

  /** Opens the port: a free one at first, then always the same. */
  async listen() {
    const http = createServer((request, response) => void this.#answer(request, response));
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    http.on("upgrade", (request, socket, head) => {
      socket.on("error", () => {});
      if (new URL(request.url ?? "", "http://raw").pathname !== this.path) return void socket.destroy();
      sockets.handleUpgrade(request, socket, head, (client) => {
        client.on("error", () => {});
        this.#serve(request, {
          write: (frame, { binary = false } = {}) => client.send(frame, { binary }),
          end: () => client.close(1000),
          onClose: (gone) => client.on("close", gone),
        });
      });
    });
    await new Promise((resolve, reject) => {
      http.once("error", reject).listen(this.port, "127.0.0.1", () => resolve(undefined));
    });
    this.port = /** @type {import("node:net").AddressInfo} */ (http.address()).port;
    /** @type {Set<import("node:net").Socket>} */
    const connections = new Set();
    http.on("connection", (socket) => {
      connections.add(socket);
      socket.on("close", () => connections.delete(socket));
    });
    /** Ends everything: connections are reset, the port refuses new ones. */
    this.stop = async () => {
      for (const socket of connections) socket.resetAndDestroy();
      await new Promise((resolve) => http.close(resolve));
    };
  }

  stop = async () => {};

  get url() {
    return `http://127.0.0.1:${this.port}${this.prefix}`;
  }

  /** Puts bytes into every open watch. @param {string | Buffer} frame @param {{ binary?: boolean }} [options] a WebSocket message may be binary */
  say(frame, options) {
    assert.ok(this.#watchers.size > 0, "nobody watches");
    for (const write of this.#watchers) write(frame, options);
  }

  /** All objects of now. @returns {Promise<any[]>} */
  async truth() {
    return JSON.parse((await this.upstream.list({})).body).items;
  }

  /** Ends every open watch, as servers do in good order. */
  hangUp() {
    for (const end of this.#enders) end();
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  async #answer(request, response) {
    const url = new URL(request.url ?? "", "http://raw");
    if (url.pathname !== this.path) {
      response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("404 page not found\n");
      return;
    }
    if (url.searchParams.has("watch")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.flushHeaders();
      this.#serve(request, {
        // One frame a line; what has no line break of its own gets one.
        write: (frame) => response.write(Buffer.concat([Buffer.from(frame), Buffer.from("\n")])),
        end: () => response.end(),
        onClose: (gone) => response.on("close", gone),
      });
      return;
    }
    const token = url.searchParams.get("continue") ?? undefined;
    const honest = await this.upstream.list({
      limit: Math.min(Number(url.searchParams.get("limit") ?? Infinity), this.pageSize),
      continue: token !== undefined && this.#tokens.has(token) ? token : undefined,
    });
    const { metadata } = JSON.parse(honest.body);
    if (metadata.continue !== undefined) this.#tokens.add(metadata.continue);
    const number = this.lists++;
    const page = this.page?.({ token, number }, honest.body) ?? {};
    const body = Buffer.from(page.body ?? honest.body);
    response.writeHead(page.status ?? 200, { "content-type": page.type ?? "application/json", "content-length": body.length });
    if (!page.cut) return void response.end(body);
    response.write(body.subarray(0, body.length / 2), () => {
      // The first half has to arrive before the reset, which takes back what was not read.
      setImmediate(() => response.socket?.destroy());
    });
  }

  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {{ write: (frame: string | Buffer, options?: { binary?: boolean }) => void, end: () => void, onClose: (gone: () => void) => void }} wire
   */
  async #serve(request, { write, end, onClose }) {
    const abort = new AbortController();
    this.watches++;
    this.#watchers.add(write);
    this.#enders.add(end);
    onClose(() => {
      abort.abort();
      this.#watchers.delete(write);
      this.#enders.delete(end);
    });
    if (this.greeting !== undefined) write(this.greeting);
    const resourceVersion = new URL(request.url ?? "", "http://raw").searchParams.get("resourceVersion") ?? "";
    try {
      for await (const frame of this.upstream.watch({ resourceVersion, allowWatchBookmarks: true, timeoutSeconds: 3600 }, abort.signal))
        write(frame);
    } catch (refusal) {
      write(
        JSON.stringify({ type: "ERROR", object: { kind: "Status", apiVersion: "v1", status: "Failure", ...(refusal.status ?? refusal) } }),
      );
    }
    end();
  }
}

/**
 * A cache and one resource of it, closed when the test ends.
 * @param {import("node:test").TestContext} t
 * @param {string | undefined} server @param {any} [options] @param {any} [spec]
 */
export function open(t, server, options = {}, spec = "pods") {
  const cache = createWatchCache({
    ...(server === undefined ? {} : { server, WebSocket: socketOf(new URL(server).origin) }),
    retry: RETRY,
    flush: "microtask",
    ...options,
  });
  t.after(() => cache.close());
  return cache.resource(spec);
}

/** Waits until the resource is live and has nothing to complain about. @param {any} resource */
export async function live(resource) {
  await eventually(
    () => resource.status.phase === "live" && resource.status.quarantined === undefined && !resource.status.stale,
    () => `live and well; it is ${JSON.stringify(resource.status)} ${resource.status.error ?? ""}`,
  );
}

/**
 * Writes, and waits until the watch has brought it. A stream that ends within a second and has said nothing counts as refused, and
 * leads to a list. A stream that has said something counts as a lost connection.
 * @param {any} resource @param {() => unknown} write
 */
export async function hasSaidSomething(resource, write) {
  const { resourceVersion } = resource;
  await write();
  await eventually(() => resource.resourceVersion !== resourceVersion, "something new");
}

/**
 * The cache holds exactly these objects, in the order of their keys and to the last field, once it has come to their versions.
 * @param {any} resource @param {RawServer} server nobody writes meanwhile
 */
export async function assertHolds(resource, server) {
  const truth = await server.truth();
  const brief = (/** @type {readonly any[]} */ objects) => objects.map((o) => `${keyIn(o)}@${o.metadata.resourceVersion}`).sort();
  const held = () => resource.byIndex("namespace", "default");
  await eventually(
    () => brief(held()).join() === brief(truth).join(),
    () => `${brief(truth)}; held are ${brief(held())}`,
  );
  const listed = (await resource.list({ resourceVersion: "0" })).items;
  const expected = truth.toSorted((a, b) => (keyIn(a) < keyIn(b) ? -1 : 1));
  assert.deepEqual(listed.map(bare), expected.map(bare));
  for (const object of listed) assert.equal(resource.peek(keyIn(object)), object, "one decoded object for all readers");
}

/** @param {any} object */
export const keyIn = ({ metadata }) => (metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name);

/**
 * Holds everything that a user can hold of a resource, and looks at each status, each change of rows and each error that it tells.
 * An object that the server left alone may not become another one, and its row may not vanish.
 */
export class Witness {
  /** Every status that was told, in order. @type {any[]} */
  statuses = [];
  /** What was harmed, in words; empty when all is well. @type {string[]} */
  harm = [];
  /** @type {Map<string, any>} */
  #untouched = new Map();
  /** @type {Set<string>} */
  #rows = new Set();

  /** @param {any} resource synced @param {string[]} touched keys that the server will change or delete, so that nobody vouches for them */
  constructor(resource, touched = []) {
    this.resource = resource;
    this.view = resource.view();
    for (const object of this.view.rows) {
      const key = keyIn(object);
      if (!touched.includes(key)) this.#untouched.set(key, resource.peek(key));
    }
    this.touched = new Set(touched);
    this.view.subscribe(() => this.look());
    resource.addEventListener("status", (/** @type {any} */ { detail }) => {
      this.statuses.push(detail);
      this.look();
    });
    this.look();
    assert.ok(this.#untouched.size > 0, "there is something to lose");
  }

  /** Looks at everything that is held, now. */
  look() {
    const rows = this.view.rows;
    const keys = new Set(rows.map(keyIn));
    for (const key of this.#rows) if (!keys.has(key) && !this.touched.has(key)) this.harm.push(`the row ${key} vanished`);
    this.#rows = keys;
    for (const [key, object] of this.#untouched) {
      if (this.resource.peek(key) !== object) this.harm.push(`${key} is another object`);
      if (rows.find((/** @type {any} */ row) => keyIn(row) === key) !== object) this.harm.push(`the row of ${key} is another object`);
    }
    if (this.resource.size < this.#untouched.size) this.harm.push(`only ${this.resource.size} objects are held`);
  }

  /** Watches from now on. @param {object} [options] */
  watch(options) {
    return new Recorder(
      this.resource.watch({ resourceVersion: "0", sendInitialEvents: false, resourceVersionMatch: "NotOlderThan", ...options }),
    );
  }

  /**
   * Causes a trouble and waits until it is told: an error of this code, with these words, and the time of the next try. The phase
   * says that changes do not arrive. All that was held is still held.
   * @param {() => unknown} cause
   * @param {{ code: string, words: RegExp, phase?: string }} expected
   */
  async suffers(cause, { code, words, phase = "reconnecting" }) {
    const from = this.statuses.length;
    await cause();
    const told = () => this.statuses.slice(from).find(({ error }) => error !== undefined);
    const status = await eventually(told, () => `an error ${code}; seen: ${this.phases(from)}`);
    assert.equal(status.error.code, code, status.error.message);
    assert.match(status.error.message, words);
    assert.ok(status.error instanceof WatchCacheError);
    assert.equal(status.phase, phase);
    assert.equal(status.stale, true, "what is held is said to be old");
    assert.equal(typeof status.retryAt, "number", "the next try is announced");
    assert.ok(status.attempt >= 1 || phase !== "reconnecting");
    this.look();
    this.assertUnharmed();
    return status;
  }

  assertUnharmed() {
    assert.deepEqual(this.harm, []);
  }

  /** The last phases that were told, for messages. */
  phases(from = 0) {
    const told = this.statuses.slice(from).map(({ phase, error }) => (error ? `${phase} (${error.code}: ${error.message})` : phase));
    return told.slice(-6).join(", ");
  }
}

/**
 * Resolves with the error that a promise rejects with, which is one of ours and has this code.
 * @param {Promise<unknown>} promise @param {string} code @param {RegExp} words
 * @returns {Promise<WatchCacheError>}
 */
export async function rejection(promise, code, words) {
  const error = await promise.then(
    () => assert.fail(`resolved, instead of rejecting with ${code}`),
    (/** @type {any} */ thrown) => thrown,
  );
  assert.ok(error instanceof WatchCacheError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, words);
  return error;
}

/** A raw server of 6 pods. @param {import("node:test").TestContext} t @param {any} [options] */
export async function plain(t, options) {
  const server = await RawServer.start(podsOf(6), options);
  t.after(() => server.stop());
  return server;
}
