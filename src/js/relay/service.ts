// What becomes of each request: answered from what is held, by the server, or refused.
import type { IncomingMessage, ServerResponse } from "node:http";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Access } from "./access.js";
import { type Answer, answerOf, notReady, statusAnswer } from "./answers.js";
import { type Ask, asksToWatch, readAsk, selectsWhatStands, takesJson } from "./asks.js";
import { type Caller, callerOf, subprotocols } from "./callers.js";
import type { Clients } from "./clients.js";
import type { Collections, Held } from "./collections.js";
import type { Discovery } from "./discovery.js";
import { listOptionsOf, sendList } from "./lists.js";
import { labelsOf, type Metrics } from "./metrics.js";
import type { Origins } from "./origins.js";
import { passRequest, passUpgrade } from "./pass.js";
import { HttpSink, type Sink, WebSocketSink } from "./sinks.js";
import type { Upstream } from "./upstream.js";
import { openWatch, Watch, watchOptionsOf } from "./watches.js";
import type { Writes } from "./writes.js";
import { handshake, isHandshake } from "./websocket.js";

/** What requests are answered with. */
export interface Parts {
  readonly upstream: Upstream;
  readonly discovery: Discovery;
  readonly access: Access;
  readonly collections: Collections;
  readonly clients: Clients;
  readonly metrics: Metrics;
  readonly origins: Origins;
  readonly writes: Writes;
  /** What names no version is the server's. */
  readonly exactLists: boolean;
}

/** What was decided. */
type Decision =
  | { readonly held: Held; readonly ask: Ask; readonly caller: Caller }
  | { readonly pass: true; readonly ask?: Ask | undefined; readonly caller?: Caller | undefined }
  | { readonly refusal: Answer; readonly why: string };

const HEADERS = { "content-type": "application/json", "cache-control": "no-cache, private" };

const aboutToStop = (): Answer => statusAnswer(503, "ServiceUnavailable", "the relay is about to stop: ask again", 1);

export class Service {
  readonly #parts: Parts;
  /** No watch begins any more. */
  isDraining = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { origins } = this.#parts;
    response.on("error", () => {});
    const preflight = origins.preflight(request);
    if (preflight !== undefined) {
      response.writeHead(204, preflight).end();
      return;
    }
    const headers = { ...origins.headers(request), ...(this.isDraining && request.httpVersionMajor === 1 ? { connection: "close" } : {}) };
    const refuse = (answer: Answer) => {
      if (!response.headersSent) response.writeHead(answer.code, { ...answer.headers, ...headers });
      response.end(answer.body);
    };
    const isWatch = asksToWatch(request.method, request.url);
    const pass = (ask?: Ask, caller?: Caller) =>
      this.#pass(isWatch, ask, caller, response, refuse, (refuse) => passRequest(this.#parts, request, response, headers, refuse));
    if (isWatch && this.isDraining) return this.#refuse(aboutToStop(), "draining", refuse);
    try {
      const decision = await this.#decide(readAsk(request.method, request.url), callerOf(request), request.headers.accept);
      if (response.destroyed) return;
      if ("refusal" in decision) return this.#refuse(decision.refusal, decision.why, refuse);
      if ("pass" in decision) return pass(decision.ask, decision.caller);
      const { held, ask, caller } = decision;
      const sent = { ...HEADERS, ...headers };
      if (ask.verb === "watch") return await this.#watch(decision, refuse, () => new HttpSink(response, sent));
      const options = listOptionsOf(ask, held);
      if (options === undefined) return pass(ask, caller);
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const bytes = await sendList(held.resource.list({ ...options, signal: gone.signal }), held, request, response, sent);
      this.#parts.metrics.count("list_bytes", labelsOf(held.collection), bytes);
      this.#parts.metrics.count("requests", { by: "relay", verb: "list" });
    } catch (error) {
      if (!response.destroyed && !response.headersSent) this.#refuse(answerOf(error), "cache", refuse);
      else response.destroy();
    }
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { origins, upstream } = this.#parts;
    socket.on("error", () => {});
    const refuse = (answer: Answer) => endUpgrade(socket, answer);
    const isWatch = asksToWatch(request.method, request.url);
    const pass = (ask?: Ask, caller?: Caller) =>
      this.#pass(isWatch, ask, caller, socket, refuse, (refuse) => passUpgrade(upstream, request, socket, head, refuse));
    if (!origins.lets(request)) {
      const message = "a WebSocket is opened by pages of this host alone, or of an origin that --allow-origin names";
      return this.#refuse(statusAnswer(403, "Forbidden", message), "origin", refuse);
    }
    if (isWatch && this.isDraining) return this.#refuse(aboutToStop(), "draining", refuse);
    try {
      const ask = readAsk(request.method, request.url);
      const offered = subprotocols(request);
      if (ask?.verb !== "watch" || offered === undefined || offered.rest.length > 1 || !isHandshake(request))
        return pass(ask, callerOf(request, offered?.token));
      const decision = await this.#decide(ask, callerOf(request, offered.token));
      if (socket.destroyed) return;
      if ("refusal" in decision) return this.#refuse(decision.refusal, decision.why, refuse);
      if ("pass" in decision) return pass(decision.ask, decision.caller);
      await this.#watch(decision, refuse, () => {
        socket.write(handshake(request, offered.rest[0]));
        return new WebSocketSink(socket, head);
      });
    } catch (error) {
      this.#refuse(answerOf(error), "cache", refuse);
    }
  }

  /** Nothing of what is held is shown before the server has said that this caller may see it. */
  async #decide(ask: Ask | undefined, caller: Caller | undefined, accept?: string): Promise<Decision> {
    const { access, collections, discovery, exactLists, writes } = this.#parts;
    const pass = { pass: true, ask, caller } as const;
    if (ask === undefined || caller === undefined || !takesJson(accept)) return pass;
    const namesNone = ask.options.resourceVersion === undefined && ask.options.continue === undefined;
    if (exactLists && namesNone) return pass;
    const collection = await discovery.find(ask);
    if (collection === undefined || (ask.namespace !== "" && !collection.namespaced)) return pass;
    if (!selectsWhatStands(ask, collection.namespaced)) return pass;
    const { allowed, refusal } = await access.may(caller, ask);
    if (refusal !== undefined) return { refusal, why: "access" };
    // The server says no in its own words.
    if (!allowed) return pass;
    const written = `${ask.group}/${ask.resource}` as const;
    const version = writes.least(written);
    const isNewest = namesNone && ask.verb === "list";
    if (isNewest && version === "uncertain") return pass;
    const held = await collections.open(collection, isNewest ? { version } : undefined);
    if (held === "refused" || held === "behind") return pass;
    if (held !== "late" && version !== undefined) writes.reached(written, held.resource.resourceVersion ?? "0");
    if (held === "late") return { refusal: notReady(), why: "not-ready" };
    return { held, ask, caller };
  }

  async #watch(
    { held, ask, caller }: { held: Held; ask: Ask; caller: Caller },
    refuse: (answer: Answer) => void,
    sink: () => Sink,
  ): Promise<void> {
    const { access, clients, metrics } = this.#parts;
    const leave = clients.enter(caller.id);
    if (leave === undefined) return this.#tooMany(refuse);
    const labels = labelsOf(held.collection);
    const ends: (() => void)[] = [leave];
    try {
      const opened = await openWatch(held, watchOptionsOf(ask));
      ends.push(() => opened.watcher.stop());
      const watch = new Watch(held, opened, sink(), (events) => metrics.count("events", labels, events));
      ends.push(
        clients.add(watch),
        access.hold(caller, ask, () => watch.end()),
      );
      metrics.count("requests", { by: "relay", verb: "watch" });
      metrics.count("watches", labels);
      ends.push(() => metrics.count("watches", labels, -1));
      await watch.run();
    } finally {
      for (const end of ends) end();
    }
  }

  /** A watch that the server serves counts as one, too. */
  #pass(
    isWatch: boolean,
    ask: Ask | undefined,
    caller: Caller | undefined,
    stream: ServerResponse | Duplex,
    refuse: (answer: Answer) => void,
    send: (refuse: (answer: Answer) => void) => void,
  ): void {
    const { clients, metrics } = this.#parts;
    if (isWatch) {
      // Those of whom it cannot be told who asks are one client together.
      const leave = clients.enter(caller?.id ?? "");
      if (leave === undefined) return this.#tooMany(refuse);
      const remove = clients.add({ end: () => stream.destroy() });
      stream.once("close", () => {
        leave();
        remove();
      });
    }
    metrics.count("requests", { by: "server", verb: isWatch ? "watch" : (ask?.verb ?? "other") });
    send((answer) => this.#refuse(answer, "server", refuse));
  }

  #tooMany(refuse: (answer: Answer) => void): void {
    const message = "too many watches of one client are open: end some, or ask again later";
    this.#refuse(statusAnswer(429, "TooManyRequests", message, 5), "max-watches", refuse);
  }

  #refuse(answer: Answer, why: string, refuse: (answer: Answer) => void): void {
    this.#parts.metrics.count("refused", { why });
    refuse(answer);
  }
}

function endUpgrade(socket: Duplex, { code, headers, body }: Answer): void {
  const sent = { ...headers, "content-length": String(body.length), connection: "close" };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "Error"}\r\n${lines.join("")}\r\n${body.toString()}`);
}
