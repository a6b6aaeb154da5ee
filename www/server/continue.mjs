// Continue tokens, byte for byte as an API server writes them.
import { posix } from "node:path";

const TOKEN_VERSION = "meta.k8s.io/v1";

/**
 * @param {string} start where to go on, relative to what is listed: "/namespace/name\0" or "/name\0"
 * @param {number} version the version of the first page; -1: whatever is current then
 */
export function encodeContinue(start, version) {
  return Buffer.from(JSON.stringify({ v: TOKEN_VERSION, rv: version, start })).toString("base64url");
}

/**
 * @param {string} token
 * @returns {{ start: string, version: number }} `start` begins with "/"
 * @throws {SyntaxError} with the API server's message
 */
export function decodeContinue(token) {
  const bad = base64Problem(token);
  if (bad !== undefined) throw new SyntaxError(`continue key is not valid: illegal base64 data at input byte ${bad}`);
  /** @type {any} */
  let value;
  try {
    value = JSON.parse(Buffer.from(token, "base64url").toString());
    if (value === null || typeof value !== "object" || Array.isArray(value)) throw new SyntaxError("not an object");
  } catch (error) {
    throw new SyntaxError(`continue key is not valid: ${/** @type {Error} */ (error).message}`);
  }
  const { v = "", rv = 0, start = "" } = value;
  if (typeof v !== "string" || !Number.isInteger(rv) || typeof start !== "string")
    throw new SyntaxError("continue key is not valid: json: cannot unmarshal into a continue token");
  if (v !== TOKEN_VERSION) throw new SyntaxError(`continue key is not valid: server does not recognize this encoded version ${v}`);
  if (rv === 0) throw new SyntaxError("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  if (start === "") throw new SyntaxError("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  const rooted = start.startsWith("/") ? start : `/${start}`;
  // A key that climbs could reach above what was asked for.
  const clean = posix.normalize(rooted).replace(/(.)\/$/, "$1");
  if (clean !== rooted) throw new SyntaxError(`continue key is not valid: ${start}`);
  return { start: rooted, version: rv };
}

/** The first byte that unpadded base64url cannot hold. @param {string} token */
function base64Problem(token) {
  const at = token.search(/[^A-Za-z0-9_-]/);
  if (at >= 0) return at;
  return token.length % 4 === 1 ? token.length - 1 : undefined;
}
