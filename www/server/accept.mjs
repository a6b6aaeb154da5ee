// What a request takes for an answer: JSON, and in which view of the objects.
import { notAcceptable, StatusError } from "./status.mjs";

/** @typedef {"Table" | "PartialObjectMetadata" | "PartialObjectMetadataList"} ViewKind */

/**
 * Another document than the objects themselves.
 * @typedef {object} View
 * @property {ViewKind} as
 * @property {"v1" | "v1beta1"} version of meta.k8s.io
 */

const AVAILABLE = ["application/json", "application/json;stream=watch"];
const TYPES = new Set(["application/json", "application/*", "*/*"]);
const VIEWS = new Set(["Table", "PartialObjectMetadata", "PartialObjectMetadataList"]);
const VIEW_VERSIONS = new Set(["v1", "v1beta1"]);

/**
 * @typedef {object} Clause
 * @property {string} type
 * @property {Record<string, string>} parameters
 * @property {number} quality
 */

/**
 * The clauses of an Accept header, the best first.
 * @param {string} [header] nothing: everything is taken
 * @returns {Clause[]}
 */
export function parseAccept(header) {
  if (!header) return [{ type: "*/*", parameters: {}, quality: 1 }];
  const clauses = header.split(",").map((text) => {
    const [type, ...rest] = text.split(";").map((part) => part.trim());
    const parameters = Object.fromEntries(
      rest.map((part) => {
        const at = part.indexOf("=");
        return at < 0 ? [part.toLowerCase(), ""] : [part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()];
      }),
    );
    const quality = Number(parameters.q ?? 1);
    return { type: type.toLowerCase(), parameters, quality: Number.isNaN(quality) ? 0 : quality };
  });
  return clauses.sort((left, right) => right.quality - left.quality);
}

/**
 * Which of the clauses is answered.
 * @param {import("node:http").IncomingMessage} request
 * @returns {View | undefined} undefined: the objects themselves
 * @throws {StatusError} 406
 */
export function acceptedView(request) {
  const clauses = parseAccept(request.headers.accept).filter(({ type }) => TYPES.has(type));
  if (clauses.length === 0) throw notAcceptable(AVAILABLE);
  for (const { parameters } of clauses) {
    const { as, g = "", v = "" } = parameters;
    if (as === undefined) return undefined;
    if (g === "meta.k8s.io" && VIEW_VERSIONS.has(v) && VIEWS.has(as))
      return { as: /** @type {ViewKind} */ (as), version: /** @type {View["version"]} */ (v) };
  }
  throw new StatusError(406, "NotAcceptable", "only the following media types are accepted: application/json");
}

/**
 * Whether the best clause that can be answered asks for a document of another group.
 * @param {import("node:http").IncomingMessage} request @param {{ as: string, g: string, v: string }} document
 * @throws {StatusError} 406
 */
export function acceptsDocument(request, { as, g, v }) {
  const clauses = parseAccept(request.headers.accept).filter(({ type }) => TYPES.has(type));
  if (clauses.length === 0) throw notAcceptable(AVAILABLE.slice(0, 1));
  for (const { parameters } of clauses) {
    if (parameters.as === undefined) return false;
    if (parameters.as === as && parameters.g === g && parameters.v === v) return true;
  }
  throw new StatusError(406, "NotAcceptable", "only the following media types are accepted: application/json");
}
