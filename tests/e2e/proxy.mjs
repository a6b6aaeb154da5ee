/**
 * A proxy like those between pages and servers, for requests and upgrades. It may drop, delay, truncate, cut after a while, or answer for
 * itself. It may also hold back what a stream brings until the stream ends.
 * @module
 */
import { createServer, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * What it does to connections that are opened while this is set.
 * @typedef {object} Behaviour
 * @property {number} [delayMs] every piece of an answer comes so much later
 * @property {number} [trickleMs] an answer comes byte by byte, each so much after the one before
 * @property {number} [cutAfterMs] an answer that lasts longer is reset
 * @property {number} [truncateAt] an answer is reset behind so many bytes, wherever that is
 * @property {boolean} [buffer] an answer, head and all, comes when it is whole
 * @property {(request: import("node:http").IncomingMessage) => Answer | undefined} [answer] answers itself, where it gives something
 */

/** @typedef {{ status: number, headers?: Record<string, string>, body?: string }} Answer */

export class TroubledProxy {
  /** @type {Set<import("node:net").Socket>} */
  #sockets = new Set();
  /** @type {Behaviour} */
  behaviour = {};

  /** @param {string} upstream plain-HTTP origin */
  constructor(upstream) {
    this.upstream = new URL(upstream);
    this.server = createServer((request, response) => this.#forward(request, response));
    this.server.on("upgrade", (request, socket, head) => this.#tunnel(request, /** @type {import("node:net").Socket} */ (socket), head));
    this.server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#sockets.delete(socket));
    });
    this.server.requestTimeout = 0;
  }

  /** @param {string} upstream */
  static async start(upstream) {
    const proxy = new TroubledProxy(upstream);
    await new Promise((resolve) => proxy.server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return proxy;
  }

  get url() {
    return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (this.server.address()).port}`;
  }

  /** Resets every connection. */
  drop() {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close() {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  #forward(request, response) {
    const behaviour = this.behaviour;
    const own = behaviour.answer?.(request);
    if (own) {
      response.writeHead(own.status, own.headers ?? {}).end(own.body ?? "");
      return;
    }
    const { hostname, port, host } = this.upstream;
    const up = httpRequest({ hostname, port, method: request.method, path: request.url, headers: { ...request.headers, host } });
    up.on("error", () => response.destroy());
    response.on("close", () => up.destroy());
    up.on("response", (answer) => {
      const head = () => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
      };
      answer.on("error", () => response.destroy());
      if (behaviour.buffer) {
        /** @type {Buffer[]} */
        const held = [];
        answer.on("data", (chunk) => held.push(chunk));
        answer.on("end", () => {
          head();
          response.end(Buffer.concat(held));
        });
        return;
      }
      head();
      if (behaviour.trickleMs !== undefined) {
        void trickle(answer, response, behaviour.trickleMs);
        return;
      }
      const socket = response.socket;
      if (socket)
        pass(
          answer,
          (chunk) => response.write(chunk),
          () => response.end(),
          socket,
          behaviour,
        );
    });
    request.pipe(up);
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:net").Socket} client @param {Buffer} head */
  #tunnel(request, client, head) {
    const behaviour = this.behaviour;
    const own = behaviour.answer?.(request);
    if (own) {
      const body = own.body ?? "";
      const headers = Object.entries({ connection: "close", "content-length": String(Buffer.byteLength(body)), ...own.headers });
      client.end(`HTTP/1.1 ${own.status} Refused\r\n${headers.map(([name, value]) => `${name}: ${value}`).join("\r\n")}\r\n\r\n${body}`);
      return;
    }
    const { hostname, port, host } = this.upstream;
    const lines = [`${request.method} ${request.url} HTTP/1.1`];
    for (let i = 0; i < request.rawHeaders.length; i += 2) {
      const [name, value] = request.rawHeaders.slice(i, i + 2);
      lines.push(`${name}: ${name.toLowerCase() === "host" ? host : value}`);
    }
    const upstream = connect(Number(port), hostname, () => {
      upstream.write(`${lines.join("\r\n")}\r\n\r\n`);
      upstream.write(head);
      client.pipe(upstream);
    });
    upstream.on("error", () => client.destroy());
    client.on("close", () => upstream.destroy());
    pass(
      upstream,
      (chunk) => client.write(chunk),
      () => client.end(),
      client,
      behaviour,
    );
  }
}

/** @param {import("node:stream").Readable} from @param {import("node:http").ServerResponse} to @param {number} ms */
async function trickle(from, to, ms) {
  try {
    for await (const chunk of from) {
      for (const byte of chunk) {
        if (to.destroyed) return;
        to.write(Uint8Array.of(byte));
        await sleep(ms);
      }
    }
    to.end();
  } catch {
    // The upstream's end, which is met elsewhere.
  }
}

/**
 * @param {import("node:stream").Readable} from @param {(chunk: Buffer) => void} write @param {() => void} end
 * @param {import("node:net").Socket} socket what is reset @param {Behaviour} behaviour
 */
function pass(from, write, end, socket, { delayMs = 0, cutAfterMs, truncateAt = Infinity }) {
  let passed = 0;
  const later = (/** @type {() => void} */ work) => (delayMs > 0 ? void setTimeout(work, delayMs) : work());
  const cut = cutAfterMs === undefined ? undefined : setTimeout(() => socket.resetAndDestroy(), cutAfterMs);
  from.on("data", (chunk) =>
    later(() => {
      if (passed + chunk.length <= truncateAt) {
        passed += chunk.length;
        write(chunk);
        return;
      }
      write(chunk.subarray(0, truncateAt - passed));
      passed = truncateAt;
      // What was written has to leave first.
      setTimeout(() => socket.resetAndDestroy(), 20);
    }),
  );
  from.on("end", () => later(end));
  if (cut === undefined) return;
  socket.on("close", () => clearTimeout(cut));
  from.on("close", () => clearTimeout(cut));
}
