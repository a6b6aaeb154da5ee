/**
 * The two servers that a client is tried on: the embedded one and kube-apiserver, both over plain HTTP and without a token of the client's.
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../../www/server/index.mjs";
import { Cluster } from "../harness/cluster.mjs";
import { Proxy } from "../harness/proxy.mjs";

/**
 * One server.
 * @typedef {object} Side
 * @property {"embedded" | "kube-apiserver"} name
 * @property {string} url
 * @property {string} home a folder of its own for what a client keeps, such as kubectl its discovery
 * @property {() => Promise<void>} expire makes the server forget its history, and ends its streams
 */

/**
 * @param {import("../harness/cluster.mjs").ClusterOptions} [options]
 * @returns {Promise<{ embedded: Side, real: Side, cluster: Cluster, server: import("../../../www/server/index.mjs").Server, stop(): Promise<void> }>}
 */
export async function bothSides(options) {
  const dir = mkdtempSync(join(tmpdir(), "watchcache-clients-"));
  const server = await startServer({ port: 0, pods: 0, rate: 0 });
  // The real one has these from the beginning.
  for (const name of ["kube-node-lease", "kube-public", "kube-system"])
    await fetch(`${server.url}/api/v1/namespaces`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ metadata: { name } }),
    });
  const cluster = await Cluster.start(options);
  // As `kubectl proxy` does: a client sends no token over plain HTTP.
  const proxy = await Proxy.start({
    upstream: cluster.secureUrl,
    ca: () => cluster.certificate,
    serve: (request) => {
      request.headers.authorization ??= `Bearer ${cluster.tokens.admin}`;
      return false;
    },
  });
  return {
    cluster,
    server,
    embedded: {
      name: "embedded",
      url: server.url,
      home: join(dir, "embedded"),
      expire: async () => void server.control.fault("expire"),
    },
    real: {
      name: "kube-apiserver",
      url: proxy.url,
      home: join(dir, "real"),
      async expire() {
        await cluster.apiserver.kill();
        await cluster.etcdCall("/v3/kv/put", { key: Buffer.from("/watchcache-tests/step").toString("base64"), value: "" });
        await cluster.compact();
        await cluster.apiserver.start();
      },
    },
    async stop() {
      await server.close();
      await proxy.close();
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
