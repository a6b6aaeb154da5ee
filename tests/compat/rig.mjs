// The original from npm and the package's look-alike side by side: two subjects that are driven alike, against one embedded API server.
import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";
import * as original from "@kubernetes/client-node";
import { createWatchCache } from "watchcache";
import * as ours from "watchcache/compat/client-node";
import { startServer } from "../../www/server/index.mjs";

/** Nothing here takes that long. */
const PATIENCE_MS = 30_000;

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until it holds, or fails saying what was waited for. */
export async function until(condition, what = () => String(condition)) {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `waited in vain for ${what()}`);
    await pause(5);
  }
}

/** The servers' connections. Clients keep some for later, even without a request, and no server is to wait for those. */
const sockets = new Set();
subscribe("net.server.socket", ({ socket }) => {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
});

/** A server with an empty cluster, and a client that writes to it. */
export async function world(t, options = {}) {
  const server = await startServer({ port: 0, pods: 0, rate: 0, ...options });
  const closers = [];
  t.after(async () => {
    // Whoever is connected goes first.
    for (const close of closers) await close();
    for (const socket of sockets) if (socket.localPort === server.port) socket.destroy();
    await server.close();
  });
  const request = async (method, path, body, type = "application/json") => {
    const response = await fetch(server.url + path, {
      method,
      ...(body === undefined ? {} : { headers: { "content-type": type }, body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    assert.ok(response.ok, JSON.stringify(answer));
    return answer;
  };
  for (const name of ["a", "b", "c"]) await request("POST", "/api/v1/namespaces", { metadata: { name } });
  const pods = (key) => {
    const [namespace, name] = key.split("/");
    return { name, path: `/api/v1/namespaces/${namespace}/pods` };
  };
  return {
    url: server.url,
    /** Before the server closes. */
    atEnd: (close) => closers.push(close),
    control: server.control,
    /** Watches that are open on the server. */
    streams: () => server.control.status().streams.length,
    /** @returns what callbacks are to be told of the new version: `a/x@7` */
    async create(key, labels = { app: "web" }) {
      const { name, path } = pods(key);
      const spec = { containers: [{ name: "main", image: "example.com/main:1" }] };
      return brief(await request("POST", path, { metadata: { name, labels }, spec }));
    },
    async label(key, labels) {
      const { name, path } = pods(key);
      return brief(await request("PATCH", `${path}/${name}`, { metadata: { labels } }, "application/merge-patch+json"));
    },
    /** A pod is marked first, and then goes. @returns both versions, where `rate` is 0 */
    async remove(key) {
      const { name, path } = pods(key);
      await request("DELETE", `${path}/${name}`);
      const { resourceVersion } = server.control.status();
      return [`${key}@${resourceVersion - 1}`, `${key}@${resourceVersion}`];
    },
    kubeConfig() {
      const config = new original.KubeConfig();
      config.loadFromOptions({
        clusters: [{ name: "test", server: server.url, skipTLSVerify: true }],
        users: [{ name: "test" }],
        contexts: [{ name: "test", cluster: "test", user: "test" }],
        currentContext: "test",
      });
      return config;
    },
    /** A cache that reports to an array, and closes with the test. */
    cache(options = {}) {
      const reported = [];
      const logger = { debug() {}, info() {}, warn() {}, error: (...words) => reported.push(words.at(-1)) };
      // As the original does.
      const transport = "fetch";
      const cache = createWatchCache({ server: server.url, transport, logger, retry: { initialMs: 20, capMs: 200 }, ...options });
      closers.push(() => cache.close());
      return { cache, reported };
    },
  };
}

const brief = ({ metadata }) => `${metadata.namespace}/${metadata.name}@${metadata.resourceVersion}`;

/** The two, each with what opens an informer and a watch of it. `config` is what its constructor takes. */
export const subjects = {
  original: {
    module: original,
    config: (at) => at.kubeConfig(),
    /** What a program would give: a list of the generated client, with the same selector as the watch. */
    list: (at, config, namespace, labelSelector) => {
      const api = config.makeApiClient(original.CoreV1Api);
      return () =>
        namespace === undefined ? api.listPodForAllNamespaces({ labelSelector }) : api.listNamespacedPod({ namespace, labelSelector });
    },
  },
  ours: { module: ours, config: (at) => at.cache().cache, list: () => undefined },
};

/**
 * An informer of pods that notes what its callbacks hear.
 * @param {object} subject one of `subjects`
 * @param {{ namespace?: string, labelSelector?: string, config?: unknown }} [how]
 */
export function informerOf(t, subject, at, { namespace, labelSelector, config = subject.config(at) } = {}) {
  const path = namespace === undefined ? "/api/v1/pods" : `/api/v1/namespaces/${namespace}/pods`;
  const informer = subject.module.makeInformer(config, path, subject.list(at, config, namespace, labelSelector), labelSelector);
  const heard = [];
  const changes = [];
  const errors = [];
  let connects = 0;
  for (const verb of ["add", "update", "delete"]) informer.on(verb, (object) => heard.push(`${verb} ${brief(object)}`));
  informer.on("change", (object) => changes.push(brief(object)));
  informer.on("error", (error) => errors.push(error));
  informer.on("connect", () => connects++);
  let restarts = true;
  at.atEnd(() => {
    // The original tells a stop as an error: it would be resurrected.
    restarts = false;
    return informer.stop();
  });
  return {
    informer,
    errors,
    heard,
    changes,
    connects: () => connects,
    /** What it heard since the last time, once there is so much. */
    async told(count) {
      await until(
        () => heard.length >= count,
        () => `${count} calls; there were ${JSON.stringify(heard)}, and errors ${errors.map(String)}`,
      );
      return heard.splice(0);
    },
    /** As the original's documentation has it, with less patience. */
    restartsOnError: () => informer.on("error", () => setTimeout(() => restarts && void informer.start(), 50)),
    held: (...where) =>
      informer
        .list(...where)
        .map(brief)
        .sort(),
  };
}
