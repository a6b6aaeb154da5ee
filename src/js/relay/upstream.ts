// The API server: how it is asked, as the relay itself and as a caller.
import { Agent as HttpAgent, type ClientRequest, type OutgoingHttpHeaders, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

/** What is asked of it at most at once waits no longer. */
const PATIENCE_MS = 10_000;
/** An idle connection is let go before a server would: a request on one that is just being closed is lost. */
const IDLE_MS = 20_000;
/** Discovery of a large group takes some hundred kB. */
const MAX_ANSWER_BYTES = 16 << 20;

/** The server's answer to a small question. */
export interface Said {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export class Upstream {
  /** As messages name it: without what may be secret in an address. */
  readonly name: string;
  readonly #server: URL;
  readonly #prefix: string;
  readonly #agent: HttpAgent;
  readonly #token: () => Promise<string | undefined>;
  /** Whether it has answered anything yet. */
  isKnown = false;

  /** @param token the relay's own, as it is now */
  constructor(server: URL, token: () => Promise<string | undefined>) {
    this.#server = server;
    this.#prefix = server.pathname.replace(/\/+$/, "");
    this.name = server.origin + this.#prefix;
    this.#agent = new (server.protocol === "https:" ? HttpsAgent : HttpAgent)({ keepAlive: true, timeout: IDLE_MS });
    this.#token = token;
  }

  get host(): string {
    return this.#server.host;
  }

  /** The relay's own headers. */
  async own(): Promise<readonly string[]> {
    const token = await this.#token();
    return token === undefined ? [] : ["authorization", `Bearer ${token}`];
  }

  /**
   * Begins a request. It says who asks by these headers alone.
   *
   * @param alone on a connection of its own, which may become something else
   */
  open(method: string, path: string, headers: OutgoingHttpHeaders, alone = false): ClientRequest {
    const { protocol, hostname, port } = this.#server;
    const send = protocol === "https:" ? httpsRequest : httpRequest;
    const request = send({
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port,
      method,
      path: this.#prefix + path,
      headers: { ...headers, host: this.host },
      agent: alone ? false : this.#agent,
    });
    request.once("response", () => (this.isKnown = true));
    return request;
  }

  /**
   * Asks something small.
   *
   * @param who headers, names and values in turn
   * @throws {Error} where no answer came
   */
  ask(path: string, who: readonly string[], body?: object): Promise<Said> {
    const content = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers: Record<string, string | string[]> = { accept: "application/json" };
    for (let at = 0; at < who.length; at += 2) {
      const name = who[at]!;
      headers[name] = [headers[name] ?? [], who[at + 1]!].flat();
    }
    if (content !== undefined) Object.assign(headers, { "content-type": "application/json", "content-length": String(content.length) });
    return new Promise((resolve, reject) => {
      const request = this.open(content === undefined ? "GET" : "POST", path, headers);
      const late = setTimeout(() => request.destroy(new Error(`no answer within ${PATIENCE_MS / 1000} seconds`)), PATIENCE_MS);
      const fail = (error: Error) => (clearTimeout(late), reject(error));
      request.on("error", fail);
      request.on("response", (answer) => {
        const chunks: Buffer[] = [];
        let length = 0;
        answer.on("data", (chunk: Buffer) => {
          length += chunk.length;
          if (length > MAX_ANSWER_BYTES) request.destroy(new Error("an answer without an end"));
          else chunks.push(chunk);
        });
        answer.on("error", fail);
        answer.on("end", () => {
          clearTimeout(late);
          resolve({ code: answer.statusCode ?? 502, headers: answer.headers, body: Buffer.concat(chunks) });
        });
      });
      request.end(content);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** The document that was said; undefined where it is none. */
export function documentOf({ body }: Said): unknown {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    return undefined;
  }
}
