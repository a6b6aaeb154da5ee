// Continue tokens, byte for byte as an API server writes them.
import { posix } from "node:path";
import { jsonProblem, jsonType } from "./json.mjs";

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
  const text = Buffer.from(token, "base64url").toString();
  /** @type {any} */
  let value;
  try {
    value = JSON.parse(text) ?? {};
  } catch (error) {
    throw new SyntaxError(`continue key is not valid: ${jsonProblem(text, error)}`);
  }
  const type = jsonType(value);
  if (type !== "object")
    throw new SyntaxError(`continue key is not valid: json: cannot unmarshal ${type} into Go value of type storage.continueToken`);
  const { v = "", rv = 0, start = "" } = value;
  for (const [field, given, wanted] of /** @type {const} */ ([
    ["v", v, "string"],
    ["rv", rv, "int64"],
    ["start", start, "string"],
  ])) {
    if (wanted === "int64" ? !Number.isInteger(given) : typeof given !== wanted) {
      throw new SyntaxError(
        `continue key is not valid: json: cannot unmarshal ${jsonType(given)} into Go struct field continueToken.${field} of type ${wanted}`,
      );
    }
  }
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
