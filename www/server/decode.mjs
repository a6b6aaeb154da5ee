// Bodies of writes: what is in them, and the words for what should not be.
import { jsonProblem, jsonType, quote } from "./json.mjs";
import { labelKeyProblems, labelValueProblems, subdomainProblem } from "./label-selector.mjs";
import { apiVersion } from "./resources.mjs";
import { badRequest, invalid } from "./status.mjs";
import { typed, TypeProblem } from "./types/typed.mjs";

/** @typedef {import("./resources.mjs").ResourceDefinition} ResourceDefinition */

/** As much of a body as a message repeats. */
const SUMMARY_BYTES = 30;

const UNREAD = "couldn't get version/kind; json parse error: ";

/** What is wrong with a document that is no object. @param {unknown} document */
export function shapeProblem(document) {
  const target = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  return `${UNREAD}json: cannot unmarshal ${jsonType(document)} into Go value of type ${target}`;
}

/**
 * A body as a document of a kind. What stands in its fields is not looked at yet: {@link takeFields} does.
 * @param {Buffer} bytes
 * @param {ResourceDefinition} definition
 * @returns {any}
 * @throws {import("./status.mjs").StatusError} 400
 */
export function decodeObject(bytes, definition) {
  const unrecognized = (/** @type {string} */ problem) =>
    badRequest(`the object provided is unrecognized (must be of type ${definition.kind}): ${problem} (${summary(bytes)})`);
  const body = decodeDocument(bytes, unrecognized);
  const problem = typeProblem(body, definition);
  if (problem)
    throw badRequest(
      `${String(body.kind || definition.kind)} in version ${quote(lastPart(body.apiVersion || apiVersion(definition)))} cannot be handled as a ${definition.kind}: ${problem}`,
    );
  return body;
}

/**
 * @param {Buffer} bytes
 * @returns {any} what the JSON says; an empty object where there is none
 * @throws {import("./status.mjs").StatusError} 400 for what is no object, too
 */
export const decodeJson = (bytes) => (bytes.length === 0 ? {} : decodeDocument(bytes, badRequest));

/**
 * @param {Buffer} bytes @param {(problem: string) => import("./status.mjs").StatusError} refuse
 * @returns {any} an object whose kind and version are texts, where it has them
 */
function decodeDocument(bytes, refuse) {
  const text = bytes.toString();
  const problem = (/** @type {string} */ why) => refuse(UNREAD + why);
  let body;
  try {
    body = JSON.parse(text) ?? {};
  } catch (error) {
    throw problem(jsonProblem(text, error));
  }
  if (jsonType(body) !== "object") throw refuse(shapeProblem(body));
  for (const field of ["kind", "apiVersion"])
    if (typeof (body[field] ?? "") !== "string")
      throw problem(`json: cannot unmarshal ${jsonType(body[field])} into Go struct field .${field} of type string`);
  return body;
}

/**
 * Refuses what is of no kind, as a whole. @param {{ kind: string, version: string }} of
 * @returns {(problem: string) => import("./status.mjs").StatusError}
 */
export const cannotHandle =
  ({ kind, version }) =>
  (problem) =>
    badRequest(`${kind} in version ${quote(version)} cannot be handled as a ${kind}: ${problem}`);

/**
 * A document with values of its type. Fields that the type does not have are left out, and said.
 * @param {string} type the name of the type @param {any} document
 * @param {(problem: string, cause?: TypeProblem) => import("./status.mjs").StatusError} refuse
 * @param {Pick<import("./write.mjs").Said, "validation" | "warnings">} [said] nothing: what is left out is not said
 * @returns {any} another object
 * @throws {import("./status.mjs").StatusError} for a value of another type; for an unknown field where the write is strict
 */
export function takeFields(type, document, refuse, said) {
  const { object, unknown } = typedOr(type, document, refuse);
  const problems = unknown.map((path) => `unknown field ${quote(path)}`);
  if (said?.validation === "Strict" && problems.length > 0) throw refuse(`strict decoding error: ${problems.join(", ")}`);
  if (said?.validation === "Warn") said.warnings.push(...problems);
  return object;
}

/** @param {string} type @param {any} document @param {(problem: string, cause: TypeProblem) => import("./status.mjs").StatusError} refuse */
export function typedOr(type, document, refuse) {
  try {
    return typed(type, document);
  } catch (error) {
    throw error instanceof TypeProblem ? refuse(error.message, error) : error;
  }
}

/** @param {Buffer} bytes */
function summary(bytes) {
  if (bytes.length === 0) return "<empty>";
  const more = bytes.length > SUMMARY_BYTES ? " ..." : "";
  const start = bytes.subarray(0, SUMMARY_BYTES);
  return (bytes[0] === 0x7b ? start.toString() : start.toString("hex")) + more;
}

/** @param {string} version "apps/v1" */
const lastPart = (version) => /** @type {string} */ (version.split("/").at(-1));

/**
 * @param {any} body @param {ResourceDefinition} definition
 * @returns {string} "" for a document of the kind, or of none
 */
export function typeProblem(body, definition) {
  const wanted = apiVersion(definition);
  const kind = body.kind || definition.kind;
  const version = body.apiVersion || wanted;
  if (kind === definition.kind && version === wanted) return "";
  if (version === wanted)
    return `converting (${definition.version}.${kind}) to (${definition.group || "core"}.${definition.kind}): unknown conversion`;
  return `no kind ${quote(kind)} is registered for version ${quote(version)}`;
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

/** @param {ResourceDefinition} definition @param {any} metadata */
export function checkLabels(definition, { name, labels = {}, annotations = {} }) {
  const problem = (/** @type {string} */ field, /** @type {string} */ value) => (/** @type {string} */ why) => ({
    type: "FieldValueInvalid",
    field,
    body: `Invalid value: ${quote(value)}: ${why}`,
  });
  const problems = [
    ...Object.entries(labels ?? {}).flatMap(([key, value]) => [
      ...labelKeyProblems(key).map(problem("metadata.labels", key)),
      ...labelValueProblems(value).map(problem("metadata.labels", value)),
    ]),
    ...Object.keys(annotations ?? {}).flatMap((key) => labelKeyProblems(key.toLowerCase()).map(problem("metadata.annotations", key))),
  ];
  if (problems.length > 0) throw invalid(definition, name, problems);
}
