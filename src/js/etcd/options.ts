import { addressOf } from "../host/fetch.js";
import type { HostFetch, WebSocketClass } from "../host/types.js";
import { callback, flag, invalid, type Kind, number, text } from "../options/kinds.js";
import { type Bag, read } from "../options/read.js";
import type { EtcdSourceOptions } from "./types.js";

const HEARTBEAT_MS = 5_000;
const TIMEOUT_MS = 10_000;

const endpoints: Kind = (value, name) => {
  const all = (Array.isArray(value) ? value : [value]).map((given) => endpoint(given, name));
  if (all.length === 0) throw invalid(`${name} names no endpoint`);
  return all;
};

function endpoint(given: unknown, name: string): string {
  const href = addressOf(given);
  // What is wrong with it is not shown: it may hold a password.
  if (!href) throw invalid(`${name} is a URL of etcd, such as http://127.0.0.1:2379, or an array of them`);
  const url = new URL(href);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw invalid(`${name} is a URL with http: or https:, not with ${url.protocol}`);
  if (url.username || url.password) throw invalid(`${name} holds credentials, which belong in username and password`);
  if (url.search || url.hash) throw invalid(`${name} ends with its path: it has neither a query nor a fragment`);
  return url.href.replace(/\/+$/, "");
}

/** A surrogate that stands alone, which UTF-8 does not have: etcd would be given another text. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const wellFormed: Kind = (value, name) => {
  if (LONE_SURROGATE.test(text(value, name)))
    throw invalid(`${name} holds half of a character (a lone surrogate), which etcd cannot be given`);
  return value;
};

const BAG: Bag<EtcdSourceOptions> = {
  endpoints,
  prefix: wellFormed,
  username: wellFormed,
  password: wellFormed,
  transactions: flag,
  heartbeatMs: number(1),
  timeoutMs: number(1),
  fetch: callback,
  WebSocket: callback,
};

/** Options, read. */
export interface Settings {
  readonly endpoints: readonly string[];
  readonly prefix: string;
  readonly user: { readonly name: string; readonly password: string } | undefined;
  readonly transactions: boolean;
  readonly heartbeatMs: number;
  readonly timeoutMs: number;
  readonly fetch: HostFetch | undefined;
  readonly WebSocket: WebSocketClass | undefined;
}

/** @throws {WatchCacheError} `invalid`, naming the option. */
export function settingsOf(given: EtcdSourceOptions): Settings {
  const options: any = read<EtcdSourceOptions>(BAG, "etcdSource", given, undefined, "endpoints prefix");
  const { username: name, password, transactions = false, heartbeatMs = HEARTBEAT_MS, timeoutMs = TIMEOUT_MS } = options;
  if ((name === undefined) !== (password === undefined)) throw invalid("username and password belong together");
  const user = name === undefined ? undefined : { name, password };
  const { endpoints, prefix, fetch, WebSocket } = options;
  return { endpoints, prefix, user, transactions, heartbeatMs, timeoutMs, fetch, WebSocket };
}
