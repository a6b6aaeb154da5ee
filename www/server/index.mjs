// The embedded API server: the API, the synthetic cluster, the faults and the page on one origin.
import Fastify from "fastify";
import { Api } from "./api.mjs";
import { populate } from "./cluster/cluster.mjs";
import { allowLocalOrigins } from "./cors.mjs";
import { demoStatus, registerDemo } from "./demo.mjs";
import { digest } from "./digest.mjs";
import { Faults } from "./faults.mjs";
import { Front } from "./front.mjs";
import { DEFAULTS, parseProxy } from "./options.mjs";
import { Proxy } from "./proxy.mjs";
import { servePage } from "./static.mjs";
import { Store } from "./store.mjs";
import { Traffic } from "./traffic.mjs";

/** @typedef {import("./options.mjs").ServerOptions} ServerOptions */

/**
 * A running server.
 * @typedef {object} Server
 * @property {string} url http://host:port
 * @property {number} port
 * @property {Control} control
 * @property {() => Promise<void>} close ends all streams and stops listening
 */

/**
 * The switches of {@link registerDemo}, for tests in the same process.
 * @typedef {object} Control
 * @property {(name: string, options?: Record<string, unknown>) => { fault: string, options: Record<string, any>, affected: number }} fault
 * @property {() => ReturnType<typeof demoStatus>} status
 * @property {(eventsPerSecond: number) => void} setRate
 * @property {(steps: number) => void} step makes that many events of traffic at once
 * @property {(resource: string, resourceVersion?: string) => import("./digest.mjs").Digest} digest
 * @property {Store} [store] absent before a proxied cluster
 */

const API_ROUTES = ["/api", "/api/*", "/apis", "/apis/*", "/openapi/*", "/version", "/healthz", "/livez", "/readyz"];
/** How many ports are tried from the asked one on. */
const PORTS_TRIED = 50;

/**
 * @param {ServerOptions} [given]
 * @returns {Promise<Server>}
 */
export async function startServer(given = {}) {
  const options = { ...DEFAULTS, ...given };
  const target = given.proxy ? parseProxy(given.proxy) : undefined;
  if (target && options.cache) throw new TypeError("--cache serves the objects of this server, and with --proxy it has none");
  const store = target ? undefined : new Store(options);
  const faults = new Faults(store);
  /** @type {Traffic | undefined} */
  let traffic;
  /** @type {Api | undefined} */
  let api;
  /** @type {Front | undefined} */
  let front;
  if (store) {
    const cluster = populate(store, options);
    traffic = new Traffic(store, cluster, options);
    if (options.cache) front = await Front.open(store, options);
    api = new Api(store, faults, options, front);
  }
  const handler = api ?? new Proxy(/** @type {URL} */ (target), faults, given.proxyToken);
  const parts = { faults, store, traffic, api, proxy: target, proxyToken: given.proxyToken };

  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    bodyLimit: 64 * 1024 * 1024,
    // A URL that cannot be read never comes to the API.
    frameworkErrors: (_error, _request, reply) => {
      reply.hijack();
      reply.raw.writeHead(400, { "content-type": "text/plain; charset=utf-8" }).end("400 Bad Request");
    },
  });
  app.addHook("onRequest", (request, reply, next) => {
    if (allowLocalOrigins(request.raw, reply.raw)) reply.hijack();
    else next();
  });
  app.removeAllContentTypeParsers();
  app.register(async (scope) => {
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    registerDemo(scope, parts);
  });
  app.register(async (scope) => {
    // The body stays unread here: the API has its own limits, and a proxy passes it on.
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    const page = servePage(options.root);
    for (const url of API_ROUTES) {
      scope.all(url, (request, reply) => {
        reply.hijack();
        void handler.handle(request.raw, reply.raw);
      });
    }
    scope.all("/*", (request, reply) => {
      reply.hijack();
      void page(request.raw, reply.raw);
    });
  });

  // Node's own list of connections has neither those that were upgraded nor those that have not carried a request yet. Browsers open the
  // latter ahead, and they would be waited for until they time out.
  /** @type {Set<import("node:net").Socket>} */
  const sockets = new Set();
  let isClosing = false;
  app.server.on("connection", (socket) => {
    if (isClosing) return void socket.destroy();
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  app.server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => {});
    void handler.upgrade(request, socket, head);
  });
  const port = await listen(app, options);
  traffic?.start();

  return {
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`,
    port,
    control: {
      fault: (name, faultOptions) => faults.trigger(name, faultOptions),
      status: () => demoStatus(parts),
      setRate: (eventsPerSecond) => own(traffic).setRate(eventsPerSecond),
      step: (steps) => own(traffic).step(steps),
      digest: (resource, resourceVersion = "") => digest(own(store), resource, resourceVersion),
      store,
    },
    async close() {
      traffic?.stop();
      faults.clear();
      for (const stream of [...faults.streams]) stream.watcher?.stop(true);
      await front?.close();
      isClosing = true;
      const closed = app.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** @template T @param {T | undefined} part @returns {T} */
function own(part) {
  if (!part) throw new TypeError("a server that forwards to another has no store and no traffic of its own");
  return part;
}

/** @param {import("fastify").FastifyInstance} app @param {{ host: string, port: number, nextFreePort: boolean }} options */
async function listen(app, { host, port, nextFreePort }) {
  await app.ready();
  const last = nextFreePort && port > 0 ? Math.min(port + PORTS_TRIED, 65_535) : port;
  for (let attempt = port; ; attempt += 1) {
    try {
      await new Promise((/** @type {(value?: unknown) => void} */ resolve, reject) => {
        app.server.once("error", reject);
        app.server.listen({ host, port: attempt }, () => {
          app.server.removeListener("error", reject);
          resolve();
        });
      });
      return /** @type {import("node:net").AddressInfo} */ (app.server.address()).port;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EADDRINUSE" || attempt >= last) throw error;
    }
  }
}
