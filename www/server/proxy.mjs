// Another API server behind this one's origin, usually a `kubectl proxy`. Requests and streams are passed on as they are.
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { parseResourcePath } from "./path.mjs";
import { endUpgrade, refuseUpgrade } from "./upgrade.mjs";
import { encodeJson } from "./json.mjs";
import { StatusError, unavailable } from "./status.mjs";

/** Headers that belong to one connection and are not passed on. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Forwards the API paths. */
export class Proxy {
  /**
   * @param {URL} target @param {import("./faults.mjs").Faults} faults
   * @param {string} [token] for requests that bring none, as `kubectl proxy` gives one
   */
  constructor(target, faults, token) {
    this.target = target;
    this.token = token;
    this.faults = faults;
    this.request = target.protocol === "https:" ? httpsRequest : httpRequest;
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  handle(request, response) {
    const about = describe(request);
    const trouble = about.verb && this.faults.answer({ verb: about.verb, resource: about.resource });
    if (trouble) {
      response.writeHead(trouble.code, { "content-type": trouble.type, ...trouble.headers }).end(trouble.body);
      return;
    }
    const upstream = this.#open(request, false);
    upstream.on("response", (answer) => {
      const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name)));
      response.writeHead(answer.statusCode ?? 502, headers);
      response.flushHeaders();
      if (about.verb === "watch" && response.socket) this.#track("http", about, response.socket, answer, response);
      answer.on("error", () => response.destroy());
      answer.pipe(response);
    });
    upstream.on("error", (error) => {
      if (response.headersSent) response.destroy();
      else this.#refuse(response, unreachable(this.target, error));
    });
    response.on("close", () => upstream.destroy());
    request.pipe(upstream);
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:stream").Duplex} socket @param {Buffer} head */
  upgrade(request, socket, head) {
    const about = describe(request);
    const trouble = this.faults.answer({ verb: "watch", resource: about.resource, upgrade: true });
    if (trouble) return endUpgrade(socket, trouble.code, trouble.type, trouble.body, trouble.headers);
    const upstream = this.#open(request, true);
    upstream.on("upgrade", (answer, other, rest) => {
      socket.write(headText(answer));
      if (rest.length > 0) socket.write(rest);
      if (head.length > 0) other.write(head);
      this.#track("websocket", about, socket, other, socket);
      other.pipe(socket);
      socket.pipe(other);
      other.on("error", () => socket.destroy());
      other.on("close", () => socket.destroy());
      socket.on("close", () => other.destroy());
    });
    upstream.on("response", (answer) => {
      socket.write(headText(answer));
      answer.pipe(socket);
    });
    upstream.on("error", (error) => refuseUpgrade(socket, unreachable(this.target, error)));
    socket.on("error", () => upstream.destroy());
    upstream.end();
  }

  /** @param {import("node:http").IncomingMessage} request @param {boolean} upgrade */
  #open(request, upgrade) {
    /** @type {import("node:http").OutgoingHttpHeaders} */
    const headers = {};
    for (const [name, value] of Object.entries(request.headers))
      if (value !== undefined && (upgrade || !HOP_BY_HOP.has(name))) headers[name] = value;
    // kubectl proxy answers only to the names it knows itself by.
    headers.host = this.target.host;
    if (this.token) headers.authorization ??= `Bearer ${this.token}`;
    const path = this.target.pathname.replace(/\/$/, "") + request.url;
    return this.request({
      hostname: this.target.hostname,
      port: this.target.port,
      protocol: this.target.protocol,
      method: request.method,
      path,
      headers,
      agent: upgrade ? false : undefined,
    });
  }

  /**
   * Enters a stream among those that faults can break.
   * @param {"websocket" | "http"} transport @param {{ resource: string, namespace: string }} about
   * @param {import("node:stream").Duplex & { resetAndDestroy?: () => unknown }} socket the client's
   * @param {import("node:stream").Readable} source where the bytes come from
   * @param {import("node:stream").Writable} destination
   */
  #track(transport, about, socket, source, destination) {
    /** @type {NodeJS.Timeout | undefined} */
    let thaw;
    const unfreeze = () => {
      clearTimeout(thaw);
      source.pipe(destination);
      socket.resume();
    };
    /** @type {import("./faults.mjs").Stream} */
    const stream = {
      transport,
      resource: about.resource,
      namespace: about.namespace,
      drop: () => {
        if (socket.resetAndDestroy) socket.resetAndDestroy();
        else socket.destroy();
      },
      freeze: (ms) => {
        source.unpipe(destination);
        source.pause();
        socket.pause();
        if (Number.isFinite(ms)) thaw = setTimeout(unfreeze, ms).unref();
      },
      unfreeze,
    };
    this.faults.streams.add(stream);
    socket.on("close", () => {
      clearTimeout(thaw);
      this.faults.streams.delete(stream);
    });
  }

  /** @param {import("node:http").ServerResponse} response @param {StatusError} error */
  #refuse(response, error) {
    response.writeHead(error.code, { "content-type": "application/json", ...error.headers() });
    response.end(`${encodeJson(error.toStatus())}\n`);
  }
}

/** @param {URL} target @param {Error} error */
const unreachable = (target, error) => unavailable(`the API server at ${target.origin} cannot be reached: ${error.message}`, 1);

/**
 * @param {import("node:http").IncomingMessage} request
 * @returns {{ verb: "list" | "watch" | undefined, resource: string, namespace: string }}
 */
function describe(request) {
  const url = new URL(request.url ?? "/", "http://server");
  const path = parseResourcePath(url.pathname);
  const watch = url.searchParams.get("watch");
  const isWatch = watch !== null && watch !== "0" && watch !== "false";
  const verb = request.method !== "GET" ? undefined : isWatch ? "watch" : path && !path.name ? "list" : undefined;
  return { verb, resource: path?.definition.resource ?? "", namespace: path?.namespace ?? "" };
}

/** @param {import("node:http").IncomingMessage} answer */
function headText(answer) {
  let text = `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n`;
  for (let at = 0; at < answer.rawHeaders.length; at += 2) text += `${answer.rawHeaders[at]}: ${answer.rawHeaders[at + 1]}\r\n`;
  return `${text}\r\n`;
}
