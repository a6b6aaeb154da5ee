// What etcd refuses, as a cache understands it: codes of gRPC as HTTP statuses, and what they do not tell by etcd's own words.

/** What a cache takes for the refusal of its upstream. */
export class Refusal extends Error {
  readonly code: number;
  readonly reason: string;
  readonly retryAfterSeconds?: number;

  constructor(code: number, reason: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.reason = reason;
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The reason of a refusal of a revision that is not there yet. */
export const FUTURE = "FutureRevision";

/** A watch began where etcd has no changes any more. */
export class Compacted extends Refusal {
  /** The first revision that etcd still has, whole. */
  readonly before: string;

  constructor(before: string) {
    super(410, "Expired", `required revision has been compacted: etcd has none before ${before}`);
    this.before = before;
  }
}

/** By the words of etcd, where its code says something else or too little. */
const BY_WORDS: readonly (readonly [RegExp, number, string])[] = [
  [/has been compacted/, 410, "Expired"],
  [/is a future revision/, 504, FUTURE],
  [/invalid auth token|user name is empty|authentication failed|auth(entication)? token|revision in header is old/, 401, "Unauthorized"],
  [/authentication is not enabled/, 412, "AuthenticationDisabled"],
  [/request is too large|received message larger than max/, 413, "RequestEntityTooLarge"],
  [/database space exceeded/, 507, "InsufficientStorage"],
  [/too many requests/, 429, "TooManyRequests"],
];

/** By gRPC's codes, and the names that etcd's reasons of a canceled watch give them. */
const BY_CODE: readonly (readonly [grpc: number, name: string, code: number, reason: string])[] = [
  [1, "Canceled", 503, "ServiceUnavailable"],
  [3, "InvalidArgument", 400, "BadRequest"],
  [4, "DeadlineExceeded", 504, "Timeout"],
  [5, "NotFound", 404, "NotFound"],
  [6, "AlreadyExists", 409, "AlreadyExists"],
  [7, "PermissionDenied", 403, "Forbidden"],
  [8, "ResourceExhausted", 429, "TooManyRequests"],
  [9, "FailedPrecondition", 400, "BadRequest"],
  [10, "Aborted", 409, "Conflict"],
  [11, "OutOfRange", 400, "BadRequest"],
  [12, "Unimplemented", 501, "NotImplemented"],
  [14, "Unavailable", 503, "ServiceUnavailable"],
  [16, "Unauthenticated", 401, "Unauthorized"],
];

/** @param code gRPC's, as a number or by its name */
function refusalOf(code: unknown, said: string, waits?: number): Refusal {
  const message = said.slice(0, 500);
  const [, ...byWords] = BY_WORDS.find(([pattern]) => pattern.test(said)) ?? [];
  const [, , ...byCode] = BY_CODE.find(([grpc, name]) => grpc === code || name === code) ?? [];
  const [status = 500, reason = "EtcdError"] = byWords.length > 0 ? byWords : byCode;
  return new Refusal(status, reason, message, waits ?? (status === 429 ? 1 : undefined));
}

/** An answer with an HTTP status that is no success, or an error document. `waits`: the seconds that it asks to wait. */
export function answered(status: number, body: string, waits?: number): Refusal {
  try {
    const { code, message } = JSON.parse(body) as { code?: unknown; message?: unknown };
    if (typeof code === "number" && typeof message === "string") {
      if (code === 5 && message === "Not Found")
        return new Refusal(404, "NotFound", "this endpoint has no JSON gateway of etcd: its path is unknown there");
      return refusalOf(code, message, waits);
    }
  } catch {
    // No answer of etcd's: told below.
  }
  return new Refusal(status >= 400 ? status : 502, "", `this endpoint does not answer as etcd does: status ${status}`, waits);
}

/** A message that ends a watch; undefined for any other. */
export function ended(message: any): Refusal | undefined {
  const { error, result } = (message ?? {}) as { error?: any; result?: any };
  if (error) return refusalOf(error.grpc_code ?? error.code, String(error.message ?? "the watch has failed"));
  if (!result?.canceled) return undefined;
  const { compact_revision: compacted, cancel_reason: said = "" } = result;
  if (compacted && compacted !== "0") return new Compacted(compacted);
  const [, code, reason] = /^rpc error: code = (\w+) desc = (.*)$/s.exec(said) ?? [];
  if (code !== undefined) return refusalOf(code, reason!);
  return refusalOf(said.includes("permission denied") ? "PermissionDenied" : "Unavailable", said || "etcd has ended the watch");
}

/** Whether another token may help. */
export const isUnauthorized = (error: unknown): boolean => error instanceof Refusal && error.code === 401;

/** Whether another member may help. */
export const isElsewhere = (error: unknown): boolean => !(error instanceof Refusal) || error.code === 503 || error.code === 502;

export const badVersion = (version: string): Refusal =>
  new Refusal(400, "BadRequest", `invalid resource version: strconv.ParseUint: parsing "${version}": invalid syntax`);
export const badToken = (): Refusal => new Refusal(400, "BadRequest", "invalid continue token: continue key is not valid");
export const noVersion = (): Refusal =>
  new Refusal(422, "Invalid", "a watch of etcd begins behind a version: it sends no initial events, so list first");
export const noName = (name: string): Refusal =>
  new Refusal(422, "Invalid", `metadata.name: Invalid value: ${JSON.stringify(name)}: no key is called so; docs/etcd.md says how keys are`);
export const badValue = (why: string): Refusal => new Refusal(422, "Invalid", `the object cannot be a value of etcd: ${why}`);
export const notFound = (name: string): Refusal => new Refusal(404, "NotFound", `there is no key for the object "${name}"`);
export const exists = (name: string): Refusal => new Refusal(409, "AlreadyExists", `the key for the object "${name}" exists already`);
export const modified = (name: string): Refusal =>
  new Refusal(409, "Conflict", `the key for the object "${name}" has been modified; apply your changes to its latest version`);
export const noSubresource = (): Refusal => new Refusal(404, "NotFound", "keys of etcd have no subresources");
export const noDryRun = (): Refusal => new Refusal(400, "BadRequest", "etcd has no dry run: leave dryRun out");
/** Where a request leads to a page, who asks has to sign in. */
export const signIn = (): Refusal =>
  new Refusal(401, "Unauthorized", "the request was redirected to a page, as those are who have to sign in");
export const noGateway = (): Refusal => new Refusal(502, "", "this endpoint does not answer as etcd does");
/** In the API server's words, by which a cache knows it. */
export const tooLarge = (asked: string, current: string): object => ({
  status: {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code: 504,
    reason: "Timeout",
    message: `Timeout: Too large resource version: ${asked}, current: ${current}`,
    details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }], retryAfterSeconds: 1 },
  },
});
