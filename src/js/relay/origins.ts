// Pages of other origins. A browser lets a page read only what allows its origin, but opens its WebSocket to anybody: so those are looked at here.
import type { IncomingMessage } from "node:http";

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
/** What a page may read of an answer beside its body. */
const EXPOSED = "Date, Retry-After, Warning";

export class Origins {
  readonly #allowed: ReadonlySet<string>;

  /** @param allowed origins, or `*` */
  constructor(allowed: readonly string[]) {
    this.#allowed = new Set(allowed);
  }

  /** Who asks is no page, is a page of this very host, or one that was allowed. */
  lets(request: IncomingMessage): boolean {
    const { origin } = request.headers;
    return origin === undefined || this.#isAllowed(origin) || isOwn(origin, request.headers.host);
  }

  /** Headers of an answer, for the page that asks. */
  headers({ headers: { origin } }: IncomingMessage): Record<string, string> {
    if (origin === undefined || this.#allowed.size === 0) return {};
    if (!this.#isAllowed(origin)) return { vary: "Origin" };
    return { "access-control-allow-origin": origin, "access-control-expose-headers": EXPOSED, vary: "Origin" };
  }

  /** The answer to a question that a browser asks before the request itself; undefined where this is none. */
  preflight(request: IncomingMessage): Record<string, string> | undefined {
    const { headers, method } = request;
    if (method !== "OPTIONS" || headers.origin === undefined || headers["access-control-request-method"] === undefined) return undefined;
    if (!this.#isAllowed(headers.origin)) return undefined;
    return {
      ...this.headers(request),
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": headers["access-control-request-headers"] ?? "",
      "access-control-max-age": "600",
    };
  }

  #isAllowed(origin: string): boolean {
    return this.#allowed.has("*") || this.#allowed.has(origin);
  }
}

/** By the host alone: behind a proxy nobody knows with which scheme the page came. */
function isOwn(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && host !== undefined && new URL(origin).host === host.toLowerCase().replace(/:(80|443)$/, "");
}
