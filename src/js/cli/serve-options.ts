import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { RelayOptions } from "../relay/options.js";
import { Usage } from "./fail.js";

export const SERVE_HELP = `Usage: watchcache serve --server URL [--port N] [options]

A relay before an API server: it lists and watches each resource once, and answers any number of clients. The server is asked whether each of them may,
with the client's own credentials. All that is no list and no watch is passed on to it.

  --server URL          the API server
  --port N              port to listen on (8080); 0: a free one
  --host ADDRESS        address to listen on (127.0.0.1); 0.0.0.0: all
  --token-file FILE     the relay's own token, read anew at each use
  --token TOKEN         the same in place; or the environment variable WATCHCACHE_TOKEN
  --tls-cert FILE       speaks HTTPS and HTTP/2, with this certificate
  --tls-key FILE        and its key
  --allow-origin ORIGIN of pages that may ask from another host; may be given several times; "*": all
  --max-watches N       open watches of one client (500)
  --drain-seconds N     how long watches are ended for after SIGTERM (20)
  --linger-seconds N    how long what nobody asks for is held (300)
  --review-seconds N    how often it is asked whether open watches may go on (60)
  --memory-mib N        what all that is held may take (2048)
  --exact-lists         lists and watches that name no version are passed on
  --help

Certificates of a private authority: NODE_EXTRA_CA_CERTS=ca.crt. SIGTERM ends it in good order, a second one at once.`;

const text = { type: "string" } as const;
const OPTIONS = {
  server: text,
  port: text,
  host: text,
  "token-file": text,
  token: text,
  "tls-cert": text,
  "tls-key": text,
  "allow-origin": { type: "string", multiple: true },
  "max-watches": text,
  "drain-seconds": text,
  "linger-seconds": text,
  "review-seconds": text,
  "memory-mib": text,
  "exact-lists": { type: "boolean" },
} as const;

/** @param args what stands behind `serve`. @throws {Usage} for what cannot be meant */
export function readServeOptions(args: readonly string[], env: Readonly<Record<string, string | undefined>>): RelayOptions {
  const given = parse(args);
  const whole = (name: keyof typeof OPTIONS, otherwise: number, [least, most]: readonly [number, number]) => {
    const value = given[name];
    if (value === undefined) return otherwise;
    if (typeof value !== "string" || !/^[0-9]{1,9}$/.test(value) || Number(value) < least || Number(value) > most) {
      throw new Usage(`--${name} is a number from ${least} to ${most}, not ${String(value)}`);
    }
    return Number(value);
  };
  if (given["token-file"] !== undefined && given.token !== undefined) throw new Usage("--token-file and --token are two ways of one");
  if ((given["tls-cert"] === undefined) !== (given["tls-key"] === undefined)) throw new Usage("--tls-cert and --tls-key go together");
  const [cert, key] = [given["tls-cert"], given["tls-key"]];
  return {
    server: readServer(given.server),
    host: given.host ?? "127.0.0.1",
    port: whole("port", 8080, [0, 65_535]),
    token: tokenOf(given["token-file"], given.token ?? env["WATCHCACHE_TOKEN"]),
    tls: cert === undefined || key === undefined ? undefined : { cert, key },
    allowOrigins: (given["allow-origin"] ?? []).map(readOrigin),
    maxWatches: whole("max-watches", 500, [1, 1_000_000]),
    drainMs: whole("drain-seconds", 20, [0, 3_600]) * 1000,
    lingerMs: whole("linger-seconds", 300, [0, 86_400]) * 1000,
    reviewMs: whole("review-seconds", 60, [1, 3_600]) * 1000,
    memoryBytes: whole("memory-mib", 2_048, [16, 3_500]) * 2 ** 20,
    exactLists: given["exact-lists"] ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new Usage((error as Error).message);
  }
}

function readServer(given: string | undefined): URL {
  if (given === undefined) throw new Usage("--server is missing");
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new Usage(`--server is a URL of http or https, not ${given}`);
  if (url.username !== "" || url.password !== "") throw new Usage("--server has no name and password in it: give a token");
  return url;
}

function readOrigin(given: string): string {
  if (given === "*") return given;
  const origin = URL.canParse(given) ? new URL(given).origin : undefined;
  if (origin === undefined || origin !== given.replace(/\/$/, ""))
    throw new Usage(`--allow-origin is an origin such as https://console.example.com, not ${given}`);
  return origin;
}

/** Its newest state. What hands tokens out puts them into files, and replaces them within the hour. */
function tokenOf(file: string | undefined, token: string | undefined): RelayOptions["token"] {
  if (file === undefined) return async () => token || undefined;
  return async () => (await readFile(file, "utf8")).trim() || undefined;
}
