import type { Status, StatusDetails } from "../object/metadata.js";
import type { MemoryFailure } from "./types.js";

/** What a cache takes for the refusal of its upstream. */
class Refusal extends Error {
  readonly status: Status;

  constructor(status: Status) {
    super(status.message);
    this.status = status;
  }
}

function refusal(code: number, reason: string, message: string, more: Partial<Status> = {}): Error {
  return new Refusal({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code, ...more });
}

/** What a request is rejected with that is to fail so. */
export function refused(failure: MemoryFailure): unknown {
  return "kind" in failure && failure.kind === "Status" ? new Refusal(failure) : failure;
}

const badRequest = (message: string): Error => refusal(400, "BadRequest", message);

export const noVersion = (text: string): Error =>
  badRequest(`invalid resource version: strconv.ParseUint: parsing "${text}": invalid syntax`);

export const noToken = (): Error => badRequest("invalid continue token: continue key is not valid");

export const versionBesideToken = (): Error => badRequest("specifying resource version is not allowed when using continue");

export const versionOfNew = (): Error => badRequest("resourceVersion should not be set on objects to be created");

export const notFound = (kind: string, name: string): Error =>
  refusal(404, "NotFound", `${kind} "${name}" not found`, { details: { name, kind } });

export const unnamed = (kind: string): Error =>
  refusal(422, "Invalid", `${kind} "" is invalid: metadata.name: Required value: name or generateName is required`, {
    details: {
      kind,
      causes: [{ reason: "FieldValueRequired", message: "Required value: name or generateName is required", field: "metadata.name" }],
    },
  });

export const noObject = (): Error => badRequest("the body of the request holds no object");

/** A document says another name, or namespace, than the request that carries it. */
export const elsewhere = (field: string, given: unknown, asked: string): Error =>
  badRequest(`the ${field} of the object (${String(given)}) does not match the ${field} on the URL (${asked})`);

/** The server's own words are of the patch alone; what does not fit in it stands behind them. */
export const patchFailed = (why: string): Error =>
  refusal(422, "Invalid", `the server rejected our request due to an error in our request: ${why}`);

export const unknownType = (): Error =>
  refusal(
    415,
    "UnsupportedMediaType",
    "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml",
  );

/** Of a subresource that the source does not have: it has none but `status`. */
export const noResource = (): Error => refusal(404, "NotFound", "the server could not find the requested resource");

/** The cache selects what a memory source lists. What is deleted nobody could select afterwards. */
export const noSelection = (): Error => badRequest("a memory source deletes by namespace alone: it reads no selectors");

export const alreadyExists = (kind: string, name: string): Error =>
  refusal(409, "AlreadyExists", `${kind} "${name}" already exists`, { details: { name, kind } });

const conflict = (kind: string, name: string, why: string): Error =>
  refusal(409, "Conflict", `Operation cannot be fulfilled on ${kind} "${name}": ${why}`, { details: { name, kind } });

export const modified = (kind: string, name: string): Error =>
  conflict(kind, name, "the object has been modified; please apply your changes to the latest version and try again");

export const unmet = (kind: string, name: string, field: string, wanted: string, held: unknown): Error =>
  conflict(kind, name, `the ${field} in the precondition (${wanted}) does not match ${String(held)}`);

type Mistake = readonly [field: string, message: string];
const ofMatch = (message: string): Mistake => ["resourceVersionMatch", message];
const ofInitialEvents = (message: string): Mistake => ["sendInitialEvents", message];

/** Options that contradict each other, in the server's words. */
export const MATCH_WITHOUT_VERSION = ofMatch("resourceVersionMatch is forbidden unless resourceVersion is provided");
export const MATCH_WITH_TOKEN = ofMatch("resourceVersionMatch is forbidden for continue");
export const EXACTLY_ANY = ofMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
export const MATCH_WITHOUT_INITIAL_EVENTS = ofMatch("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
export const INITIAL_EVENTS_WITHOUT_MATCH = ofMatch("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
export const NO_INITIAL_EVENTS = ofInitialEvents("sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled");

export function invalid(...mistakes: Mistake[]): Error {
  const texts = mistakes.map(([field, message]) => `${field}: Forbidden: ${message}`);
  const causes = mistakes.map(([field, message]) => ({ reason: "FieldValueForbidden", message: `Forbidden: ${message}`, field }));
  const details: StatusDetails = { group: "meta.k8s.io", kind: "ListOptions", causes };
  const text = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return refusal(422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: ${text}`, { details });
}

const expired = (message: string, token?: string): Error =>
  refusal(410, "Expired", message, token === undefined ? {} : { metadata: { continue: token } });

export const expiredList = (): Error => expired("The resourceVersion for the provided list is too old.");

/** @param token goes on at the newest version */
export const expiredToken = (token: string): Error =>
  expired("The provided continue parameter is too old to display a consistent list result.", token);

export const expiredWatch = (asked: string, oldest: bigint): Error => expired(`too old resource version: ${asked} (${oldest})`);

/** The asked version is still to come. */
export function tooLarge(asked: bigint, current: bigint): Error {
  const details: StatusDetails = {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  };
  return refusal(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, { details });
}
