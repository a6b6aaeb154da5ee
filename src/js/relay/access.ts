// May they: SelfSubjectAccessReview, asked with the caller's own credentials before anything that is held is shown.
import type { Answer } from "./answers.js";
import { statusAnswer, unreachable } from "./answers.js";
import { type Ask, selectedName } from "./asks.js";
import type { Caller } from "./callers.js";
import { documentOf, type Said, type Upstream } from "./upstream.js";

const PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
/** So long an answer is given again, in milliseconds. */
const KEPT_MS = 5_000;
const MAX_KEPT = 10_000;
/** An open watch outlives so many intervals in which nobody could say whether it still may. */
const MAX_UNKNOWN = 5;

/** What came of a question. A refusal is what the caller is to be answered: the server does not know them, or could not be asked. */
export type Verdict = { readonly allowed: boolean; readonly refusal?: undefined } | { readonly allowed: false; readonly refusal: Answer };

/** A question that is asked again and again, for the watches that hang on it. */
interface Held {
  readonly caller: Caller;
  readonly attributes: object;
  readonly withdrawn: Set<() => void>;
  confirmedAt: number;
  timer: NodeJS.Timeout | undefined;
}

export class Access {
  readonly #upstream: Upstream;
  readonly #intervalMs: number;
  readonly #count: (verdict: string) => void;
  readonly #kept = new Map<string, { readonly at: number; readonly verdict: Verdict }>();
  readonly #asking = new Map<string, Promise<Verdict>>();
  readonly #held = new Map<string, Held>();

  /** @param intervalMs how often open watches are asked about */
  constructor(upstream: Upstream, intervalMs: number, count: (verdict: string) => void) {
    this.#upstream = upstream;
    this.#intervalMs = intervalMs;
    this.#count = count;
  }

  /** Whether the caller may have that. Only a plain yes of the server is one. */
  async may(caller: Caller, ask: Ask): Promise<Verdict> {
    const attributes = attributesOf(ask);
    const key = keyOf(caller, attributes);
    const kept = this.#kept.get(key);
    if (kept !== undefined && Date.now() - kept.at < KEPT_MS) return kept.verdict;
    return this.#review(key, caller, attributes);
  }

  /**
   * Asks anew while the watch is open.
   *
   * @param withdrawn called once, when the caller may no more
   * @returns call it at the watch's end
   */
  hold(caller: Caller, ask: Ask, withdrawn: () => void): () => void {
    const attributes = attributesOf(ask);
    const key = keyOf(caller, attributes);
    let held = this.#held.get(key);
    if (held === undefined) {
      held = { caller, attributes, withdrawn: new Set(), confirmedAt: Date.now(), timer: undefined };
      this.#held.set(key, held);
      this.#plan(key, held);
    }
    const mine = held;
    mine.withdrawn.add(withdrawn);
    return () => {
      mine.withdrawn.delete(withdrawn);
      if (mine.withdrawn.size > 0 || this.#held.get(key) !== mine) return;
      clearTimeout(mine.timer);
      this.#held.delete(key);
    };
  }

  close(): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
  }

  #plan(key: string, held: Held): void {
    // Spread, so that those who came together are not asked about together for ever.
    const wait = this.#intervalMs * (0.75 + Math.random() / 4);
    held.timer = setTimeout(() => void this.#again(key, held), wait).unref();
  }

  async #again(key: string, held: Held): Promise<void> {
    const { allowed, refusal } = await this.#review(key, held.caller, held.attributes);
    if (this.#held.get(key) !== held) return;
    if (allowed) held.confirmedAt = Date.now();
    const isUnknown = refusal !== undefined && refusal.code !== 401;
    if (allowed || (isUnknown && Date.now() - held.confirmedAt < MAX_UNKNOWN * this.#intervalMs)) return this.#plan(key, held);
    this.#held.delete(key);
    for (const withdrawn of held.withdrawn) withdrawn();
  }

  #review(key: string, caller: Caller, attributes: object): Promise<Verdict> {
    let asking = this.#asking.get(key);
    if (asking === undefined) {
      asking = this.#ask(caller, attributes).finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
      void asking.then((verdict) => this.#keep(key, verdict));
    }
    return asking;
  }

  #keep(key: string, verdict: Verdict): void {
    this.#count(verdict.allowed ? "allowed" : verdict.refusal === undefined ? "denied" : "failed");
    this.#kept.delete(key);
    // What failed is asked again by the next one.
    if (verdict.refusal !== undefined) return;
    this.#kept.set(key, { at: Date.now(), verdict });
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
  }

  async #ask(caller: Caller, attributes: object): Promise<Verdict> {
    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes: attributes } };
    let said: Said;
    try {
      said = await this.#upstream.ask(PATH, caller.headers, body);
    } catch (error) {
      return { allowed: false, refusal: unreachable(this.#upstream.name, (error as Error).message) };
    }
    if (said.code === 200 || said.code === 201) {
      const { kind, status } = (documentOf(said) ?? {}) as { kind?: unknown; status?: { allowed?: unknown } };
      if (kind === "SelfSubjectAccessReview" && typeof status?.allowed === "boolean") return { allowed: status.allowed };
      return { allowed: false, refusal: statusAnswer(502, "InternalError", "the API server answered a review by none") };
    }
    // Who may not even ask, as those without a name, may be let in all the same: the server says so itself.
    if ([403, 404, 405].includes(said.code)) return { allowed: false };
    return { allowed: false, refusal: passedOn(said) };
  }
}

/** The server's own words. */
function passedOn({ code, headers, body }: Said): Answer {
  const kept = ["content-type", "retry-after", "www-authenticate"].flatMap((name) =>
    headers[name] ? [[name, String(headers[name])]] : [],
  );
  return { code, headers: Object.fromEntries(kept) as Record<string, string>, body };
}

/** As the server itself would ask its authorizers about the request. */
function attributesOf(ask: Ask): object {
  const { verb, group, version, resource, namespace, options } = ask;
  const selector = (rawSelector: string | undefined) => (rawSelector === undefined ? undefined : { rawSelector });
  return {
    verb,
    group,
    version,
    resource,
    namespace,
    name: selectedName(ask),
    fieldSelector: selector(options.fieldSelector),
    labelSelector: selector(options.labelSelector),
  };
}

const keyOf = (caller: Caller, attributes: object): string => `${caller.id} ${JSON.stringify(attributes)}`;
