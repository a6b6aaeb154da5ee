// Settings: their names, defaults and checks, for the command line and for `startServer` alike.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { HISTORY_BYTES } from "./window.mjs";

/**
 * @typedef {object} ServerOptions
 * @property {string} [host] address to listen on
 * @property {number} [port] 0 for a free one
 * @property {boolean} [nextFreePort] take the next free port when the asked one is in use
 * @property {number} [pods] size of the synthetic cluster; 0 for an empty one with the namespace "default"
 * @property {number} [rate] events per second, all resources together
 * @property {number} [seed] equal seeds make equal clusters and equal traffic
 * @property {number} [history] pins how many events are kept per resource; without it those of the last 75 seconds are
 * @property {number} [historyBytes] how many bytes of a resource they may take, unless their number is pinned
 * @property {number} [firstVersion] what the versions begin above
 * @property {number} [bookmarkMs] time between the bookmarks of a watch
 * @property {boolean} [cache] serve lists and watches from the package's own cache, which must be built; else from the store
 * @property {readonly string[]} [tokens] bearer tokens that are let in; none: everybody
 * @property {string} [proxy] URL of an API server to forward to instead
 * @property {string} [proxyToken] bearer token for requests to it that bring none
 * @property {string} [root] directory of the built page
 * @property {() => number} [now] clock for timestamps, in milliseconds; fixed in tests that compare runs
 */

/** @type {Required<Omit<ServerOptions, "proxy" | "proxyToken" | "history">>} */
export const DEFAULTS = {
  host: "127.0.0.1",
  port: 5173,
  nextFreePort: false,
  pods: 5_000,
  rate: 200,
  seed: 1,
  historyBytes: HISTORY_BYTES,
  firstVersion: 0,
  bookmarkMs: 60_000,
  cache: false,
  tokens: [],
  root: fileURLToPath(new URL("../dist/", import.meta.url)),
  now: Date.now,
};

/** A real server takes longer for a pod than the embedded one, and each of its events is some writes. */
export const KUBERNETES_DEFAULTS = { pods: 1_000, rate: 20 };

export const USAGE = `Usage: node www/server/main.mjs [options]

  --port N           port to listen on; the next free one is taken when it is in use (${DEFAULTS.port})
  --host ADDRESS     address to listen on (${DEFAULTS.host})
  --pods N           pods of the synthetic cluster (${DEFAULTS.pods})
  --rate N           events per second, all resources together (${DEFAULTS.rate})
  --seed N           equal seeds make equal clusters (${DEFAULTS.seed})
  --history N        pins how many events are kept per resource (those of the last 75 seconds)
  --history-bytes N  how many bytes of a resource these may take, unless pinned (${DEFAULTS.historyBytes})
  --bookmark-ms N    time between the bookmarks of a watch (${DEFAULTS.bookmarkMs})
  --cache            serve lists and watches from the package's own cache before the store
  --token TOKEN      bearer token that is let in; may be given several times; without one everybody is
  --proxy URL        forward the API to this server instead, such as a kubectl proxy at http://127.0.0.1:8001
  --root DIRECTORY   directory of the built page
  --help             this text
In its place (each needs Go, but the last):
  npm start -- --kubernetes   a real etcd and kube-apiserver: with --port, --host, --pods (${KUBERNETES_DEFAULTS.pods}), --rate (${KUBERNETES_DEFAULTS.rate}), --seed
                              and --root; kubectl reaches it at the address of the page
  npm start -- --etcd         three members of etcd, and a page of their keys: with --port
  npm start -- --bench        a page that runs benchmarks in your browser
`;

const NUMBERS = {
  port: 65_535,
  pods: 200_000,
  rate: 10_000,
  seed: 2 ** 32 - 1,
  history: 1_000_000,
  "history-bytes": 2 ** 40,
  "bookmark-ms": 2 ** 31 - 1,
};

/**
 * @param {string[]} args
 * @returns {ServerOptions & { help?: boolean }}
 * @throws {TypeError} naming the argument that is wrong
 */
export function parseCommandLine(args) {
  const text = /** @type {const} */ ({ type: "string" });
  const { values } = parseArgs({
    args,
    options: {
      port: text,
      host: text,
      pods: text,
      rate: text,
      seed: text,
      history: text,
      "history-bytes": text,
      "bookmark-ms": text,
      token: { type: "string", multiple: true },
      proxy: text,
      root: text,
      cache: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  /** @type {Record<string, any>} */
  const options = { nextFreePort: true };
  for (const [name, maximum] of Object.entries(NUMBERS)) {
    const given = /** @type {Record<string, any>} */ (values)[name];
    if (given === undefined) continue;
    if (!/^[0-9]+$/.test(given) || Number(given) > maximum)
      throw new TypeError(`--${name} is a number from 0 to ${maximum}, not "${given}"`);
    options[name.replace(/-(.)/g, (_, letter) => letter.toUpperCase())] = Number(given);
  }
  for (const name of /** @type {const} */ (["host", "proxy", "root", "cache", "help"]))
    if (values[name] !== undefined) options[name] = values[name];
  if (values.token) options.tokens = values.token;
  return options;
}

/**
 * @param {string} text
 * @returns {URL}
 * @throws {TypeError} when it is no http or https URL
 */
export function parseProxy(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new TypeError(`--proxy is the URL of an API server, such as http://127.0.0.1:8001, not "${text}"`);
  return url;
}
