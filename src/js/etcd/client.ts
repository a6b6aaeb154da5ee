import { ask } from "../host/fetch.js";
import { retryAfterSeconds } from "../host/retry-after.js";
import { timer, unheld } from "../host/timer.js";
import type { HostAbortSignal } from "../host/types.js";
import type { Settings } from "./options.js";
import { answered, isElsewhere, isUnauthorized, noGateway, Refusal, signIn } from "./refusals.js";

/** How a request may be repeated: a read may at any member; a write only where it surely was not done. */
export type Kind = "read" | "write";

/** By what etcd knows who asks: by nothing, where it does not want to know. */
export interface Credential {
  readonly token?: string;
}

const NOBODY: Credential = {};

/** A body may take so many times as long as its head: a page of large values comes slowly, but it ends. */
const BODY_TIMES = 60;

/** An answer whose body nobody has read. */
export interface Answer {
  readonly body: ReadableStream<Uint8Array>;
  /** Said by who has read it. Until then it has a time limit, and ends with the signal of the request. */
  over(): void;
}

/** The members of a cluster, of which one is asked until it fails; and the token that they know us by. */
export class Client {
  readonly #settings: Settings;
  /** Place of the member that is asked. */
  #at = 0;
  #asked: Promise<Credential> | undefined;
  /** The last one that was had, until it is not taken any more. */
  #known: Credential | undefined;

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

  /** What requests carry, where etcd wants to know who asks. Whoever waits for it shares one request for it. */
  async credential(signal: HostAbortSignal): Promise<Credential> {
    if (this.#settings.user === undefined) return NOBODY;
    return await before(signal, (this.#asked ??= this.#renew()));
  }

  /** It is not taken any more. Another one may be there by now, or under way. */
  rejected(credential: Credential): void {
    if (credential !== this.#known) return;
    this.#asked = undefined;
    this.#known = undefined;
  }

  /** The answer, parsed. */
  async call(path: string, body: object, signal: HostAbortSignal, kind: Kind): Promise<any> {
    return await this.#try(path, body, signal, kind, parsed);
  }

  /** The answer, whose body nobody has read. @throws {Refusal}, or what `fetch` throws where there is no answer */
  async request(path: string, body: object, signal: HostAbortSignal, kind: Kind): Promise<Answer> {
    return await this.#try(path, body, signal, kind, unread);
  }

  /** The answer of one member, parsed. */
  async at(endpoint: string, path: string, body: object, signal: HostAbortSignal): Promise<any> {
    return await this.#askKnown(endpoint, path, body, signal, parsed);
  }

  async #try<A>(path: string, body: object, signal: HostAbortSignal, kind: Kind, read: Reader<A>): Promise<A> {
    for (let tries = 1; ;) {
      const { endpoint } = this;
      try {
        return await this.#askKnown(endpoint, path, body, signal, read);
      } catch (error) {
        if (signal.aborted || !isElsewhere(error)) throw error;
        this.failed(endpoint);
        if (kind === "write" || tries++ >= this.members) throw error;
      }
    }
  }

  /** Asks with a token, and once more where this one is not taken: whoever is not known has done nothing. */
  async #askKnown<A>(endpoint: string, path: string, body: object, signal: HostAbortSignal, read: Reader<A>): Promise<A> {
    const credential = await this.credential(signal);
    try {
      return await this.#send(endpoint, path, body, credential, signal, read);
    } catch (error) {
      if (signal.aborted || !isUnauthorized(error) || this.#settings.user === undefined) throw error;
      this.rejected(credential);
      return await this.#send(endpoint, path, body, await this.credential(signal), signal, read);
    }
  }

  async #renew(): Promise<Credential> {
    try {
      return (this.#known = await this.#authenticate());
    } catch (error) {
      // Whoever comes next tries for himself.
      this.#asked = undefined;
      throw error;
    }
  }

  /** Nobody's request in particular: it ends by its own time. */
  async #authenticate(): Promise<Credential> {
    for (let tries = 1; ;) {
      const { endpoint } = this;
      try {
        const { token } = await this.#send(endpoint, "/v3/auth/authenticate", this.#settings.user!, NOBODY, undefined, parsed);
        if (typeof token !== "string" || token === "") throw noGateway();
        return { token };
      } catch (error) {
        // Then nobody asks for a token.
        if (error instanceof Refusal && error.code === 412) return {};
        if (!isElsewhere(error)) throw error;
        this.failed(endpoint);
        if (tries++ >= this.members) throw error;
      }
    }
  }

  async #send<A>(
    endpoint: string,
    path: string,
    body: object,
    { token }: Credential,
    signal: HostAbortSignal | undefined,
    read: Reader<A>,
  ): Promise<A> {
    const { timeoutMs, fetch = ask } = this.#settings;
    const limit = new AbortController();
    let late: ReturnType<typeof setTimeout> | undefined;
    const over = () => {
      clearTimeout(late);
      signal?.removeEventListener("abort", stop);
    };
    const end = (why: unknown) => {
      over();
      limit.abort(why);
    };
    const stop = () => end(signal!.reason);
    const within = (ms: number, what: string) => {
      clearTimeout(late);
      return (late = timer(() => end(new Error(`etcd has not ${what} within ${ms / 1000} seconds`)), ms));
    };
    within(timeoutMs, "answered");
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
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
      const strange = this.members > 1 && (answer.ok || answer.status === 404 || answer.status === 405);
      if (isPage(answer) && (answer.redirected || strange)) {
        void answer.body?.cancel().catch(() => {});
        // Where there are others, a page of something that is no etcd does not end the search.
        throw answer.redirected ? signIn() : noGateway();
      }
      if (!answer.ok) throw answered(answer.status, await answer.text(), retryAfterSeconds(answer.headers));
      const extend = () => unheld(within(timeoutMs * BODY_TIMES, "sent its whole answer"));
      return await read(answer, { over, extend });
    } catch (error) {
      over();
      throw limit.signal.aborted && !signal?.aborted ? (limit.signal.reason as Error) : error;
    }
  }
}

/** What is to be had of an answer before its time is over. */
type Reader<A> = (answer: Response, limit: Limit) => A | Promise<A>;

/** How long a request may take. */
interface Limit {
  /** It is over: nothing ends it any more. */
  over(): void;
  /** Its body is left to somebody else, who has more time. */
  extend(): void;
}

function unread(answer: Response, { over, extend }: Limit): Answer {
  extend();
  return { body: answer.body!, over };
}

function isPage(answer: Response): boolean {
  return /html/i.test(answer.headers?.get("content-type") ?? "");
}

async function parsed(answer: Response, { over }: Limit): Promise<any> {
  try {
    return await answer.json();
  } catch (error) {
    if (error instanceof SyntaxError) throw noGateway();
    throw error;
  } finally {
    over();
  }
}

/** What is promised, unless the signal ends the wait for it. */
async function before<T>(signal: HostAbortSignal, promised: Promise<T>): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => (stop = () => reject(signal.reason as Error)));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([promised, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
