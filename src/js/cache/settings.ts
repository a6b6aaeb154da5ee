import { harmless } from "../error/callbacks.js";
import type { WatchCacheError } from "../error/errors.js";
import type { Logger } from "../host/types.js";
import type { IndexFunction } from "../indexes/types.js";
import type { Path } from "../object/path.js";
import { invalid as mistake, type Judge } from "../options/kinds.js";
import { read } from "../options/read.js";
import type { WatchCacheOptions } from "./options-types.js";
import { CACHE } from "./options.js";

/** The options, read. What is left out here and is not the facade's own has its default in the core. */
export interface Settings {
  readonly server?: WatchCacheOptions["server"];
  readonly transport: "auto" | "websocket" | "fetch";
  readonly auth?: WatchCacheOptions["auth"];
  readonly fetch?: typeof fetch | undefined;
  readonly WebSocket?: WatchCacheOptions["WebSocket"];
  readonly credentials: RequestCredentials;
  readonly strip?: readonly string[] | undefined;
  readonly pageSize?: number | undefined;
  readonly watchList?: boolean | undefined;
  readonly linger: number;
  readonly idleTimeout?: number | undefined;
  readonly retry?: WatchCacheOptions["retry"];
  readonly trigger?: string | undefined;
  readonly history?: WatchCacheOptions["history"];
  readonly indexes: readonly Index[];
  readonly memory?: WatchCacheOptions["memory"];
  readonly flush: "frame" | "microtask";
  readonly debug: boolean;
  readonly checkConsistency: boolean;
  readonly logger: Pick<Logger, "warn" | "error">;
  readonly signal?: WatchCacheOptions["signal"];
  readonly mode: "inline" | "worker" | "shared";
  readonly identity?: string | undefined;
  readonly worker?: WatchCacheOptions["worker"];
  readonly persist?: WatchCacheOptions["persist"];
}

/** One index: by a path, or by a function. */
export type Index = { readonly name: string } & (
  { readonly path: Path; readonly values?: undefined } | { readonly path?: undefined; readonly values: IndexFunction }
);

/**
 * @param judge judges paths, if its core is there
 * @param usual the transport where nothing that is given asks for another
 * @throws {WatchCacheError} `invalid`, naming the option.
 */
export function readOptions(given: WatchCacheOptions, judge?: Judge, usual: Settings["transport"] = "auto"): Settings {
  const options = read(CACHE, "createWatchCache", given, judge);
  const { watchList, debug = false } = options;
  const { transport = watchList || options.WebSocket !== undefined ? "auto" : usual } = options;
  // Servers compress such a watch in pieces, of which a browser's fetch reads the first and throws the rest away.
  if (watchList && transport === "fetch")
    throw invalid("watchList", "needs a WebSocket: browsers lose events of such a watch over fetch. Leave out transport");
  // A page that a server renders has no origin yet. So a relative path is checked against one that is made up.
  const { mode = "inline", identity } = options;
  if (mode !== "inline") {
    if (identity === undefined)
      throw invalid("identity", `is missing: with mode "${mode}" pages of one identity share what they see, so say who this one is`);
    for (const name of ["fetch", "WebSocket"] as const)
      if (options[name] !== undefined) throw invalid(name, `cannot be handed to a worker. Leave it out, or use the mode "inline"`);
  }
  if (options.persist !== undefined && identity === undefined)
    throw invalid("identity", "is missing: with `persist` what one user saw is kept, so say who this one is");
  if (options.server !== undefined) baseUrl(options.server, pageAddress() ?? "http://page");
  return {
    credentials: "same-origin",
    linger: 5_000,
    flush: "frame",
    mode,
    checkConsistency: debug,
    ...options,
    logger: harmless(options.logger ?? console),
    transport,
    debug,
    indexes: Object.entries(options.indexes ?? {}).map(([name, by]) =>
      typeof by === "function" ? { name, values: by } : { name, path: by },
    ),
  };
}

/** The address that a relative one goes by; none where a server renders, and in a file. */
function pageAddress(): string | undefined {
  if (typeof location !== "object") return undefined;
  const { href, origin } = location;
  // A worker made of a blob has an origin all the same.
  return href.startsWith("http") ? href : origin.startsWith("http") ? origin : undefined;
}

/**
 * The base of every path, absolute and without a slash at its end. Asked for when a resource opens: a page that a server renders has no
 * origin, and opens nothing.
 *
 * @throws {WatchCacheError} `invalid`.
 */
export function baseUrl(server: WatchCacheOptions["server"], page: string | undefined = pageAddress()): string {
  if (server === undefined && page === undefined) throw invalid("server", "is missing: there is no page whose origin could be meant");
  let url: URL;
  try {
    url = server === undefined ? new URL("/", page) : new URL(typeof server === "string" ? server : server.href, page);
  } catch {
    throw invalid("server", `is no URL: ${String(server)}`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") throw invalid("server", `is a URL of http or https, not of ${url.protocol}`);
  // Credentials in a URL would end up in logs and errors.
  if (url.username !== "" || url.password !== "") throw invalid("server", "holds credentials: give them by auth");
  if (url.search !== "" || url.hash !== "") throw invalid("server", "is the base of paths, so it has no query and no fragment");
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

/** The same, where there is one: a host without a page may have sources of its own alone. */
export function knownBase(server: WatchCacheOptions["server"]): string | undefined {
  return server === undefined && pageAddress() === undefined ? undefined : baseUrl(server);
}

function invalid(name: string, message: string): WatchCacheError {
  return mistake(`${name} ${message}`);
}
