// Bodies of writes: what is in them, and the words for what should not be.
import { jsonProblem, jsonType, quote } from "./json.mjs";
import { subdomainProblem } from "./label-selector.mjs";
import { apiVersion } from "./resources.mjs";
import { badRequest, invalid } from "./status.mjs";

/** @typedef {import("./resources.mjs").ResourceDefinition} ResourceDefinition */

/** As much of a body as a message repeats. */
const SUMMARY_BYTES = 30;

/**
 * @param {Buffer} bytes
 * @param {ResourceDefinition} definition
 * @returns {any} an object of the resource with a `metadata` object
 * @throws {import("./status.mjs").StatusError} 400
 */
export function decodeObject(bytes, definition) {
  const text = bytes.toString();
  const unrecognized = (/** @type {string} */ problem) =>
    badRequest(
      `the object provided is unrecognized (must be of type ${definition.kind}): couldn't get version/kind; json parse error: ${problem} (${summary(bytes)})`,
    );
  let body;
  try {
    body = JSON.parse(text) ?? {};
  } catch (error) {
    throw unrecognized(jsonProblem(text, error));
  }
  if (jsonType(body) !== "object") {
    const target = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    throw unrecognized(`json: cannot unmarshal ${jsonType(body)} into Go value of type ${target}`);
  }
  checkType(body, definition);
  if (body.metadata === undefined || body.metadata === null) body.metadata = {};
  if (jsonType(body.metadata) !== "object") {
    throw badRequest(
      `${definition.kind} in version "${definition.version}" cannot be handled as a ${definition.kind}: json: cannot unmarshal ${jsonType(body.metadata)} into Go struct field ${definition.kind}.metadata of type v1.ObjectMeta`,
    );
  }
  return body;
}

/**
 * @param {Buffer} bytes
 * @returns {any} what the JSON says; an empty object where there is none
 * @throws {import("./status.mjs").StatusError} 400
 */
export function decodeJson(bytes) {
  if (bytes.length === 0) return {};
  try {
    return JSON.parse(bytes.toString()) ?? {};
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${jsonProblem(bytes.toString(), error)}`);
  }
}

/** @param {Buffer} bytes */
function summary(bytes) {
  if (bytes.length === 0) return "<empty>";
  const more = bytes.length > SUMMARY_BYTES ? " ..." : "";
  const start = bytes.subarray(0, SUMMARY_BYTES);
  return (bytes[0] === 0x7b ? start.toString() : start.toString("hex")) + more;
}

/** @param {any} body @param {ResourceDefinition} definition */
function checkType(body, definition) {
  const wanted = apiVersion(definition);
  const kind = body.kind || definition.kind;
  const version = body.apiVersion || wanted;
  const handled = `${kind} in version ${quote(String(version).split("/").at(-1) ?? "")} cannot be handled as a ${definition.kind}`;
  if (kind !== definition.kind && version === wanted) {
    throw badRequest(
      `${handled}: converting (${definition.version}.${kind}) to (${definition.group || "core"}.${definition.kind}): unknown conversion`,
    );
  }
  if (kind !== definition.kind || version !== wanted) {
    throw badRequest(`${handled}: no kind ${quote(String(kind))} is registered for version ${quote(String(version))}`);
  }
}

/**
 * Puts an object into the namespace of its path.
 * @param {ResourceDefinition} definition @param {string} namespace @param {any} metadata
 */
export function checkNamespace(definition, namespace, metadata) {
  if (!definition.namespaced) {
    delete metadata.namespace;
    return;
  }
  metadata.namespace ||= namespace || "default";
  if (namespace && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

/** @param {ResourceDefinition} definition @param {unknown} name */
export function checkName(definition, name) {
  const field = "metadata.name";
  if (!name) {
    throw invalid(definition, "", [{ type: "FieldValueRequired", field, body: "Required value: name or generateName is required" }]);
  }
  const text = String(name);
  const problem = subdomainProblem(text);
  if (problem) throw invalid(definition, text, [{ type: "FieldValueInvalid", field, body: `Invalid value: ${quote(text)}: ${problem}` }]);
}
