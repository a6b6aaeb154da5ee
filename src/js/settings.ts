import { type Logger, WatchCacheError } from "./errors.js";
import type { HistoryOptions, IndexFunction, Path, RetryOptions, WatchCacheOptions } from "./types.js";

/** The options, read: every default filled in. */
export interface Settings {
  readonly server: string | URL | undefined;
  readonly transport: "websocket" | "fetch";
  readonly auth: WatchCacheOptions["auth"];
  readonly fetch: typeof fetch | undefined;
  readonly WebSocket: WatchCacheOptions["WebSocket"];
  readonly credentials: RequestCredentials;
  readonly strip: readonly string[];
  readonly pageSize: number;
  readonly watchList: boolean;
  readonly linger: number;
  readonly idleTimeout: number;
  readonly retry: RetryOptions;
  readonly trigger: string | undefined;
  readonly history: { readonly minMs: number; readonly minEvents: number; readonly maxEvents?: number; readonly maxBytes: number };
  readonly indexes: readonly Index[];
  /** The bound of all that the resources hold together. */
  readonly maxBytes: number;
  readonly flush: "frame" | "microtask";
  readonly debug: boolean;
  readonly checkConsistency: boolean;
  readonly logger: Logger;
}

/** One index: by a path, or by a function. */
export type Index = { readonly name: string } & (
  { readonly path: Path; readonly values?: undefined } | { readonly path?: undefined; readonly values: IndexFunction }
);

/** The waits between tries, where nothing else is said. */
export const RETRY: RetryOptions = { initialMs: 800, factor: 2, capMs: 30_000, jitter: 1, resetAfterMs: 120_000 };

/** @throws {WatchCacheError} `invalid`, naming the option. */
export function readOptions(options: WatchCacheOptions): Settings {
  const retry = { ...RETRY, ...options.retry };
  for (const [name, value] of Object.entries(retry)) number(`retry.${name}`, value, name === "factor" ? 1 : 0);
  return {
    server: options.server,
    transport: oneOf("transport", options.transport ?? "websocket", ["websocket", "fetch"]),
    auth: optionalFunction("auth", options.auth),
    fetch: optionalFunction("fetch", options.fetch),
    WebSocket: optionalFunction("WebSocket", options.WebSocket),
    credentials: oneOf("credentials", options.credentials ?? "same-origin", ["omit", "same-origin", "include"]),
    strip: options.strip ?? ["metadata.managedFields"],
    pageSize: whole("pageSize", options.pageSize ?? 500, 1),
    watchList: overSocket("watchList", options.watchList ?? false, options.transport),
    linger: number("linger", options.linger ?? 5_000, 0),
    idleTimeout: number("idleTimeout", options.idleTimeout ?? 90_000, 1),
    retry,
    trigger: options.trigger,
    history: readHistory(options.history),
    indexes: readIndexes(options.indexes),
    maxBytes: number("memory.maxBytes", options.memory?.maxBytes ?? 512 * 1024 * 1024, 0),
    flush: oneOf("flush", options.flush ?? "frame", ["frame", "microtask"]),
    debug: options.debug ?? false,
    checkConsistency: options.checkConsistency ?? options.debug ?? false,
    logger: options.logger ?? console,
  };
}

function readHistory({
  minMs = 75_000,
  minEvents = 100,
  maxEvents,
  maxBytes = 64 * 1024 * 1024,
}: HistoryOptions = {}): Settings["history"] {
  number("history.minMs", minMs, 75_000);
  whole("history.minEvents", minEvents, 1);
  number("history.maxBytes", maxBytes, 0);
  if (maxEvents === undefined) return { minMs, minEvents, maxBytes };
  return { minMs, minEvents, maxEvents: whole("history.maxEvents", maxEvents, minEvents), maxBytes };
}

function readIndexes(indexes: WatchCacheOptions["indexes"] = {}): readonly Index[] {
  return Object.entries(indexes).map(([name, by]) => {
    if (name === "" || name === "namespace")
      throw invalid("indexes", name === "" ? "have names" : `lists "namespace", which always exists`);
    if (typeof by === "function") return { name, values: by };
    if (typeof by !== "string") throw invalid(`indexes.${name}`, `is a path or a function, not ${typeof by}`);
    return { name, path: by };
  });
}

/**
 * The base of every path, absolute and without a slash at its end. Asked for when a resource opens: a page that a server renders has no
 * origin, and opens nothing.
 *
 * @throws {WatchCacheError} `invalid`.
 */
export function baseUrl(server: string | URL | undefined): string {
  const origin = typeof location === "object" ? location.href : undefined;
  if (server === undefined && origin === undefined) throw invalid("server", "is missing: there is no page whose origin could be meant");
  let url: URL;
  try {
    url = server === undefined ? new URL("/", origin) : new URL(server, origin);
  } catch {
    throw invalid("server", `is no URL: ${String(server)}`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") throw invalid("server", `is a URL of http or https, not of ${url.protocol}`);
  // Credentials in a URL would end up in logs and errors.
  if (url.username !== "" || url.password !== "") throw invalid("server", "holds credentials: give them by auth");
  if (url.search !== "" || url.hash !== "") throw invalid("server", "is the base of paths, so it has no query and no fragment");
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

/** Servers compress such a watch in pieces, of which a browser's fetch reads the first and throws the rest away. */
function overSocket(name: string, value: boolean, transport: WatchCacheOptions["transport"]): boolean {
  if (typeof value !== "boolean") throw invalid(name, `is true or false, not ${String(value)}`);
  if (value && transport === "fetch")
    throw invalid(name, 'needs the transport "websocket": browsers lose events of such a watch over fetch');
  return value;
}

function number(name: string, value: unknown, least: number): number {
  if (typeof value !== "number" || Number.isNaN(value) || value < least)
    throw invalid(name, `is a number from ${least} up, not ${String(value)}`);
  return value;
}

function whole(name: string, value: number, least: number): number {
  if (!Number.isInteger(value) || value > 0xffff_ffff) throw invalid(name, `is a whole number, not ${String(value)}`);
  return number(name, value, least);
}

function oneOf<V extends string>(name: string, value: V, values: readonly V[]): V {
  if (!values.includes(value)) throw invalid(name, `is one of ${values.join(", ")}, not ${String(value)}`);
  return value;
}

function optionalFunction<F>(name: string, value: F): F {
  if (value !== undefined && typeof value !== "function") throw invalid(name, `is a function, not ${typeof value}`);
  return value;
}

function invalid(name: string, message: string): WatchCacheError {
  return new WatchCacheError("invalid", `${name} ${message}`);
}
