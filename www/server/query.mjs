// Query parameters of lists and watches: decoding, defaults and validation as at the REST layer of an API server.
import { parseFieldSelector } from "./field-selector.mjs";
import { quote } from "./json.mjs";
import { parseLabelSelector } from "./label-selector.mjs";
import { badRequest, invalid } from "./status.mjs";
import { parseInteger } from "./version.mjs";

/**
 * @typedef {object} ListOptions
 * @property {boolean} watch
 * @property {string} resourceVersion "" when unset
 * @property {string} resourceVersionMatch "" when unset
 * @property {number} limit 0 for none
 * @property {string} continue
 * @property {number | undefined} timeoutSeconds
 * @property {boolean} allowWatchBookmarks
 * @property {boolean | undefined} sendInitialEvents
 * @property {string} labelSelector as given
 * @property {import("./label-selector.mjs").LabelSelector} labels
 * @property {import("./field-selector.mjs").FieldSelector} fields
 */

/**
 * @param {URLSearchParams} query
 * @param {import("./resources.mjs").ResourceDefinition} definition
 * @param {{ forceWatch?: boolean }} [path] `forceWatch`: the deprecated /watch/ prefix
 * @returns {ListOptions}
 * @throws {import("./status.mjs").StatusError} 400 for what cannot be read, 422 for what does not go together
 */
export function decodeListOptions(query, definition, { forceWatch = false } = {}) {
  const options = decode(query, definition);
  // A watch without a version is a consistent one: it waits for the current state and streams it. The old prefix predates this.
  if (
    options.watch &&
    options.sendInitialEvents === undefined &&
    !options.resourceVersionMatch &&
    (options.resourceVersion === "" || options.resourceVersion === "0")
  ) {
    options.sendInitialEvents = true;
    options.resourceVersionMatch = "NotOlderThan";
  }
  const problems = options.watch ? watchProblems(options) : listProblems(options);
  if (problems.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", problems);
  return { ...options, watch: options.watch || forceWatch };
}

/** @param {URLSearchParams} query @param {import("./resources.mjs").ResourceDefinition} definition @returns {ListOptions} */
function decode(query, definition) {
  try {
    return {
      watch: flag(query, "watch") ?? false,
      resourceVersion: query.get("resourceVersion") ?? "",
      resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
      limit: integer(query, "limit") ?? 0,
      continue: query.get("continue") ?? "",
      timeoutSeconds: integer(query, "timeoutSeconds"),
      allowWatchBookmarks: flag(query, "allowWatchBookmarks") ?? false,
      sendInitialEvents: flag(query, "sendInitialEvents"),
      labelSelector: query.get("labelSelector") ?? "",
      labels: parseLabelSelector(query.get("labelSelector") ?? ""),
      fields: parseFieldSelector(query.get("fieldSelector") ?? "", definition),
    };
  } catch (error) {
    throw badRequest(/** @type {Error} */ (error).message);
  }
}

/** Anything but "0" and "false" is true, as the API machinery has it. @param {URLSearchParams} query @param {string} name */
function flag(query, name) {
  const text = query.get(name);
  if (text === null) return undefined;
  return text !== "0" && text.toLowerCase() !== "false";
}

/** @param {URLSearchParams} query @param {string} name */
function integer(query, name) {
  const text = query.get(name);
  return text === null ? undefined : parseInteger(text);
}

/** @param {string} field @param {string} why */
const forbidden = (field, why) => ({ type: "FieldValueForbidden", field, body: `Forbidden: ${why}` });

/** @param {string} value @param {string[]} supported */
const unsupported = (value, supported) => ({
  type: "FieldValueNotSupported",
  field: "resourceVersionMatch",
  body: `Unsupported value: ${quote(value)}: supported values: ${supported.map(quote).join(", ")}`,
});

/** @param {ListOptions} options */
function listProblems({ resourceVersion, resourceVersionMatch: match, continue: token, sendInitialEvents }) {
  const problems = [];
  if (match) {
    if (!resourceVersion)
      problems.push(forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (token) problems.push(forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
    if (match !== "Exact" && match !== "NotOlderThan") problems.push(unsupported(match, ["Exact", "NotOlderThan", ""]));
    if (match === "Exact" && resourceVersion === "0") {
      problems.push(forbidden("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (sendInitialEvents !== undefined) problems.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  return problems;
}

/** @param {ListOptions} options */
function watchProblems({ resourceVersionMatch: match, continue: token, sendInitialEvents }) {
  const problems = [];
  if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    problems.push(forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match) {
    if (sendInitialEvents === undefined) {
      problems.push(forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    }
    if (match !== "NotOlderThan") problems.push(unsupported(match, ["NotOlderThan"]));
    if (token) problems.push(forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
  }
  return problems;
}
