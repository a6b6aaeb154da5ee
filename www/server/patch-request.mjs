// Patches as requests bring them: read by their content type, applied, and refused in the words of an API server.
import { parse as parseYaml } from "yaml";
import { shapeProblem, typeProblem } from "./decode.mjs";
import { jsonProblem, jsonType, quote } from "./json.mjs";
import { jsonPatch, mergePatch, PatchError } from "./patch.mjs";
import { badRequest, StatusError, unsupportedMediaType } from "./status.mjs";
import { KeyProblem, strategicPatch } from "./strategic.mjs";

/** @typedef {import("./types/typed.mjs").TypeProblem} TypeProblem */

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
export const APPLY_PATCH = "application/apply-patch+yaml";
const TYPES = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH];

/**
 * @param {string} contentType
 * @returns {string} one of the four types of patches
 * @throws {StatusError} 415
 */
export function patchType(contentType) {
  const type = contentType.split(";")[0].trim().toLowerCase();
  if (!TYPES.includes(type)) throw unsupportedMediaType();
  return type;
}

/**
 * @typedef {object} Patched
 * @property {any} document as the patch leaves it, with values of any type
 * @property {(problem: string, cause?: TypeProblem) => StatusError} refuse what is wrong with it
 */

/**
 * @param {string} type of the patch @param {Buffer} body
 * @param {any} before may be changed @param {string} beforeType the name of its type
 * @returns {Patched}
 * @throws {StatusError} 400 for what is no patch, 422 for one that does not fit, 500 for an item without its key
 */
export function applyPatch(type, body, before, beforeType) {
  if (type === STRATEGIC_PATCH) return applyStrategic(body, before, beforeType);
  const patch = type === APPLY_PATCH ? decodeYaml(body) : decodePatch(body);
  const undecodable = (/** @type {string} */ why) => badRequest(`error decoding patch: ${why}`);
  let document;
  if (type === JSON_PATCH) {
    try {
      document = jsonPatch(before, patch);
    } catch (error) {
      if (error instanceof PatchError)
        throw new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
      throw undecodable(/** @type {Error} */ (error).message);
    }
  } else {
    if (patch === null) throw badRequest("Invalid JSON Patch");
    if (jsonType(patch) !== "object") throw undecodable(notAMap(patch));
    document = mergePatch(before, patch);
  }
  const refuse = (/** @type {string} */ problem) => invalidPatch(JSON.stringify(document), problem);
  if (jsonType(document) !== "object") throw refuse(shapeProblem(document));
  return { document, refuse };
}

/** @param {Buffer} body @param {any} before @param {string} beforeType @returns {Patched} */
function applyStrategic(body, before, beforeType) {
  let patch;
  try {
    patch = JSON.parse(body.toString());
  } catch (error) {
    throw badRequest(jsonProblem(body.toString(), error));
  }
  patch ??= {};
  if (jsonType(patch) !== "object") throw badRequest(notAMap(patch));
  let result;
  try {
    result = strategicPatch(before, patch, beforeType);
  } catch (error) {
    if (error instanceof KeyProblem)
      throw new StatusError(500, "", `map: ${goText(error.item)} does not contain declared merge key: ${error.key}`);
    throw badRequest(`error decoding patch: ${/** @type {Error} */ (error).message}`);
  }
  // Here the kind is that of the path, whatever the patch makes of it.
  const document = { ...result, kind: before.kind, apiVersion: before.apiVersion };
  return { document, refuse: (problem, cause) => invalidPatch(goText(patch), cause ? conversionProblem(cause) : problem) };
}

/**
 * The patch of an apply.
 * @param {Buffer} body @param {import("./resources.mjs").ResourceDefinition} definition
 * @returns {any} of the kind
 * @throws {StatusError} 400
 */
export function decodeApplied(body, definition) {
  const patch = decodeYaml(body) ?? {};
  if (jsonType(patch) !== "object")
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${notAMap(patch)}`);
  const [version, kind] = [patch.apiVersion, patch.kind].map((text) => (typeof text === "string" ? text : ""));
  if (!version || !kind || typeProblem({ apiVersion: version, kind }, definition))
    throw badRequest(`invalid object type: ${kindText(version, kind)}`);
  return patch;
}

/** As messages about applies name a kind. @param {string} apiVersion @param {string} kind */
export const kindText = (apiVersion, kind) => `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;

/** What is wrong with a value, as applies say it. @param {TypeProblem} problem */
export function appliedProblem({ path, wanted, value }) {
  const at = `.${path}: expected`;
  if (wanted === "map" || wanted === "struct") return `${at} map, got &{${goText(value)}}`;
  if (wanted === "slice") return `${at} list, got &{${goText(value)}}`;
  if (wanted === "string") return `${at} string, got &value.valueUnstructured{Value:${goLiteral(value)}}`;
  if (wanted === "bool") return `${at} boolean, got &{${goText(value)}}`;
  return `${at} numeric (int or float), got ${goKind(value)}`;
}

/** @param {unknown} value */
const notAMap = (value) => `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`;

/** The kind of a value in Go. @param {unknown} value */
function goKind(value) {
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  const type = jsonType(value);
  return type === "array" ? "slice" : type === "object" ? "map" : type;
}

/** @param {unknown} value */
const goLiteral = (value) => (typeof value === "string" ? quote(value) : goText(value));

/** A value as Go prints it. @param {any} value @returns {string} */
function goText(value) {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (typeof value !== "object") return String(value);
  const keys = Object.keys(value).sort();
  return `map[${keys.map((key) => `${key}:${goText(value[key])}`).join(" ")}]`;
}

/** What is wrong with a value, as strategic patches say it. @param {TypeProblem} problem */
function conversionProblem({ wanted, value }) {
  const kind = goKind(value);
  if (wanted === "struct") return `cannot restore struct from: ${kind}`;
  if (wanted === "map" || wanted === "slice") return `cannot restore ${wanted} from ${kind}`;
  return wanted === "string" && kind === "int64" ? "cannot convert int64 to string" : `unrecognized type: ${wanted}`;
}

/** @param {string} value @param {string} problem */
function invalidPatch(value, problem) {
  const body = `Invalid value: ${quote(value)}: ${problem}`;
  return new StatusError(422, "Invalid", ` "" is invalid: patch: ${body}`, {
    causes: [{ reason: "FieldValueInvalid", message: body, field: "patch" }],
  });
}

/** @param {Buffer} body @returns {any} */
function decodePatch(body) {
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    throw badRequest(`error decoding patch: ${jsonProblem(body.toString(), error)}`);
  }
}

/** @param {Buffer} body YAML, of which JSON is a part @returns {any} */
function decodeYaml(body) {
  try {
    return parseYaml(body.toString());
  } catch (error) {
    throw badRequest(`error decoding YAML: ${/** @type {Error} */ (error).message}`);
  }
}
