import type { Status, StatusDetails } from "../metadata-types.js";
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

export const badRequest = (message: string): Error => refusal(400, "BadRequest", message);

export const notFound = (kind: string, name: string): Error =>
  refusal(404, "NotFound", `${kind} "${name}" not found`, { details: { name, kind } });

export const alreadyExists = (kind: string, name: string): Error =>
  refusal(409, "AlreadyExists", `${kind} "${name}" already exists`, { details: { name, kind } });

export const conflict = (kind: string, name: string, why: string): Error =>
  refusal(409, "Conflict", `Operation cannot be fulfilled on ${kind} "${name}": ${why}`, { details: { name, kind } });

/** Options that contradict each other: `[field, message]` for each mistake. */
export function invalid(...mistakes: [field: string, message: string][]): Error {
  const texts = mistakes.map(([field, message]) => `${field}: Forbidden: ${message}`);
  const causes = mistakes.map(([field, message]) => ({ reason: "FieldValueForbidden", message: `Forbidden: ${message}`, field }));
  const details: StatusDetails = { group: "meta.k8s.io", kind: "ListOptions", causes };
  const text = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return refusal(422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: ${text}`, { details });
}

export const expired = (message: string, token?: string): Error =>
  refusal(410, "Expired", message, token === undefined ? {} : { metadata: { continue: token } });

/** The asked version is still to come. */
export function tooLarge(asked: number, current: number): Error {
  const details: StatusDetails = {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  };
  return refusal(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, { details });
}
