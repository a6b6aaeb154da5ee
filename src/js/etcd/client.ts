import { ask } from "../host/fetch.js";
import { timer } from "../host/timer.js";
import type { HostAbortSignal } from "../host/types.js";
import type { Settings } from "./options.js";
import { answered, isElsewhere, isUnauthorized, noGateway, Refusal } from "./refusals.js";

/** How a request may be repeated: a read may at any member; a write only where it surely was not done. */
export type Kind = "read" | "write";

/** The members of a cluster, of which one is asked until it fails; and the token that they know us by. */
export class Client {
  readonly #settings: Settings;
  /** Place of the member that is asked. */
  #at = 0;
  #token: Promise<string | undefined> | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** How many members there are. */
  get members(): number {
    return this.#settings.endpoints.length;
  }

  /** Who is asked now. */
  get endpoint(): string {
    return this.#settings.endpoints[this.#at]!;
  }

  /** That one did not answer, or cannot: the next is asked from now on. */
  failed(endpoint: string): void {
    if (endpoint === this.endpoint) this.#at = (this.#at + 1) % this.members;
  }

  /** What the requests carry, where etcd wants to know who asks. */
  token(signal: HostAbortSignal): Promise<string | undefined> {
    const { user } = this.#settings;
    if (user === undefined) return Promise.resolve(undefined);
    const token = (this.#token ??= this.#authenticate(signal));
    // Nobody else gets one that could not be had.
    token.catch(() => this.rejected(token));
    return token;
  }

  /** It is not taken any more. */
  rejected(token?: Promise<string | undefined>): void {
    if (token === undefined || token === this.#token) this.#token = undefined;
  }

  /** The answer, parsed. */
  async call(path: string, body: object, signal: HostAbortSignal, kind: Kind): Promise<any> {
    const answer = await this.request(path, body, signal, kind);
    try {
      return await answer.json();
    } catch (error) {
      if (signal.aborted || !(error instanceof SyntaxError)) throw error;
      throw noGateway();
    }
  }

  /** The answer, whose body nobody has read. @throws {Refusal}, or what `fetch` throws where there is no answer */
  async request(path: string, body: object, signal: HostAbortSignal, kind: Kind): Promise<Response> {
    let renewed = false;
    for (let tries = 1; ;) {
      const endpoint = this.endpoint;
      try {
        return await this.#send(endpoint, path, body, await this.token(signal), signal);
      } catch (error) {
        if (signal.aborted) throw error;
        // Whoever is not known has done nothing.
        if (isUnauthorized(error) && this.#settings.user !== undefined && !renewed) {
          renewed = true;
          this.rejected();
          continue;
        }
        if (!isElsewhere(error)) throw error;
        this.failed(endpoint);
        if (kind === "write" || tries++ >= this.members) throw error;
      }
    }
  }

  /** The same of one member, in its time. */
  async at(endpoint: string, path: string, body: object, signal: HostAbortSignal): Promise<any> {
    return (await this.#send(endpoint, path, body, await this.token(signal), signal)).json();
  }

  async #authenticate(signal: HostAbortSignal): Promise<string | undefined> {
    const { user, endpoints } = this.#settings;
    for (let tries = 1; ;) {
      const endpoint = this.endpoint;
      try {
        const answer = await this.#send(endpoint, "/v3/auth/authenticate", user!, undefined, signal);
        const { token } = (await answer.json()) as { token?: unknown };
        if (typeof token !== "string" || token === "") throw noGateway();
        return token;
      } catch (error) {
        // Then nobody asks for a token.
        if (error instanceof Refusal && error.code === 412) return undefined;
        if (signal.aborted || !isElsewhere(error)) throw error;
        this.failed(endpoint);
        if (tries++ >= endpoints.length) throw error;
      }
    }
  }

  async #send(endpoint: string, path: string, body: object, token: string | undefined, signal: HostAbortSignal): Promise<Response> {
    const { timeoutMs, fetch = ask } = this.#settings;
    const limit = new AbortController();
    const late = timer(() => limit.abort(new Error(`etcd has not answered within ${timeoutMs / 1000} seconds`)), timeoutMs);
    const stop = () => limit.abort(signal.reason);
    if (signal.aborted) stop();
    // The body is read later: it ends with whoever asked for it.
    signal.addEventListener("abort", stop, { once: true });
    try {
      const init: RequestInit = {
        method: "POST",
        body: JSON.stringify(body),
        cache: "no-store",
        credentials: "omit",
        signal: limit.signal,
      };
      // Nothing but this needs the leave of another origin.
      if (token !== undefined) init.headers = { authorization: token };
      const answer = await (fetch as typeof ask)(endpoint + path, init);
      if (!answer.ok) throw answered(answer.status, await answer.text());
      return answer;
    } catch (error) {
      throw limit.signal.aborted && !signal.aborted ? (limit.signal.reason as Error) : error;
    } finally {
      clearTimeout(late);
    }
  }
}
