/**
 * A reverse proxy on plain HTTP before a server with a self-signed certificate, like `kubectl proxy`, but transparent.
 * Authorization, subprotocols and every other header pass, and an upgraded connection is two sockets joined. It gives a
 * page one origin, and the tests a place to break connections.
 * @module
 */
import { createServer, request as httpRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { connect as netConnect } from "node:net";
import { connect as tlsConnect } from "node:tls";

/** Headers that belong to one hop (RFC 9110, 7.6.1). */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"]);

/**
 * @typedef {object} ProxyOptions
 * @property {string | URL} upstream origin of the server, http: or https:
 * @property {() => string | Buffer | undefined} [ca] certificate to trust, read at each connect
 * @property {number} [port] default: any free one
 * @property {(request: import("node:http").IncomingMessage, response: import("node:http").ServerResponse) => boolean} [serve]
 *   answers a request itself and returns true, for instance with a page of the same origin
 */

/** An answer that the proxy gives itself. @typedef {{ status: number, headers: Record<string, string>, body: string }} Refusal */

/** A running proxy. Counts are of client connections with an upgrade. */
export class Proxy {
  /** @type {Set<{ client: import("node:stream").Duplex, upstream: import("node:net").Socket }>} */
  #tunnels = new Set();
  /** @type {Set<import("node:net").Socket>} */
  #sockets = new Set();
  /** @type {Refusal | undefined} */
  #refusal;

  /** @param {ProxyOptions} options */
  constructor(options) {
    this.options = options;
    this.upstream = new URL(options.upstream);
    this.server = createServer((request, response) => this.#forward(request, response));
    this.server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    this.server.on("upgrade", (request, socket, head) => this.#tunnel(request, socket, head));
    // Long watches are the point here; nothing may time out on its own.
    this.server.requestTimeout = 0;
    this.server.timeout = 0;
  }

  /** @param {ProxyOptions} options */
  static async start(options) {
    const proxy = new Proxy(options);
    await new Promise((resolve, reject) =>
      proxy.server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", () => resolve(undefined)),
    );
    return proxy;
  }

  /** Where clients go: `http://127.0.0.1:PORT`. */
  get url() {
    return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (this.server.address()).port}`;
  }

  /** Upgraded connections that are open. */
  get open() {
    return this.#tunnels.size;
  }

  /** Cuts every client connection with a TCP reset: a WebSocket sees 1006, a fetch a network error. */
  drop() {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Half-open silence: upgraded connections that are open now stay open and carry nothing any more. */
  freeze() {
    for (const { client, upstream } of this.#tunnels) {
      upstream.unpipe(client);
      client.unpipe(upstream);
      upstream.pause();
      client.pause();
    }
  }

  /**
   * Answers every new request, upgrades too, with this instead of the server's own answer; `undefined` ends that.
   * @param {Refusal | undefined} answer
   */
  refuse(answer) {
    this.#refusal = answer;
  }

  async close() {
    for (const socket of this.#sockets) socket.destroy();
    for (const { upstream } of this.#tunnels) upstream.destroy();
    this.#agent?.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** @type {Agent | undefined} */
  #agent;
  #agentCa = "";

  /** One keep-alive agent for each certificate: a restarted server may bring a new one. */
  #tls() {
    const ca = this.options.ca?.();
    if (!this.#agent || this.#agentCa !== String(ca)) {
      this.#agent?.destroy();
      this.#agentCa = String(ca);
      this.#agent = new Agent({ keepAlive: true, ca });
    }
    return { agent: this.#agent, ca };
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  #forward(request, response) {
    if (this.options.serve?.(request, response)) return;
    if (this.#refusal) {
      response.writeHead(this.#refusal.status, this.#refusal.headers).end(this.#refusal.body);
      return;
    }
    const secure = this.upstream.protocol === "https:";
    const send = secure ? httpsRequest : httpRequest;
    const up = send({
      host: this.upstream.hostname,
      port: this.upstream.port,
      method: request.method,
      path: request.url,
      headers: Object.fromEntries(Object.entries({ ...request.headers, host: this.upstream.host }).filter(([k]) => !HOP_BY_HOP.has(k))),
      agent: secure ? this.#tls().agent : undefined,
    });
    up.on("response", (answer) => {
      // One chunk in, one chunk out: a watch over fetch must not wait for a full buffer.
      response.writeHead(answer.statusCode ?? 502, Object.fromEntries(Object.entries(answer.headers).filter(([k]) => !HOP_BY_HOP.has(k))));
      response.flushHeaders();
      answer.pipe(response);
      // An answer cut short upstream is cut short here, not ended as if it were whole.
      answer.on("error", () => response.destroy());
    });
    up.on("error", (error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { "content-type": "text/plain" }).end(`proxy: ${error.message}\n`);
    });
    response.on("close", () => up.destroy());
    request.pipe(up);
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:stream").Duplex} client @param {Buffer} head */
  #tunnel(request, client, head) {
    client.on("error", () => {});
    if (this.#refusal) {
      const { status, headers, body } = this.#refusal;
      const lines = Object.entries({ connection: "close", "content-length": String(Buffer.byteLength(body)), ...headers });
      client.end(`HTTP/1.1 ${status} Refused\r\n${lines.map(([k, v]) => `${k}: ${v}`).join("\r\n")}\r\n\r\n${body}`);
      return;
    }
    const { hostname, port, protocol, host } = this.upstream;
    const lines = [`${request.method} ${request.url} HTTP/1.1`];
    for (let i = 0; i < request.rawHeaders.length; i += 2) {
      const [name, value] = request.rawHeaders.slice(i, i + 2);
      lines.push(`${name}: ${name.toLowerCase() === "host" ? host : value}`);
    }
    const opened = () => {
      upstream.write(`${lines.join("\r\n")}\r\n\r\n`);
      if (head.length) upstream.write(head);
      upstream.pipe(client);
      client.pipe(upstream);
    };
    const upstream =
      protocol === "https:"
        ? tlsConnect({ host: hostname, port: Number(port), ca: this.#tls().ca }, opened)
        : netConnect({ host: hostname, port: Number(port) }, opened);
    const tunnel = { client, upstream };
    this.#tunnels.add(tunnel);
    upstream.on("error", () => client.destroy());
    // What the server said last still has to reach the client.
    upstream.on("close", () => /** @type {import("node:net").Socket} */ (client).destroySoon());
    client.on("close", () => {
      this.#tunnels.delete(tunnel);
      upstream.destroy();
    });
  }
}
