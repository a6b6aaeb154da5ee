// The relay: one list and one watch of a server for all who may see them.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Access } from "./access.js";
import { type Answer, textAnswer } from "./answers.js";
import { Clients } from "./clients.js";
import { Collections } from "./collections.js";
import { Discovery } from "./discovery.js";
import { Listener } from "./listener.js";
import { Metrics } from "./metrics.js";
import type { RelayOptions } from "./options.js";
import { Origins } from "./origins.js";
import { Service } from "./service.js";
import { Upstream } from "./upstream.js";
import { Writes } from "./writes.js";

/** What the relay says of itself is under a prefix that no API server has. */
const OWN = "/-/";
/** So many different warnings are told. */
const MAX_TOLD = 200;
/** Requests that are no watches may take so long when all watches have ended. */
const GRACE_MS = 5_000;

/** A relay that runs. */
export interface Relay {
  readonly url: string;
  readonly port: number;
  /** Ends the watches one by one, then everything else. Nobody who comes back in the meantime is led here. */
  drain(): Promise<void>;
  /** Ends everything at once. */
  close(): Promise<void>;
}

export async function startRelay(options: RelayOptions): Promise<Relay> {
  const metrics = new Metrics();
  const told = new Set<string>();
  const warn = (message: string) => {
    // Once each: whoever asks would lead to it again.
    if (told.has(message) || told.size >= MAX_TOLD) return;
    told.add(message);
    console.warn(`watchcache: ${message}`);
  };
  const upstream = new Upstream(options.server, options.token);
  const clients = new Clients(options.maxWatches, metrics);
  const access = new Access(upstream, options.reviewMs, (verdict) => metrics.count("reviews", { verdict }));
  const writes = new Writes();
  const collections = new Collections(options.server, upstream, {
    lingerMs: options.lingerMs,
    maxBytes: options.memoryBytes,
    counted: (verb) => metrics.count("upstream_requests", { verb }),
    lost: (collection) => clients.lost(collection),
    restored: ({ group, resource }) => writes.forget(`${group}/${resource}`),
    warn,
  });
  const service = new Service({
    upstream,
    access,
    clients,
    collections,
    metrics,
    discovery: new Discovery(upstream, warn),
    writes,
    origins: new Origins(options.allowOrigins),
    exactLists: options.exactLists,
  });

  const own = async (path: string): Promise<Answer> => {
    if (path === "metrics") return textAnswer(200, metrics.text(collections.metrics()), { "content-type": "text/plain; version=0.0.4" });
    if (path === "healthz" || path === "livez") return textAnswer(200, "ok\n");
    if (path !== "readyz") return textAnswer(404, "the relay has /-/healthz, /-/livez, /-/readyz and /-/metrics\n");
    if (service.isDraining) return textAnswer(503, "the relay is about to stop\n");
    // Once: while the server is away all relays are as good as this one, and hold what they hold.
    if (!upstream.isKnown) await upstream.ask("/version", []).catch(() => {});
    return upstream.isKnown ? textAnswer(200, "ok\n") : textAnswer(503, `the API server at ${upstream.name} has not answered yet\n`);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = request.url ?? "";
    if (!url.startsWith("/")) return void response.writeHead(400).end();
    if (!url.startsWith(OWN)) return service.handle(request, response);
    const { code, headers, body } = await own(url.slice(OWN.length).replace(/\?.*/s, ""));
    response.writeHead(code, { ...headers, "cache-control": "no-store" }).end(request.method === "HEAD" ? undefined : body);
  };

  const listener = await Listener.open({ ...options, handle, upgrade: (request, socket, head) => service.upgrade(request, socket, head) });
  const { port } = listener;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;

  const close = async () => {
    const closed = listener.close();
    access.close();
    upstream.close();
    await Promise.all([closed, collections.close()]);
  };
  let draining: Promise<void> | undefined;
  const drain = async () => {
    service.isDraining = true;
    metrics.set("draining", 1);
    await clients.drain(options.drainMs);
    await Promise.race([listener.finish(), new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())]);
    await close();
  };
  return { url: `${options.tls ? "https" : "http"}://${host}:${port}`, port, close, drain: () => (draining ??= drain()) };
}
