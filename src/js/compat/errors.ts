import { WatchCacheError } from "../error/errors.js";

/** An error as `error` and `done` get it: one of the package, with the HTTP code where `@kubernetes/client-node` has it. */
export class RequestError extends WatchCacheError {
  /** The server's HTTP code; 410 for a version that is too old. Absent for what is no answer of a server. */
  declare readonly statusCode?: number;

  /** The same error, with its `statusCode`. */
  constructor({ code, message, status, retryable, retryAfterSeconds, resource, cause }: WatchCacheError) {
    super(code, message, {
      retryable,
      ...(status === undefined ? {} : { status }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...(resource === undefined ? {} : { resource }),
      ...(cause === undefined ? {} : { cause }),
    });
    const statusCode = status?.code ?? (code === "expired" ? 410 : undefined);
    if (statusCode !== undefined) this.statusCode = statusCode;
  }
}
