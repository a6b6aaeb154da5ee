// Who asks: the headers by which the API server knows its callers, and nothing else of a request.
import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Who asks, as the server is told. */
export interface Caller {
  /** Equal for equal credentials, of no use to anybody who reads it, and another one after a restart. */
  readonly id: string;
  /** Names and values, in turn. None: nobody has said who asks. */
  readonly headers: readonly string[];
}

const TOKEN_PROTOCOL = "base64url.bearer.authorization.k8s.io.";
const IMPERSONATE = /^impersonate-(user|uid|group|extra-.+)$/;
const salt = randomBytes(32);

/**
 * @param token what a WebSocket says in place of a header
 * @returns undefined where it cannot be told: the server has rules of its own for two at once
 */
export function callerOf(request: IncomingMessage, token?: string): Caller | undefined {
  const headers: string[] = [];
  let authorizations = 0;
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at]!.toLowerCase();
    if (name === "authorization") authorizations++;
    else if (!IMPERSONATE.test(name)) continue;
    headers.push(name, request.rawHeaders[at + 1]!);
  }
  if (token !== undefined) {
    authorizations++;
    headers.push("authorization", `Bearer ${token}`);
  }
  if (authorizations > 1) return undefined;
  // "bearer" is "Bearer": one client has one name, and one limit.
  const named = headers.map((text, at) =>
    headers[at - 1] === "authorization" ? text.replace(/^\S+/, (scheme) => scheme.toLowerCase()) : text,
  );
  return { id: createHmac("sha256", salt).update(JSON.stringify(named)).digest("base64url"), headers };
}

/** The subprotocols of a WebSocket: a token is no name of one, and is never echoed. */
export function subprotocols(request: IncomingMessage): { token?: string; rest: string[] } | undefined {
  const offered = String(request.headers["sec-websocket-protocol"] ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);
  const tokens = offered.filter((entry) => entry.startsWith(TOKEN_PROTOCOL)).map((entry) => entry.slice(TOKEN_PROTOCOL.length));
  const rest = offered.filter((entry) => !entry.startsWith(TOKEN_PROTOCOL));
  if (tokens.length === 0) return { rest };
  const [encoded] = tokens;
  // One must be left to echo: a browser that offered some insists on an answer.
  if (tokens.length > 1 || rest.length === 0 || !/^[A-Za-z0-9_-]+$/.test(encoded!)) return undefined;
  const token = Buffer.from(encoded!, "base64url").toString();
  // What would be no header is no token of any server.
  return /^[\x21-\x7e]+$/.test(token) ? { token, rest } : undefined;
}
