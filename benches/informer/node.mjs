// The measured process in Node: one informer, asked over the channel to the process that started it.
import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";
import { createWatchCache } from "../../dist/node.js";
import { informerClient } from "./client.js";

const { server, expected, restartMs } = JSON.parse(process.argv[2]);

function kubeConfig() {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "bench", server, skipTLSVerify: true }],
    users: [{ name: "bench" }],
    contexts: [{ name: "bench", cluster: "bench", user: "bench" }],
    currentContext: "bench",
  });
  return config;
}

const config = kubeConfig();
const api = config.makeApiClient(CoreV1Api);

const client = informerClient({
  server,
  expected,
  restartMs,
  createWatchCache,
  // Node 20 has no WebSocket, and the peer streams by fetch too.
  cacheOptions: { transport: "fetch" },
  kubeConfig: config,
  makeInformer,
  list: () => api.listPodForAllNamespaces(),
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  now: () => performance.timeOrigin + performance.now(),
});

const steps = {
  ...client,
  heap() {
    gc();
    gc();
    return process.memoryUsage().heapUsed;
  },
  end() {
    setImmediate(() => process.exit(0));
  },
};

process.on("message", async ({ id, step, options }) => {
  try {
    process.send({ id, result: await steps[step](options) });
  } catch (error) {
    process.send({ id, error: error.stack ?? String(error) });
  }
});
process.send({ id: 0 });
