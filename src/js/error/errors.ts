import type { AbortSignalLike } from "../host/types.js";
import type { Status } from "../object/metadata.js";
import type { RawError } from "./core-error.js";

/** The codes in the order of the core. tests/conformance/wire.rs fails when the two differ. */
export const ERROR_CODES = [
  "expired",
  "timeout",
  "too-many-requests",
  "unauthorized",
  "forbidden",
  "not-found",
  "conflict",
  "invalid",
  "network",
  "protocol",
  "decode",
  "overflow",
  "unavailable",
  "out-of-memory",
  "closed",
  "internal",
] as const;

/**
 * What callers branch on: what happened, and what to do.
 *
 * - `expired`: the version or the page is no longer kept. List or watch anew, without it.
 * - `timeout`: no answer in time, or the version asked for did not arrive. Try again.
 * - `too-many-requests`: the server, or a cache that is not ready, asks to wait for `retryAfterSeconds`. Then try again.
 * - `unauthorized`: the server does not know who asks. See to what `auth` gives, then `resume()`.
 * - `forbidden`: the server knows who asks, and refuses. Ask who grants rights there.
 * - `not-found`: no such object, resource or server path. Look at the name, the version and `server`.
 * - `conflict`: the object was changed meanwhile, or its name is taken. Read it again, and decide anew.
 * - `invalid`: an option, a selector, a path or an object is wrong. The message says which; it is a mistake in the program, or of who typed it.
 * - `network`: the server or the WebAssembly cannot be reached. Resources try again by themselves; a single call may be tried again.
 * - `protocol`: the answer is none of a Kubernetes API. Look at `server`, and at proxies and sign-in pages before it.
 * - `decode`: bytes that cannot be read, as JSON, as WebAssembly, or by a `transform`. The message says which.
 * - `overflow`: a reader is too slow for its buffer. Read faster, raise `bufferSize`, or choose another `onOverflow`.
 * - `unavailable`: the server or the resource cannot answer now, as while it is paused. Try again later, or `resume()`.
 * - `out-of-memory`: what would be held is more than `memory.maxBytes`, and this has grown most lately. Hold less, then `resume()`, which brings
 *   back resources and views; make a new watch or informer. Or make the cache with a higher bound.
 * - `closed`: the cache, the resource, the informer or the view was closed. Make a new one.
 * - `internal`: a defect of this package. Please report it.
 */
export type WatchCacheErrorCode = (typeof ERROR_CODES)[number];

const CODES: ReadonlySet<string> = new Set(ERROR_CODES);

/** What else an error may carry. */
export interface WatchCacheErrorDetails {
  /** The server's own answer. */
  status?: Status | undefined;
  /** Whether the same call can succeed later. */
  retryable?: boolean | undefined;
  /** How long the server asked to wait, in seconds. */
  retryAfterSeconds?: number | undefined;
  /** The resource's name, such as `pods`. */
  resource?: string | undefined;
  /** What led to it. */
  cause?: unknown;
}

/** Every error of this package, but aborts: those are a `DOMException` named `AbortError`, or `TimeoutError` of `AbortSignal.timeout`. */
export class WatchCacheError extends Error {
  /** Tells it from other errors where `instanceof` cannot, as between realms. */
  override readonly name = "WatchCacheError";
  /** Stable: branch on this, not on the message. See {@link WatchCacheErrorCode} for what each means, and what to do. */
  readonly code: WatchCacheErrorCode;
  /** The server's own answer, where there was one. */
  declare readonly status?: Status;
  /** Whether the same call can succeed later. */
  readonly retryable: boolean;
  /** How long the server asked to wait, in seconds. */
  declare readonly retryAfterSeconds?: number;
  /** The resource's name, such as `pods`. */
  declare readonly resource?: string;

  /** For sources and tests, which may fail as the package does. */
  constructor(code: WatchCacheErrorCode, message: string, details: WatchCacheErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.retryable = details.retryable ?? false;
    // Absent, not undefined, where there is nothing to tell: errors are often printed whole.
    if (details.status !== undefined) this.status = details.status;
    if (details.retryAfterSeconds !== undefined) this.retryAfterSeconds = details.retryAfterSeconds;
    if (details.resource !== undefined) this.resource = details.resource;
  }

  /** Where a selector of this call stops making sense; undefined for every other error. */
  get mistake(): SelectorMistake | undefined {
    const cause = this.status?.details?.causes?.[0];
    const offset = /^position (\d+)$/.exec(cause?.message ?? "")?.[1];
    return cause?.field === undefined || offset === undefined ? undefined : { option: cause.field, offset: Number(offset) };
  }
}

/** The place of a mistake in a selector. */
export interface SelectorMistake {
  /** The option that the selector was given by, such as `labelSelector`. */
  readonly option: string;
  /** In bytes of UTF-8 from the start of the text: its index there, if all before it is ASCII. The text's length when something is missing at its end. */
  readonly offset: number;
}

/**
 * Whatever the boundary threw, as an error of this package.
 * @internal
 */
export function toError(thrown: unknown, resource?: string): WatchCacheError {
  if (thrown instanceof WatchCacheError) return thrown;
  if (isRawError(thrown)) {
    const { code, message, status, retryable, retryAfterSeconds } = thrown;
    return new WatchCacheError(CODES.has(code) ? (code as WatchCacheErrorCode) : "internal", message, {
      resource,
      retryable,
      status: status as Status | undefined,
      retryAfterSeconds,
      // The boundary's own Error knows where in the WebAssembly it came from: of use for a mistake of ours, and else a page of numbers.
      cause: thrown instanceof Error && code === "internal" ? thrown : undefined,
    });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new WatchCacheError("internal", message, { resource, cause: thrown });
}

function isRawError(thrown: unknown): thrown is RawError {
  return typeof thrown === "object" && thrown !== null && typeof (thrown as RawError).code === "string" && "message" in thrown;
}

/** @internal */
export function closedError(resource?: string): WatchCacheError {
  const what = resource === undefined ? "the cache" : `the cache of ${resource}`;
  return new WatchCacheError("closed", `${what} is closed`, { resource });
}

/** @internal */
export function pausedError(resource: string): WatchCacheError {
  const message = `${resource} is paused, and nothing of it is held: call resume() first`;
  return new WatchCacheError("unavailable", message, { resource, retryable: true });
}

/**
 * What an aborted call throws: the signal's reason where that is a `DOMException` that says so, as of `AbortSignal.timeout`. For any other
 * reason it is an `AbortError`, with the reason as its `cause`.
 * @internal
 */
export function abortError(signal: AbortSignalLike, message = "The operation was aborted."): DOMException {
  const reason: unknown = signal.reason;
  if (reason instanceof DOMException && (reason.name === "AbortError" || reason.name === "TimeoutError")) return reason;
  const error = new DOMException(message, "AbortError");
  if (reason !== undefined) Object.defineProperty(error, "cause", { value: reason, configurable: true, writable: true });
  return error;
}
