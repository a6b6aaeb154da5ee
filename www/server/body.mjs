// Bodies of requests: how large they may be, and in which form they come.
import { parse as parseYaml } from "yaml";
import { badRequest, tooLarge, unsupportedMediaType } from "./status.mjs";
import { decodeProtobuf, isProtobuf } from "./types/protobuf.mjs";

/** @typedef {import("node:http").IncomingMessage} Request */

const LIMIT = 3 * 1024 * 1024;
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const YAML = "application/yaml";
const OBJECT_TYPES = new Set(["application/json", YAML, PROTOBUF]);

/** @param {Request} request */
const contentType = (request) => (request.headers["content-type"] ?? "application/json").split(";")[0].trim().toLowerCase();

/** @param {Request} request @throws {import("./status.mjs").StatusError} 415 for what no object is sent as */
export function checkContentType(request) {
  if (!OBJECT_TYPES.has(contentType(request))) throw unsupportedMediaType();
}

/**
 * A body. Go clients send objects in protobuf, and people in YAML: both come out as JSON.
 * @param {Request} request @param {string} kind that is wanted
 * @throws {import("./status.mjs").StatusError} 400, and 413 for one that is too large
 */
export async function readBody(request, kind) {
  const body = await readAll(request);
  const type = contentType(request);
  if (body.length === 0 || (type !== PROTOBUF && type !== YAML)) return body;
  const unrecognized = (/** @type {string} */ why) => badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why}`);
  if (type === PROTOBUF && !isProtobuf(body)) {
    const start = body.subarray(0, 30).toString("hex");
    throw unrecognized(`provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (${start})`);
  }
  try {
    return Buffer.from(JSON.stringify(type === YAML ? parseYaml(body.toString()) : decodeProtobuf(body)));
  } catch (error) {
    throw unrecognized(/** @type {Error} */ (error).message);
  }
}

/** @param {Request} request */
async function readAll(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > LIMIT) throw tooLarge(`limit is ${LIMIT}`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
