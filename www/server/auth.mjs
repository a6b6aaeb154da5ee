// Bearer tokens: in the Authorization header, or as a WebSocket subprotocol, where a browser has no other place for them.
import { isUtf8 } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import { unauthorized } from "./status.mjs";

const TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

/**
 * @param {import("node:http").IncomingMessage} request
 * @returns {{ token?: string, remaining: string[] }} the token, and the subprotocols without it
 * @throws {Error} with the reason when the token's entry is malformed
 */
export function bearerToken(request) {
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((entry) => entry.trim());
  const remaining = offered.filter((entry) => entry !== "" && !entry.startsWith(TOKEN_PROTOCOL));
  const carriers = offered.filter((entry) => entry.startsWith(TOKEN_PROTOCOL));
  if (carriers.length > 1) throw new Error("multiple base64.bearer.authorization tokens specified");
  if (carriers.length === 1) {
    const encoded = carriers[0].slice(TOKEN_PROTOCOL.length);
    if (!/^[A-Za-z0-9_-]*$/.test(encoded) || encoded.length % 4 === 1)
      throw new Error("invalid base64.bearer.authorization token encoding");
    const bytes = Buffer.from(encoded, "base64url");
    if (!isUtf8(bytes)) throw new Error("invalid base64.bearer.authorization token");
    if (bytes.length > 0) {
      // One must be left to echo: a browser that offered subprotocols insists on an answer.
      if (remaining.length === 0) throw new Error("missing additional subprotocol");
      return { token: bytes.toString(), remaining };
    }
  }
  const header = /^Bearer +(\S+)/i.exec(request.headers.authorization ?? "");
  return { token: header?.[1], remaining };
}

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {readonly string[]} tokens accepted ones; none: everybody may enter
 * @returns {string[]} the subprotocols that are left to choose from
 * @throws {import("./status.mjs").StatusError} 401
 */
export function authenticate(request, tokens) {
  let found;
  try {
    found = bearerToken(request);
  } catch {
    throw unauthorized();
  }
  if (tokens.length > 0) {
    const { token } = found;
    if (token === undefined || !tokens.some((accepted) => same(accepted, token))) throw unauthorized();
  }
  return found.remaining;
}

/** @param {string} left @param {string} right */
function same(left, right) {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
