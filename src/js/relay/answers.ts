// What the relay says itself, where it says anything: a Status, as the API server would.
import { WatchCacheError } from "../node.js";

/** An answer that is whole. */
export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Of a resource that is not there yet the API server says that. */
const NOT_READY = "storage is (re)initializing";

/** @param retryAfterSeconds when the same may succeed */
export function statusAnswer(code: number, reason: string, message: string, retryAfterSeconds?: number): Answer {
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  return jsonAnswer(
    code,
    { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, ...details, code },
    retryAfterSeconds,
  );
}

export function jsonAnswer(code: number, document: object, retryAfterSeconds?: number): Answer {
  const retry = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return {
    code,
    headers: { "content-type": "application/json", "cache-control": "no-cache, private", ...retry },
    body: Buffer.from(`${JSON.stringify(document)}\n`),
  };
}

export function textAnswer(code: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { code, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, body: Buffer.from(text) };
}

export const notReady = (): Answer => statusAnswer(429, "TooManyRequests", NOT_READY, 1);

export const unreachable = (server: string, why: string): Answer =>
  statusAnswer(503, "ServiceUnavailable", `the API server at ${server} cannot be reached: ${why}`, 1);

/** What the cache threw, as the API server would say it. */
export function answerOf(error: unknown): Answer {
  if ((error as { code?: unknown }).code === "ERR_UNESCAPED_CHARACTERS") return statusAnswer(400, "BadRequest", "the address is none");
  if (!(error instanceof WatchCacheError)) return statusAnswer(500, "InternalError", "the relay failed, see its log");
  const { status, retryAfterSeconds } = error;
  if (status?.code !== undefined)
    return jsonAnswer(status.code, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", ...status }, retryAfterSeconds);
  if (error.code === "timeout") return statusAnswer(504, "Timeout", error.message, 1);
  return statusAnswer(503, "ServiceUnavailable", error.message, retryAfterSeconds ?? 1);
}
