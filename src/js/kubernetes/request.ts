// Requests of the facade's own: for documents that are read once, and no stream. What the core asks goes by src/web. These need not wait until the core
// is loaded: a page asks them first. Only what an answer means that is no document is the core's to say, and is asked for there.
import { abortError, closedError, toError, WatchCacheError } from "../error/errors.js";
import type { AbortSignalLike } from "../host/types.js";
import { timer, unheld } from "../host/timer.js";
import { invalid } from "../options/kinds.js";
import { readCredentials } from "../upstream/credentials.js";
import type { Credentials, MaybePromise } from "../upstream/types.js";
import type { RawHead } from "../wire/raw.js";

/** Where a server is, and how it is asked. */
export interface Server {
  /** Without a slash at its end. @throws {WatchCacheError} `invalid`. */
  base(): string;
  readonly auth: (() => MaybePromise<Credentials>) | undefined;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly credentials: RequestCredentials;
  /** Throws what an answer means, unless it may be a document. It waits for the core. */
  check(head: RawHead, body: Uint8Array): Promise<void>;
}

/** What a request has of `auth`. */
export interface Identity {
  readonly headers: Headers;
  /** With a `?`, or empty. */
  readonly query: string;
}

/** One document that is asked for. */
export interface Question {
  readonly path: string;
  readonly accept: string;
  /** What is posted. */
  readonly body?: object;
}

/** An answer takes no longer, in milliseconds: as for kubectl's discovery. */
const PATIENCE_MS = 32_000;
/** As in the core: a Status is small, and the page of a proxy is not worth more. */
const MAX_REFUSAL_BYTES = 64 << 10;
const NOTHING = new Uint8Array();
/** Nobody need be asked whether this can be a document. */
const JSON_TYPE = /^application\/json\b/i;

/** Asks one server. */
export class Asker {
  readonly #server: Server;
  readonly #end = new AbortController();

  constructor(server: Server) {
    this.#server = server;
  }

  /** Whatever is on its way is given up, and rejects with `closed`. */
  close(): void {
    this.#end.abort();
  }

  /** Asks `auth` who asks. What the headers cannot take is not told: it may be a secret. @throws {WatchCacheError} `invalid`. */
  async identity(): Promise<Identity> {
    const credentials = await abandonable(called(this.#server), this.#end.signal).catch((error: unknown) => {
      throw this.#end.signal.aborted ? closedError() : error;
    });
    const { headers: given, token, query = {} } = credentials;
    let headers: Headers;
    try {
      headers = new Headers(given as HeadersInit | undefined);
      if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    } catch {
      throw invalid("auth: the headers cannot be read");
    }
    const text = new URLSearchParams(query as Record<string, string>).toString();
    return { headers, query: text && `?${text}` };
  }

  /**
   * The JSON document that the server answers with. After a first 401 `auth` is asked anew: its token may have been old.
   *
   * @throws {WatchCacheError} by what the server says; `network`, `timeout`, `protocol`, `decode`, `closed`.
   */
  async ask(question: Question, who?: Identity): Promise<unknown> {
    try {
      return await this.#askOnce(question, who ?? (await this.identity()));
    } catch (error) {
      if (this.#server.auth === undefined || !(error instanceof WatchCacheError) || error.code !== "unauthorized") throw error;
    }
    return this.#askOnce(question, await this.identity());
  }

  async #askOnce({ path, accept, body }: Question, { headers, query }: Identity): Promise<unknown> {
    // It may have come while `auth` was asked.
    if (this.#end.signal.aborted) throw closedError();
    const address = this.#server.base() + path;
    const all = new Headers(headers);
    all.set("accept", accept);
    if (body !== undefined) all.set("content-type", "application/json");
    const abort = new AbortController();
    let late = false;
    const limit = unheld(
      timer(() => {
        late = true;
        abort.abort();
      }, PATIENCE_MS),
    );
    const end = () => abort.abort();
    this.#end.signal.addEventListener("abort", end, { once: true });
    try {
      const answer = this.#server.fetch(address + query, {
        method: body === undefined ? "GET" : "POST",
        headers: all,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        credentials: this.#server.credentials,
        // An answer that has not changed need not come again.
        cache: body === undefined ? "no-cache" : "no-store",
        signal: abort.signal,
      });
      // Not every `fetch` that is given heeds its signal.
      return await abandonable(
        Promise.resolve(answer).then((response) => this.#read(response, path, abort.signal)),
        abort.signal,
      );
    } catch (error) {
      if (this.#end.signal.aborted) throw closedError();
      if (error instanceof WatchCacheError) throw error;
      if (late) throw new WatchCacheError("timeout", `${path}: no answer within ${PATIENCE_MS / 1000} seconds`, { retryable: true });
      const why = reasonOf(error);
      // Some hosts quote the address, with what `auth` put into its query.
      const told = query === "" ? why : why.replaceAll(query, "");
      throw new WatchCacheError("network", `the request to ${address} got no answer: ${told}`, { retryable: true });
    } finally {
      // Of what is no document nobody reads the rest.
      abort.abort();
      clearTimeout(limit);
      this.#end.signal.removeEventListener("abort", end);
    }
  }

  async #read(response: Response, path: string, signal: AbortSignal): Promise<unknown> {
    const { status: code, redirected = false, headers } = response;
    const header = (name: string) => headers.get(name) ?? undefined;
    const contentType = header("content-type");
    const refused = code < 200 || code > 299;
    if (refused || !JSON_TYPE.test(contentType ?? "")) {
      const head = { code, redirected, contentType, retryAfter: header("retry-after"), date: header("date") };
      // One that breaks off has said no all the same.
      const said = refused ? await bytes(response, MAX_REFUSAL_BYTES).catch(() => NOTHING) : NOTHING;
      // The core may still be on its way, and is waited for no longer than the answer was.
      await abandonable(this.#server.check(head, said), signal).catch((thrown: unknown) => {
        if (signal.aborted) throw thrown;
        const { code, message, status, retryable, retryAfterSeconds } = toError(thrown);
        throw new WatchCacheError(code, `${path}: ${message}`, { status, retryable, retryAfterSeconds });
      });
    }
    let document: unknown;
    try {
      document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(await bytes(response)));
    } catch (error) {
      // A body that breaks off is the network's failure, which is told as that.
      if (!(error instanceof SyntaxError) && !(error instanceof TypeError && "code" in error)) throw error;
      throw new WatchCacheError("decode", `${path}: the answer is no JSON`, { retryable: true });
    }
    if (typeof document !== "object" || document === null) throw protocol(path, "the answer is no JSON object");
    return document;
  }
}

/**
 * What `auth` gives. What it, or a getter of its answer, throws means what it means to the streams: a refusal where it names an HTTP status.
 *
 * @throws {WatchCacheError} `network` where it threw anything else: it may do better the next time.
 */
async function called({ auth, check }: Server): Promise<Credentials> {
  try {
    return auth === undefined ? {} : readCredentials(await auth());
  } catch (error) {
    if (error instanceof WatchCacheError) throw error;
    const { code, status, reason, retryAfterSeconds: after } = (error ?? {}) as Readonly<Record<string, unknown>>;
    const http = [code, status].find((given) => Number.isInteger(given) && (given as number) >= 400 && (given as number) <= 599);
    if (http !== undefined) {
      const said = { kind: "Status", apiVersion: "v1", status: "Failure", code: http, reason, message: reasonOf(error) };
      const retryAfter = typeof after === "number" ? String(after) : undefined;
      const head = { code: http as number, redirected: false, contentType: "application/json", retryAfter, date: undefined };
      await check(head, new TextEncoder().encode(JSON.stringify(said)));
    }
    throw new WatchCacheError("network", `auth failed: ${reasonOf(error)}`, { retryable: true });
  }
}

/** Why something of the host's failed. Node keeps the cause apart, such as the address that refused. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause: unknown = (error.cause as Error | undefined)?.message;
  return typeof cause === "string" && cause !== "" ? `${error.message} (${cause})` : error.message;
}

/** Waits for what others may wait for, too. @throws {DOMException} when the signal is aborted. */
export function abandonable<V>(answer: Promise<V>, signal: AbortSignalLike | undefined): Promise<V> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const abort = () => reject(abortError(signal));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** An answer that breaks the rules of the API. */
export function protocol(path: string, why: string): WatchCacheError {
  return new WatchCacheError("protocol", `${path}: ${why}: look at \`server\`, and at proxies before it`, { retryable: true });
}

/** A body, or the first bytes of it. A host's `fetch` need give no more of a `Response` than its stream. */
async function bytes(response: Response, most = Infinity): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  while (reader !== undefined && length < most) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
  }
  if (length >= most) await reader?.cancel().catch(() => {});
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
