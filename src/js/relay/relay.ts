// The relay: one list and one watch of a server for all who may see them.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { Access } from "./access.js";
import { type Answer, textAnswer } from "./answers.js";
import { Clients } from "./clients.js";
import { Collections } from "./collections.js";
import { Discovery } from "./discovery.js";
import { Metrics } from "./metrics.js";
import type { RelayOptions } from "./options.js";
import { Origins } from "./origins.js";
import { Service } from "./service.js";
import { Upstream } from "./upstream.js";
import { Writes } from "./writes.js";

/** What the relay says of itself is under a prefix that no API server has. */
const OWN = "/-/";
/** Requests that are no watches may take so long when all watches have ended. */
const GRACE_MS = 5_000;
/** Tokens name all groups of their user, and a subprotocol makes them longer by a third. Node alone would take 16 KiB. */
const MAX_HEADER_BYTES = 128 << 10;

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
  const upstream = new Upstream(options.server, options.token);
  const clients = new Clients(options.maxWatches, metrics);
  const access = new Access(upstream, options.reviewMs, (verdict) => metrics.count("reviews", { verdict }));
  const collections = new Collections(options.server, upstream, {
    lingerMs: options.lingerMs,
    maxBytes: options.memoryBytes,
    counted: (verb) => metrics.count("upstream_requests", { verb }),
    lost: (collection) => clients.lost(collection),
  });
  const service = new Service({
    upstream,
    access,
    clients,
    collections,
    metrics,
    discovery: new Discovery(upstream),
    writes: new Writes(),
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

  const settings = { maxHeaderSize: MAX_HEADER_BYTES };
  const server: Server = options.tls
    ? createTlsServer({ ...settings, cert: readFileSync(options.tls.cert), key: readFileSync(options.tls.key) })
    : createServer(settings);
  // Longer than load balancers keep a connection: whoever ends it first may lose a request to it.
  server.keepAliveTimeout = 75_000;
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.setKeepAlive(true, 30_000);
    socket.setNoDelay(true);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("request", (request, response) => void handle(request, response).catch(() => response.destroy()));
  server.on("upgrade", (request, socket, head) => void service.upgrade(request, socket, head).catch(() => socket.destroy()));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.host, port: options.port }, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;

  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    access.close();
    upstream.close();
    await Promise.all([closed, collections.close()]);
  };
  let draining: Promise<void> | undefined;
  const drain = async () => {
    service.isDraining = true;
    metrics.set("draining", 1);
    await clients.drain(options.drainMs);
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())]);
    await close();
  };
  return { url: `${options.tls ? "https" : "http"}://${host}:${port}`, port, close, drain: () => (draining ??= drain()) };
}
