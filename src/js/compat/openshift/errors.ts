import { toError, WatchCacheError } from "../../error/errors.js";
import type { Status } from "../../object/metadata.js";

/** An error as hooks and calls give it: one of the package, with the server's answer where the original's `HttpError` has it. */
export class HttpError extends WatchCacheError {
  /** The server's HTTP code; 410 for a version that is too old. Absent for what is no answer of a server. */
  declare readonly response?: { readonly status: number };
  /** The server's answer, a `Status`. */
  declare readonly json?: Status;

  /** The same error, with `response` and `json`. */
  constructor({ code, message, status, retryable, retryAfterSeconds, resource, cause }: WatchCacheError) {
    super(code, message, { status, retryable, retryAfterSeconds, resource, cause });
    const number = status?.code ?? (code === "expired" ? 410 : undefined);
    if (number !== undefined) this.response = { status: number };
    if (status !== undefined) this.json = status;
  }
}

const made = new WeakMap<object, HttpError>();

/** The same one for the same error, so that results stay the same. */
export function httpErrorOf(thrown: unknown): HttpError {
  if (thrown instanceof HttpError) return thrown;
  const error = toError(thrown);
  let known = made.get(error);
  if (known === undefined) made.set(error, (known = new HttpError(error)));
  return known;
}

/** A mistake in the program. */
export function mistake(message: string): HttpError {
  return new HttpError(new WatchCacheError("invalid", message));
}

/** An answer as a server gives it, for what is decided here. */
export function refusal(code: "conflict" | "not-found", message: string): HttpError {
  const [number, reason] = ({ conflict: [409, "Conflict"], "not-found": [404, "NotFound"] } as const)[code];
  const status: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code: number };
  return new HttpError(new WatchCacheError(code, message, { status }));
}

/** What a call throws: an abort as it is, all else as an `HttpError`. */
export async function answered<R>(call: () => Promise<R>): Promise<R> {
  try {
    return await call();
  } catch (thrown) {
    throw thrown instanceof DOMException ? thrown : httpErrorOf(thrown);
  }
}
