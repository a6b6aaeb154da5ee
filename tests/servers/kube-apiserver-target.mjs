/**
 * kube-apiserver as a target of the end-to-end suite: connections are broken at the proxy, processes by signals.
 * @module
 */
import { Cluster } from "./harness/cluster.mjs";
import { Proxy } from "./harness/proxy.mjs";

const TEXT = "text/plain; charset=utf-8";

/** @type {Record<import("../e2e/target.mjs").Refusal, import("./harness/proxy.mjs").Refusal>} */
const ANSWERS = {
  unavailable: { status: 503, headers: { "content-type": TEXT, "retry-after": "1" }, body: "no endpoints available\n" },
  "too-many-requests": {
    status: 429,
    headers: { "content-type": TEXT, "retry-after": "1" },
    body: "Too many requests, please try again later.\n",
  },
  html: { status: 200, headers: { "content-type": "text/html" }, body: "<!doctype html><title>Sign in</title>\n" },
};

/**
 * @param {import("./harness/cluster.mjs").ClusterOptions} [options]
 * @returns {Promise<import("../e2e/target.mjs").Target & { cluster: Cluster }>}
 */
export async function kubeApiServerTarget(options) {
  const cluster = await Cluster.start(options);
  const side = await Proxy.start({ upstream: cluster.secureUrl, ca: () => cluster.certificate });
  return {
    cluster,
    name: "kube-apiserver",
    url: cluster.url,
    side: side.url,
    token: cluster.tokens.admin,
    powerless: cluster.tokens.nobody,
    async drop() {
      cluster.proxy.drop();
    },
    async freeze() {
      cluster.proxy.freeze();
    },
    async refuse(how) {
      cluster.proxy.refuse(how && ANSWERS[how]);
    },
    crash: () => cluster.killAndRestartApiServer(),
    async expire() {
      // A running apiserver still answers from its own window, so it has to go; without it, etcd moves on and compacts.
      await cluster.apiserver.kill();
      await cluster.etcdCall("/v3/kv/put", { key: Buffer.from("/watchcache-tests/step").toString("base64"), value: "" });
      await cluster.compact();
      await cluster.apiserver.start();
    },
    async stop() {
      await side.close();
      await cluster.stop();
    },
  };
}
