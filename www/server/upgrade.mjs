// WebSocket handshakes: who may have one, and the plain HTTP answers that refuse the others.
import { STATUS_CODES } from "node:http";
import { encodeJson } from "./json.mjs";
import { badRequest, StatusError } from "./status.mjs";

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {string[]} remaining subprotocols beside the token
 */
export function checkHandshake(request, remaining) {
  const { origin } = request.headers;
  // Browsers always send one; "null" is that of a sandboxed frame or a file.
  if (origin === undefined || !isAbsolute(origin)) throw new StatusError(403, "Forbidden", "a WebSocket needs an Origin that is a URL");
  if (remaining.length > 1) throw badRequest("a WebSocket takes none or one subprotocol beside the token's");
}

/** @param {string} origin */
function isAbsolute(origin) {
  return origin.startsWith("/") || URL.canParse(origin);
}

/** @param {import("node:stream").Duplex} socket @param {StatusError} error */
export function refuseUpgrade(socket, error) {
  endUpgrade(socket, error.code, "application/json", `${encodeJson(error.toStatus())}\n`, error.headers());
}

/**
 * @param {import("node:stream").Duplex} socket @param {number} code @param {string} type @param {string} body
 * @param {Record<string, string>} [more] headers
 */
export function endUpgrade(socket, code, type, body, more = {}) {
  const headers = { "content-type": type, "content-length": String(Buffer.byteLength(body)), connection: "close", ...more };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on("error", () => {});
  socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "Error"}\r\n${lines.join("")}\r\n${body}`);
}
