// "May I": SelfSubjectAccessReview, whose answers are kept for some seconds, because a page asks the same of each of its rows.
import { WatchCacheError } from "../error/errors.js";
import { now } from "../host/sleep.js";
import { Recent } from "../language/recent.js";
import { type Asker, type Identity, protocol } from "./request.js";
import type { AccessAnswer } from "./types.js";

const PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
/** So long an answer is given again, in milliseconds. Rights change seldom, and the server has the last word on each request. */
const KEPT_MS = 10_000;
/** So many answers are kept. */
const MAX_KEPT = 1_000;

/** One question, as the API has it. */
export type Attributes =
  | { readonly resourceAttributes: Readonly<Record<string, string | undefined>> }
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } };

/** What the server said lately. */
export class Access {
  readonly #asker: Asker;
  readonly #kept = new Recent<string, { readonly at: number; readonly answer: Promise<AccessAnswer> }>();
  /** Who the answers are about. */
  #who = "";

  constructor(asker: Asker) {
    this.#asker = asker;
  }

  /** @throws {WatchCacheError} as requests fail; `not-found` where the server answers no such question. */
  async ask(spec: Attributes): Promise<AccessAnswer> {
    const identity = await this.#asker.identity();
    const who = JSON.stringify([[...identity.headers], identity.query]);
    // Another user, or another token of the same one: nobody here can tell.
    if (who !== this.#who) this.#kept.clear();
    this.#who = who;
    const key = JSON.stringify(spec);
    const known = this.#kept.get(key);
    if (known !== undefined && now() - known.at < KEPT_MS) return known.answer;
    const answer = this.#review(spec, identity);
    const entry = { at: now(), answer };
    this.#kept.put(key, entry);
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.oldest!.key);
    try {
      return await answer;
    } catch (error) {
      // The next one asks anew.
      if (this.#kept.get(key) === entry) this.#kept.delete(key);
      throw error;
    }
  }

  /** All who ask the same at once get this answer, and its error. */
  async #review(spec: Attributes, identity: Identity): Promise<AccessAnswer> {
    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
    try {
      return read(await this.#asker.ask({ path: PATH, accept: "application/json", body }, identity));
    } catch (error) {
      if (error instanceof WatchCacheError && (error.code === "not-found" || (error.code === "invalid" && error.status?.code === 405)))
        throw new WatchCacheError("not-found", "the server answers no SelfSubjectAccessReview, so nobody can say beforehand", {
          status: error.status,
        });
      throw error;
    }
  }
}

function read(document: unknown): AccessAnswer {
  const { kind, status } = document as { kind?: unknown; status?: { allowed?: unknown; reason?: unknown; evaluationError?: unknown } };
  const allowed = status?.allowed;
  if (kind !== "SelfSubjectAccessReview" || typeof allowed !== "boolean")
    throw protocol(PATH, "the answer is no answered SelfSubjectAccessReview");
  const reason = [status!.reason, status!.evaluationError].filter((text) => typeof text === "string" && text !== "").join("; ");
  return Object.freeze({ allowed, ...(reason && { reason }) });
}
