/**
 * kube-apiserver as a target of the end-to-end suite: connections are broken at the proxy, processes by signals.
 * @module
 */
import { Cluster } from "./harness/cluster.mjs";
import { Proxy } from "./harness/proxy.mjs";

const TEXT = "text/plain; charset=utf-8";

/** What stands for a refusal, said by a proxy. @type {Record<import("../e2e/target.mjs").Refusal, import("./harness/proxy.mjs").Refusal>} */
export const ANSWERS = {
  unavailable: { status: 503, headers: { "content-type": TEXT, "retry-after": "1" }, body: "no endpoints available\n" },
  "too-many-requests": {
    status: 429,
    headers: { "content-type": TEXT, "retry-after": "1" },
    body: "Too many requests, please try again later.\n",
  },
  html: { status: 200, headers: { "content-type": "text/html" }, body: "<!doctype html><title>Sign in</title>\n" },
};

/**
 * @param {{ watchCache?: boolean, flags?: readonly string[] }} [options] without its watch cache, kube-apiserver answers everything from etcd
 * @returns {Promise<import("../e2e/target.mjs").Target & { cluster: Cluster }>}
 */
export async function kubeApiServerTarget({ watchCache = true, flags = [] } = {}) {
  const cluster = await Cluster.start({ flags: [`--watch-cache=${watchCache}`, ...flags] });
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
      // A running watch cache still answers from its own window, so it has to go; etcd alone forgets by compaction.
      if (watchCache) await cluster.apiserver.kill();
      await cluster.etcdCall("/v3/kv/put", { key: Buffer.from("/watchcache-tests/step").toString("base64"), value: "" });
      await cluster.compact();
      if (watchCache) await cluster.apiserver.start();
    },
    async stop() {
      await side.close();
      await cluster.stop();
    },
  };
}
