// Status errors: what an API server answers instead of an object.
import { quote } from "./json.mjs";

/** @typedef {{ reason?: string, message?: string, field?: string }} StatusCause */
/** @typedef {{ name?: string, group?: string, kind?: string, uid?: string, causes?: StatusCause[], retryAfterSeconds?: number }} StatusDetails */

/** An error that knows its Status document and its HTTP answer. */
export class StatusError extends Error {
  /**
   * @param {number} code HTTP status code
   * @param {string} reason machine-readable reason; "" for none, as for plain Go errors
   * @param {string} message
   * @param {StatusDetails} [details]
   * @param {Record<string, string>} [metadata] list metadata, used by an expired continue token
   */
  constructor(code, reason, message, details, metadata) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.metadata = metadata ?? {};
  }

  /** The Status document, fields in the order of the Go type. */
  toStatus() {
    /** @type {Record<string, unknown>} */
    const status = { kind: "Status", apiVersion: "v1", metadata: this.metadata, status: "Failure" };
    if (this.message) status.message = this.message;
    if (this.reason) status.reason = this.reason;
    if (this.details) status.details = this.details;
    status.code = this.code;
    return status;
  }

  /**
   * Response headers: `Retry-After` exists exactly when the details name the seconds.
   * @returns {Record<string, string>}
   */
  headers() {
    const seconds = this.details?.retryAfterSeconds ?? 0;
    return seconds > 0 ? { "retry-after": String(seconds) } : {};
  }
}

/**
 * "pods" or "deployments.apps", as messages name a resource.
 * @param {{ group: string, resource: string }} definition
 */
export function qualified(definition) {
  return definition.group ? `${definition.resource}.${definition.group}` : definition.resource;
}

/**
 * @param {{ group: string, resource: string }} definition
 * @param {string} name
 * @returns {StatusDetails}
 */
function about(definition, name) {
  /** @type {StatusDetails} */
  const details = {};
  if (name) details.name = name;
  if (definition.group) details.group = definition.group;
  details.kind = definition.resource;
  return details;
}

/** What a path outside of all groups is answered with, as text. */
export const PAGE_NOT_FOUND = "404 page not found\n";

/** @param {string} message */
export const badRequest = (message) => new StatusError(400, "BadRequest", message);

/** @param {{ group: string, resource: string }} definition @param {string} name */
export const notFound = (definition, name) =>
  new StatusError(404, "NotFound", `${qualified(definition)} ${quote(name)} not found`, about(definition, name));

/** The answer for a path below a known group that names nothing. */
export const noSuchResource = () => new StatusError(404, "NotFound", "the server could not find the requested resource", {});

/** @param {{ group: string, resource: string }} definition @param {string} name */
export const alreadyExists = (definition, name) =>
  new StatusError(409, "AlreadyExists", `${qualified(definition)} ${quote(name)} already exists`, about(definition, name));

/** @param {{ group: string, resource: string }} definition @param {string} name @param {string} why */
export const conflict = (definition, name, why) =>
  new StatusError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(definition)} ${quote(name)}: ${why}`,
    about(definition, name),
  );

/**
 * A condition of a DELETE that does not hold. It is said of the kind, not of the resource.
 * @param {{ group: string, kind: string }} definition @param {string} name @param {string} why
 */
export const preconditionFailed = ({ group, kind }, name, why) => conflict({ group, resource: kind }, name, why);

/** Optimistic concurrency lost: the object changed since the client read it. */
export const modified = (/** @type {{ group: string, resource: string }} */ definition, /** @type {string} */ name) =>
  conflict(definition, name, "the object has been modified; please apply your changes to the latest version and try again");

/**
 * @param {{ group: string, kind: string }} kind
 * @param {string} name
 * @param {{ type: string, field: string, body: string }[]} errors one entry per bad field; `body` is the text without the field
 */
export function invalid(kind, name, errors) {
  const texts = errors.map((error) => `${error.field}: ${error.body}`);
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const qualifiedKind = kind.group ? `${kind.kind}.${kind.group}` : kind.kind;
  /** @type {StatusDetails} */
  const details = {};
  if (name) details.name = name;
  if (kind.group) details.group = kind.group;
  details.kind = kind.kind;
  details.causes = errors.map((error) => ({ reason: error.type, message: error.body, field: error.field }));
  return new StatusError(422, "Invalid", `${qualifiedKind} ${quote(name)} is invalid: ${list}`, details);
}

/** @param {string} message @param {Record<string, string>} [metadata] */
export const expired = (message, metadata) => new StatusError(410, "Expired", message, undefined, metadata);

/**
 * The asked version lies in the future and did not come in time.
 * @param {string} asked
 * @param {number} current
 */
export const tooLargeVersion = (asked, current) =>
  new StatusError(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });

/** @param {string} message @param {number} [retryAfterSeconds] */
export const tooManyRequests = (message, retryAfterSeconds) =>
  new StatusError(429, "TooManyRequests", message, retryAfterSeconds ? { retryAfterSeconds } : undefined);

/** @param {string} message @param {number} [retryAfterSeconds] */
export const unavailable = (message, retryAfterSeconds) =>
  new StatusError(503, "ServiceUnavailable", message, retryAfterSeconds ? { retryAfterSeconds } : undefined);

export const unauthorized = () => new StatusError(401, "Unauthorized", "Unauthorized");

export const methodNotAllowed = () =>
  new StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

/** @param {string[]} available */
export const notAcceptable = (available) =>
  new StatusError(406, "NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${available.join(", ")}`, {});

export const unsupportedMediaType = () => new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});

/** @param {string} message */
export const tooLarge = (message) => new StatusError(413, "RequestEntityTooLarge", `Request entity too large: ${message}`);

/** @param {unknown} error */
export function asStatusError(error) {
  if (error instanceof StatusError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StatusError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}
