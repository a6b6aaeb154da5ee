// What the tests share: a server on a free port, requests, and watches that can be waited on.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { startServer } from "./index.mjs";

/** Tests whose server serves from the cache. @type {WeakSet<import("node:test").TestContext>} */
const cached = new WeakSet();

/**
 * A test of what a server answers, whoever answers it: once with the store, once with the package's cache before the store.
 * @param {string} name @param {(t: import("node:test").TestContext) => Promise<void>} run
 */
export function testBoth(name, run) {
  test(name, run);
  test(`${name}, from the cache`, async (t) => {
    cached.add(t);
    await run(t);
  });
}

/** Nothing here takes that long; a test that waits for what never comes fails by this. */
const PATIENCE_MS = 10_000;

/**
 * @param {import("node:test").TestContext} t closes the server at its end
 * @param {import("./options.mjs").ServerOptions} [options] by default an empty cluster
 */
export async function serverFor(t, options = {}) {
  const server = await startServer({ port: 0, pods: 0, rate: 0, cache: cached.has(t), ...options });
  /** @type {WatchClient[]} */
  const watches = [];
  t.after(async () => {
    for (const watch of watches) watch.close();
    await server.close();
  });
  /** @param {string} path @param {RequestInit & { json?: unknown }} [init] */
  const api = async (path, { json, ...init } = {}) => {
    const body = json === undefined ? init.body : JSON.stringify(json);
    const response = await fetch(server.url + path, {
      ...init,
      body,
      headers: { ...(json === undefined ? {} : { "content-type": "application/json" }), ...init.headers },
    });
    const text = await response.text();
    const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
    return {
      code: response.status,
      headers: response.headers,
      text,
      body: /** @type {any} */ (isJson && text ? JSON.parse(text) : undefined),
    };
  };
  return {
    ...server,
    /** Whether it serves from the package's cache. */
    cached: cached.has(t),
    api,
    /** @param {string} path @param {{ protocols?: string[], origin?: string }} [how] */
    watch: async (path, how) => {
      const watch = openWebSocket(server.url, path, how);
      watches.push(watch);
      await watch.opened;
      return watch;
    },
    /** @param {string} namespace @param {string} name @param {Record<string, any>} [more] */
    createPod: async (namespace, name, { labels, nodeName } = {}) => {
      if (namespace !== "default") await api("/api/v1/namespaces", { method: "POST", json: { metadata: { name: namespace } } });
      const answer = await api(`/api/v1/namespaces/${namespace}/pods`, {
        method: "POST",
        json: { metadata: { name, labels }, spec: { containers: [{ name: "main", image: "example" }], ...(nodeName ? { nodeName } : {}) } },
      });
      assert.equal(answer.code, 201, answer.text);
      return answer.body;
    },
  };
}

/** A watch that gathers its events. */
export class WatchClient {
  constructor() {
    /** @type {any[]} */
    this.events = [];
    /** Frames as text. @type {string[]} */
    this.frames = [];
    /** @type {(() => void)[]} */
    this.wakers = [];
    this.taken = 0;
    /** How it ended. @type {Promise<{ code?: number, error?: Error }>} */
    this.ended = new Promise((resolve) => {
      this.finish = resolve;
    });
    this.over = false;
    /** @type {Promise<void>} */
    this.opened = Promise.resolve();
    /** @type {() => void} */
    this.close = () => {};
  }

  /** @param {string} text */
  take(text) {
    this.frames.push(text);
    try {
      this.events.push(JSON.parse(text));
    } catch {
      this.events.push({ type: "BROKEN", text });
    }
    this.wake();
  }

  wake() {
    for (const waker of this.wakers.splice(0)) waker();
  }

  /** The next event. @returns {Promise<any>} */
  async next() {
    const deadline = performance.now() + PATIENCE_MS;
    while (this.taken >= this.events.length) {
      const left = deadline - performance.now();
      assert.ok(left > 0 && !this.over, `no further event came after ${JSON.stringify(this.brief())}`);
      await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
        const timer = setTimeout(resolve, left);
        this.wakers.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    this.taken += 1;
    return this.events[this.taken - 1];
  }

  /** The next events, in short: "ADDED default/a". @param {number} count */
  async nextBrief(count) {
    const events = [];
    while (events.length < count) events.push(brief(await this.next()));
    return events;
  }

  brief() {
    return this.events.map(brief);
  }
}

/** @param {any} event */
export function brief(event) {
  const { metadata, reason, message } = event.object ?? {};
  if (event.type === "ERROR") return `ERROR ${reason}: ${message}`;
  if (event.type === "BOOKMARK") return metadata.annotations ? "BOOKMARK end" : "BOOKMARK";
  return `${event.type} ${metadata?.namespace ? `${metadata.namespace}/` : ""}${metadata?.name}`;
}

/** @param {string} url @param {string} path @param {{ protocols?: string[], origin?: string }} [how] */
export function openWebSocket(url, path, { protocols = [], origin = "http://localhost" } = {}) {
  const watch = new WatchClient();
  const socket = new WebSocket(url.replace(/^http/, "ws") + path, protocols, origin === "" ? {} : { origin });
  watch.opened = new Promise((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("unexpected-response", (_request, response) => {
      let text = "";
      response.on("data", (part) => {
        text += part;
      });
      response.on("end", () =>
        reject(
          Object.assign(new Error(`refused with ${response.statusCode}`), { code: response.statusCode, headers: response.headers, text }),
        ),
      );
    });
    socket.once("error", reject);
  });
  watch.opened.catch(() => {});
  socket.on("message", (data) => watch.take(String(data)));
  /** @type {Error | undefined} */
  let failure;
  socket.on("error", (error) => {
    failure = error;
  });
  socket.on("close", (code) => {
    watch.over = true;
    watch.finish?.({ code, error: failure });
    watch.wake();
  });
  watch.close = () => socket.terminate();
  return Object.assign(watch, { socket });
}

/** A watch over a chunked response. @param {string} url @param {string} path @param {Record<string, string>} [headers] */
export async function openStream(url, path, headers = {}) {
  const watch = new WatchClient();
  const request = httpRequest(url + path, { headers, agent: false });
  /** @type {Error | undefined} */
  let failure;
  const fail = (/** @type {Error} */ error) => {
    failure ??= error;
  };
  request.end();
  const [response] = /** @type {[import("node:http").IncomingMessage]} */ (await once(request, "response"));
  let rest = "";
  response.setEncoding("utf8");
  response.on("data", (part) => {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) watch.take(`${line}\n`);
  });
  request.on("error", fail);
  response.on("error", fail);
  response.on("close", () => {
    watch.over = true;
    watch.finish?.({ error: failure });
    watch.wake();
  });
  watch.close = () => request.destroy();
  return Object.assign(watch, { response, rest: () => rest });
}

/** The names in a list, as "namespace/name". @param {any} list */
export function namesOf(list) {
  return list.items.map((/** @type {any} */ { metadata }) =>
    metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name,
  );
}

/**
 * The server as a process of its own.
 * @param {string[]} args of the command line
 * @returns {Promise<{ url: string, kill: () => Promise<void> }>} once it listens
 */
export async function command(args) {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./main.mjs", import.meta.url)), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let said = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    said += chunk;
    const url = /^(http\S+)\/$/m.exec(said)?.[1];
    if (url) return { url, kill: async () => void (child.kill("SIGKILL"), await ended) };
  }
  throw new Error(`the server ended before it listened: ${said}`);
}
