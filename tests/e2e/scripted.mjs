/**
 * A server of one list and its watches, over plain HTTP, that does exactly what a test says.
 * @module
 */
import { createServer } from "node:http";

/** @typedef {import("node:http").ServerResponse} Response */

/** A small pod. @param {string} name @param {number} version */
export const pod = (name, version) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", uid: name, resourceVersion: String(version) },
});

export class ScriptedServer {
  /** What a list gives. @type {any[]} */
  items = [];
  version = 100;
  /** Every request: its query, and when it came. @type {{ watch: boolean, query: URLSearchParams, at: number }[]} */
  requests = [];
  /** Watches that are open. @type {Set<Response>} */
  streams = new Set();
  /** Answers a request itself, and says so. @type {(watch: boolean, response: Response) => boolean | Promise<boolean>} */
  answer = () => false;

  static async start() {
    const scripted = new ScriptedServer();
    scripted.server = createServer((request, response) => void scripted.#serve(new URL(request.url ?? "/", "http://server"), response));
    await new Promise((resolve) => scripted.server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return scripted;
  }

  /** @type {import("node:http").Server} */
  server = createServer();

  get url() {
    return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (this.server.address()).port}`;
  }

  get lists() {
    return this.requests.filter(({ watch }) => !watch);
  }

  get watches() {
    return this.requests.filter(({ watch }) => watch);
  }

  /** @param {URL} url @param {Response} response */
  async #serve({ searchParams }, response) {
    const watch = searchParams.has("watch");
    this.requests.push({ watch, query: searchParams, at: performance.now() });
    if (await this.answer(watch, response)) return;
    response.writeHead(200, { "content-type": "application/json" });
    if (!watch) {
      response.end(
        JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: String(this.version) }, items: this.items }),
      );
      return;
    }
    response.flushHeaders();
    this.streams.add(response);
    response.on("close", () => this.streams.delete(response));
    // What was missed since the version that is resumed from.
    for (const { at, frame } of this.#log) if (at > Number(searchParams.get("resourceVersion"))) response.write(frame);
  }

  /** @type {{ at: number, frame: string }[]} */
  #log = [];

  /** Changes a pod, and tells it. @param {string} type @param {string} name @returns {number} its version */
  change(type, name) {
    const object = pod(name, ++this.version);
    this.items = this.items.filter(({ metadata }) => metadata.name !== name);
    if (type !== "DELETED") this.items.push(object);
    const frame = `${JSON.stringify({ type, object })}\n`;
    this.#log.push({ at: this.version, frame });
    for (const stream of this.streams) stream.write(frame);
    return this.version;
  }

  /** The next change goes out so, and is kept as it is. @param {string} name @param {string} frame */
  spoil(name, frame) {
    this.items.push(pod(name, ++this.version));
    this.#log.push({ at: this.version, frame });
    for (const stream of this.streams) stream.write(frame);
  }

  /** Resets every open watch. */
  drop() {
    for (const stream of this.streams) stream.socket?.resetAndDestroy();
  }

  async close() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
