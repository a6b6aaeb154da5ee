// Where callers come in: HTTP/1.1, and with a certificate HTTP/2 as well, by which a browser holds all of its watches over one connection.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Tokens name all groups of their user, and a subprotocol makes them longer by a third. Node alone would take 16 KiB. */
const MAX_HEADER_BYTES = 128 << 10;
/** Longer than load balancers keep a connection: whoever ends it first may lose a request to it. */
const KEEP_ALIVE_MS = 75_000;

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Files of a certificate and its key. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Both are those of HTTP/1.1, or of HTTP/2 in the same shape. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

export class Listener {
  readonly port: number;
  readonly #server: Server | Http2SecureServer;
  readonly #sockets: ReadonlySet<Socket>;
  readonly #sessions: ReadonlySet<ServerHttp2Session>;
  #closed: Promise<void> | undefined;

  private constructor(server: Server | Http2SecureServer, sockets: ReadonlySet<Socket>, sessions: ReadonlySet<ServerHttp2Session>) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#sockets = sockets;
    this.#sessions = sessions;
  }

  /** @throws {Error} where it cannot listen, or read its files */
  static async open({ host, port, tls, handle, upgrade }: ListenerOptions): Promise<Listener> {
    const server =
      tls === undefined ? createServer({ maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: KEEP_ALIVE_MS }) : secureServer(tls);
    const [sockets, sessions] = [new Set<Socket>(), new Set<ServerHttp2Session>()];
    const taken = (request: unknown, response: unknown) => {
      const answer = response as ServerResponse;
      void handle(request as IncomingMessage, answer).catch(() => answer.destroy());
    };
    // The types of both know no common server.
    const events = server as Server;
    events.on("request", taken);
    events.on("upgrade", (request, socket, head) => void upgrade(request, socket, head).catch(() => socket.destroy()));
    events.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.setKeepAlive(true, 30_000);
      socket.setNoDelay(true);
      socket.on("close", () => sockets.delete(socket));
    });
    events.on("session", (session: ServerHttp2Session) => {
      sessions.add(session);
      session.on("error", () => {});
      session.on("close", () => sessions.delete(session));
    });
    await new Promise<void>((resolve, reject) => {
      events.once("error", reject);
      events.listen({ host, port }, () => {
        events.removeListener("error", reject);
        resolve();
      });
    });
    // Such as too many open files: those who are there are served all the same.
    events.on("error", (error) => console.error(`watchcache: ${error.message}`));
    return new Listener(server, sockets, sessions);
  }

  /** Takes nobody new, and lets those who are there finish. Resolves when they have. */
  finish(): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) session.close();
    if ("closeIdleConnections" in this.#server) this.#server.closeIdleConnections();
    return this.#closed;
  }

  /** Ends everything. */
  close(): Promise<void> {
    const closed = this.finish();
    for (const session of this.#sessions) session.destroy();
    for (const socket of this.#sockets) socket.destroy();
    return closed;
  }
}

function secureServer({ cert, key }: { readonly cert: string; readonly key: string }): Http2SecureServer {
  const server = createSecureServer({
    allowHTTP1: true,
    cert: readFileSync(cert),
    key: readFileSync(key),
    maxHeaderSize: MAX_HEADER_BYTES,
    settings: { maxHeaderListSize: MAX_HEADER_BYTES },
  } as Parameters<typeof createSecureServer>[0]);
  Object.assign(server, { keepAliveTimeout: KEEP_ALIVE_MS });
  return server;
}
