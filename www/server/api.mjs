// The Kubernetes API itself: from a request to its list, watch, object or refusal.
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocketServer } from "ws";
import { acceptedView } from "./accept.mjs";
import { authenticate } from "./auth.mjs";
import { checkContentType, readBody } from "./body.mjs";
import { discoveryDocument, isProbe, isPublic } from "./discovery.mjs";
import { isCacheable } from "./front.mjs";
import { FrontWatcher } from "./front-watch.mjs";
import { encodeJson } from "./json.mjs";
import { pageMetadata, readPage, renderPage } from "./list.mjs";
import { openApiAnswer } from "./openapi.mjs";
import { isInKnownGroup, parseResourcePath } from "./path.mjs";
import { decodeListOptions } from "./query.mjs";
import { keyOf } from "./resources.mjs";
import { answerReview, findReview } from "./reviews.mjs";
import { decodeEviction, EVICTED, scaleOf } from "./subresources.mjs";
import { StreamSink, WebSocketSink } from "./sinks.mjs";
import { asStatusError, badRequest, methodNotAllowed, noSuchResource, notFound, PAGE_NOT_FOUND, StatusError } from "./status.mjs";
import { checkHandshake, endUpgrade, refuseUpgrade } from "./upgrade.mjs";
import { parseVersion } from "./version.mjs";
import { Viewer, ViewSink } from "./views.mjs";
import { checkWatchOptions, Watcher } from "./watch.mjs";
import { decodeSaid, deletedStatus, Writer } from "./write.mjs";

/** @typedef {import("./path.mjs").ResourcePath} ResourcePath */
/** @typedef {import("node:http").IncomingMessage} Request */
/** @typedef {import("node:http").ServerResponse} Response */

/** Programs that people read the answers of get them indented, unless they say otherwise. */
const READABLE_AGENT = /^(Mozilla\/5\.0|curl|Wget)/;

/** The API over one store. */
export class Api {
  /**
   * @param {import("./store.mjs").Store} store
   * @param {import("./faults.mjs").Faults} faults
   * @param {{ tokens: readonly string[], bookmarkMs: number, now: () => number }} settings
   * @param {import("./front.mjs").Front} [front] the cache that lists and watches are served from, where there is one
   */
  constructor(store, faults, settings, front) {
    this.store = store;
    this.front = front;
    this.faults = faults;
    this.settings = settings;
    this.writer = new Writer(store, settings.now);
    this.webSockets = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      handleProtocols: (protocols) => [...protocols].at(-1) ?? false,
    });
    /** Totals since the start. `cached`: lists and watches that the cache has served. */
    this.counts = { requests: 0, lists: 0, watches: 0, frames: 0, cached: 0 };
  }

  /** @param {Request} request @param {Response} response */
  async handle(request, response) {
    const answer = new Answer(request, response);
    try {
      this.counts.requests += 1;
      const { pathname, searchParams } = answer.url;
      if (!isPublic(pathname)) authenticate(request, this.settings.tokens);
      if (isProbe(pathname)) return answer.text(200, "ok");
      const discovered = discoveryDocument(pathname, request);
      if (discovered) return answer.discovered(discovered, request.headers["if-none-match"]);
      const openApi = pathname.startsWith("/openapi/") ? openApiAnswer(pathname, request) : undefined;
      if (openApi && "bytes" in openApi) return answer.text(200, openApi.bytes, openApi.type);
      if (openApi) return answer.json(200, openApi.document);
      const review = findReview(pathname);
      if (review) return await this.#review(request, answer, review);
      const path = parseResourcePath(pathname);
      if (!path && isInKnownGroup(pathname)) throw noSuchResource();
      if (!path) return answer.text(404, PAGE_NOT_FOUND);
      if (request.method === "GET" || request.method === "HEAD") await this.#read(request, answer, path, searchParams);
      else await this.#write(request, answer, path, searchParams);
    } catch (error) {
      answer.refuse(asStatusError(error));
    }
  }

  /** @param {Request} request @param {Answer} answer @param {ResourcePath} path @param {URLSearchParams} query */
  async #read(request, answer, path, query) {
    const viewer = this.#viewer(request, path, query);
    if (path.name && !path.watch) return this.#get(answer, path, query, viewer);
    const options = decodeListOptions(query, path.definition, { forceWatch: path.watch });
    if (options.watch) checkWatchOptions(options);
    const trouble = this.faults.answer({ verb: options.watch ? "watch" : "list", resource: path.definition.resource });
    if (trouble) return answer.text(trouble.code, trouble.body, trouble.type, trouble.headers);
    if (options.watch) {
      const open = await this.#openWatch(path, options);
      answer.stream();
      this.#watch(new StreamSink(answer.response), path, options, { open, viewer });
      return;
    }
    await this.#list(answer, path, options, viewer);
  }

  /**
   * What the answer shows of objects, where that is not the objects themselves.
   * @param {Request} request @param {ResourcePath} path @param {URLSearchParams} query
   * @throws {StatusError} 406
   */
  #viewer(request, { definition }, query) {
    const view = acceptedView(request);
    return view && new Viewer(view, definition, { query, now: this.settings.now });
  }

  /** @param {Request} request @param {Answer} answer @param {import("./reviews.mjs").Review} review */
  async #review(request, answer, review) {
    // There is no table of a question.
    if (acceptedView(request)) throw new StatusError(406, "NotAcceptable", "only the following media types are accepted: application/json");
    answer.json(201, answerReview(review, request.method, await readBody(request, review.kind), this.settings.now()));
  }

  /** @param {Answer} answer @param {ResourcePath} path @param {URLSearchParams} query @param {Viewer} [viewer] */
  async #get(answer, path, query, viewer) {
    const { definition, namespace, name } = path;
    const table = this.store.table(definition);
    const text = query.get("resourceVersion") ?? "";
    const visible = this.faults.visible(table);
    try {
      await this.store.reached(parseVersion(text), visible);
    } catch (error) {
      if (error instanceof StatusError) throw error;
      throw new StatusError(500, "", /** @type {Error} */ (error).message);
    }
    const object = table.snapshot(Math.max(visible(), table.window.oldest)).get(keyOf(definition, namespace, name));
    if (!object) throw notFound(definition, name);
    if (path.subresource === "scale") return answer.json(200, scaleOf(object.parse()));
    // An eviction is made, and never read.
    if (path.subresource === "eviction") throw methodNotAllowed();
    answer.object(200, object, viewer);
  }

  /** @param {Answer} answer @param {ResourcePath} path @param {import("./query.mjs").ListOptions} options @param {Viewer} [viewer] */
  async #list(answer, path, options, viewer) {
    viewer?.checkList();
    const { definition, namespace } = path;
    this.counts.lists += 1;
    const table = this.store.table(definition);
    const front = this.#frontFor(definition, options);
    const read = () => readPage(table, options, namespace, this.faults.visible(table));
    let page;
    if (!viewer) page = front ? await front.list(table, namespace, options) : renderPage(await read(), definition);
    else if (front) {
      const { metadata, items } = await front.page(table, namespace, options);
      page = documentParts(viewer.list(metadata, JSON.parse(items.toString())));
    } else {
      const found = await read();
      page = documentParts(
        viewer.list(
          pageMetadata(found),
          found.items.map((item) => item.parse()),
        ),
      );
    }
    const slow = this.faults.take("slowPages", { resource: definition.resource });
    if (slow) await answer.chunks(drip(page, slow.pageMs, slow.chunks));
    else await answer.chunks(page);
  }

  /**
   * The cache, where it can serve this. A replica that is behind is played by the store alone.
   * @param {import("./resources.mjs").ResourceDefinition} definition @param {import("./query.mjs").ListOptions} options
   */
  #frontFor(definition, options) {
    const front = this.faults.isBehind || !isCacheable(definition, options) ? undefined : this.front;
    if (front) this.counts.cached += 1;
    return front;
  }

  /**
   * The watch of the cache, where it can serve this.
   * @param {ResourcePath} path @param {import("./query.mjs").ListOptions} options
   * @throws {StatusError} while the stream is not open yet, when the cache refuses it
   */
  async #openWatch({ definition, namespace, name }, options) {
    return this.#frontFor(definition, options)?.watch(this.store.table(definition), { namespace, name }, options);
  }

  /**
   * @param {WebSocketSink | StreamSink} sink @param {ResourcePath} path @param {import("./query.mjs").ListOptions} options
   * @param {{ open?: import("./front.mjs").OpenWatch, viewer?: Viewer }} how `open`: the watch of the cache; without one the store serves it
   */
  #watch(sink, path, options, { open, viewer }) {
    const { definition, namespace, name } = path;
    const table = this.store.table(definition);
    this.counts.watches += 1;
    const settings = {
      bookmarkMs: this.settings.bookmarkMs,
      visible: this.faults.visible(table),
      delivered: () => {
        this.counts.frames += 1;
      },
    };
    const scope = { namespace, name };
    const shown = viewer ? new ViewSink(sink, viewer) : sink;
    const watcher = open
      ? new FrontWatcher(table, options, scope, shown, settings, open)
      : new Watcher(table, options, scope, shown, settings);
    /** @type {import("./faults.mjs").Stream} */
    const stream = {
      transport: sink.kind === "websocket" ? "websocket" : "http",
      resource: definition.resource,
      namespace,
      drop: (how) => sink.drop(how),
      freeze: (ms) => sink.freeze(ms),
      unfreeze: () => sink.unfreeze(),
      inject: (frame) => sink.send(frame),
      watcher,
    };
    this.faults.streams.add(stream);
    watcher.onstop = () => this.faults.streams.delete(stream);
    void watcher.start();
  }

  /** @param {Request} request @param {Answer} answer @param {ResourcePath} path @param {URLSearchParams} query */
  async #write(request, answer, path, query) {
    const { definition, name, subresource } = path;
    const viewer = this.#viewer(request, path, query);
    const body = await readBody(request, definition.kind);
    // Whoever writes is known by the first word of its User-Agent, unless the request says it.
    const agent = (request.headers["user-agent"] ?? "unknown").split("/")[0];
    const contentType = request.method === "PATCH" ? (request.headers["content-type"] ?? "") : "";
    const said = decodeSaid(query, agent, contentType);
    if (request.method === "POST" || request.method === "PUT") checkContentType(request);
    if (subresource === "eviction" && request.method !== "POST") throw methodNotAllowed();
    /** @param {number} code @param {import("./write.mjs").Left} left */
    const leave = (code, left) => {
      answer.warn(said.warnings);
      if (subresource === "scale") answer.json(code, scaleOf(left.parse()));
      else answer.object(code, left, viewer);
    };
    switch (request.method) {
      case "POST":
        if (subresource === "eviction") {
          this.writer.remove({ ...path, subresource: "" }, decodeEviction(body, name), said.dryRun);
          return answer.json(201, EVICTED);
        }
        if (name || subresource) throw methodNotAllowed();
        return leave(201, this.writer.create(path, body, said));
      case "PUT":
        if (!name) throw methodNotAllowed();
        return leave(200, this.writer.update(path, body, said));
      case "PATCH": {
        if (!name) throw methodNotAllowed();
        const { left, isNew } = this.writer.patch(path, body, contentType, said);
        return leave(isNew ? 201 : 200, left);
      }
      case "DELETE": {
        if (subresource || (!name && (!definition.deletesAll || (definition.namespaced && !path.namespace)))) throw methodNotAllowed();
        if (!name) {
          const deleted = this.writer.removeAll(path, decodeListOptions(query, definition), body, said.dryRun);
          const page = { version: this.store.revision, items: deleted };
          if (!viewer) return answer.chunks(renderPage(page, definition));
          const objects = deleted.map((item) => item.parse());
          return answer.json(200, viewer.list(pageMetadata(page), objects));
        }
        const last = this.writer.remove(path, body, said.dryRun);
        return definition.returnsDeleted ? answer.object(200, last, viewer) : answer.json(200, deletedStatus(definition, last));
      }
      default:
        throw methodNotAllowed();
    }
  }

  /**
   * A WebSocket handshake. What fails before it is a plain HTTP answer, which a browser shows only as a failed connection.
   * @param {Request} request @param {import("node:stream").Duplex} socket @param {Buffer} head
   */
  async upgrade(request, socket, head) {
    try {
      this.counts.requests += 1;
      const url = new URL(request.url ?? "/", "http://server");
      const remaining = authenticate(request, this.settings.tokens);
      const path = parseResourcePath(url.pathname);
      if (!path && isInKnownGroup(url.pathname)) throw noSuchResource();
      if (!path) return endUpgrade(socket, 404, "text/plain; charset=utf-8", PAGE_NOT_FOUND);
      const viewer = this.#viewer(request, path, url.searchParams);
      const options = decodeListOptions(url.searchParams, path.definition, { forceWatch: path.watch });
      if (!options.watch) throw badRequest("a WebSocket is only for watches here");
      checkWatchOptions(options);
      const trouble = this.faults.answer({ verb: "watch", resource: path.definition.resource, upgrade: true });
      if (trouble) return endUpgrade(socket, trouble.code, trouble.type, trouble.body, trouble.headers);
      checkHandshake(request, remaining);
      const open = await this.#openWatch(path, options);
      request.headers["sec-websocket-protocol"] = remaining[0];
      if (remaining.length === 0) delete request.headers["sec-websocket-protocol"];
      this.webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.#watch(new WebSocketSink(webSocket, socket), path, options, { open, viewer }),
      );
    } catch (error) {
      refuseUpgrade(socket, asStatusError(error));
    }
  }
}

/** One HTTP answer in the making. */
class Answer {
  /** @param {Request} request @param {Response} response */
  constructor(request, response) {
    this.response = response;
    this.url = new URL(request.url ?? "/", "http://server");
    const pretty = this.url.searchParams.get("pretty");
    this.pretty =
      pretty === null ? READABLE_AGENT.test(request.headers["user-agent"] ?? "") : pretty !== "0" && pretty.toLowerCase() !== "false";
  }

  /** @param {number} code @param {string | Buffer} body @param {string} [type] @param {Record<string, string>} [headers] */
  text(code, body, type = "text/plain; charset=utf-8", headers = {}) {
    this.response.writeHead(code, { "content-type": type, ...headers });
    this.response.end(body);
  }

  /** @param {number} code @param {unknown} document @param {Record<string, string>} [headers] */
  json(code, document, headers = {}) {
    this.text(code, `${encodeJson(document, this.pretty ? 2 : undefined)}\n`, "application/json", headers);
  }

  /**
   * One object, or what a view shows of it.
   * @param {number} code @param {import("./write.mjs").Left} left @param {Viewer} [viewer]
   */
  object(code, left, viewer) {
    if (viewer) this.json(code, viewer.object(left.parse()));
    else this.bytes(code, left.document());
  }

  /** Tells what was not taken, as `kubectl` shows it. @param {string[]} warnings */
  warn(warnings) {
    if (warnings.length > 0)
      this.response.setHeader(
        "warning",
        warnings.map((text) => `299 - ${JSON.stringify(text)}`),
      );
  }

  /** @param {import("./discovery.mjs").Discovered} discovered @param {string} [known] the version that the client has */
  discovered({ document, type, headers = {} }, known) {
    if (known !== undefined && headers.etag === known) {
      this.response.writeHead(304, headers);
      this.response.end();
      return;
    }
    this.text(200, `${encodeJson(document, this.pretty ? 2 : undefined)}\n`, type ?? "application/json", headers);
  }

  /** @param {number} code @param {Buffer} document JSON */
  bytes(code, document) {
    if (this.pretty) return this.json(code, JSON.parse(document.toString()));
    this.response.writeHead(code, { "content-type": "application/json" });
    this.response.end(Buffer.concat([document, Buffer.from("\n")]));
  }

  /** @param {Iterable<Buffer> | AsyncIterable<Buffer>} parts of one JSON document */
  async chunks(parts) {
    if (this.pretty) {
      const gathered = [];
      for await (const part of parts) gathered.push(part);
      return this.json(200, JSON.parse(Buffer.concat(gathered).toString()));
    }
    this.response.writeHead(200, { "content-type": "application/json" });
    try {
      await pipeline(parts, this.response);
    } catch {
      // The client left in the middle of its page.
      this.response.destroy();
    }
  }

  stream() {
    this.response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
  }

  /** @param {StatusError} error */
  refuse(error) {
    if (this.response.headersSent) this.response.destroy();
    else this.json(error.code, error.toStatus(), error.headers());
  }
}

/** A document of which nothing is ready yet. @param {unknown} document */
function documentParts(document) {
  return [Buffer.from(`${encodeJson(document)}\n`)];
}

/**
 * The same bytes, slowly.
 * @param {Iterable<Buffer>} parts @param {number} ms for the whole @param {number} chunks
 */
async function* drip(parts, ms, chunks) {
  const whole = Buffer.concat([...parts]);
  const count = Math.max(Math.floor(chunks), 1);
  const size = Math.max(Math.ceil(whole.length / count), 1);
  for (let start = 0; start < whole.length; start += size) {
    await sleep(ms / count);
    yield whole.subarray(start, start + size);
  }
}
