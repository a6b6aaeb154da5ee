/**
 * kube-apiserver as a target of the end-to-end suite: connections are broken at the proxy, processes by signals.
 * @module
 */
import { Cluster } from "./harness/cluster.mjs";
import { Proxy } from "./harness/proxy.mjs";

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
    async refuse(answer) {
      cluster.proxy.refuse(answer);
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
