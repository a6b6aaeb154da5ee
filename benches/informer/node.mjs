// The measured process in Node: one informer, asked over the channel to the process that started it.
import { informerClient } from "./client.js";

const { server, expected, restartMs } = JSON.parse(process.argv[2]);

function kubeConfig(KubeConfig) {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "bench", server, skipTLSVerify: true }],
    users: [{ name: "bench" }],
    contexts: [{ name: "bench", cluster: "bench", user: "bench" }],
    currentContext: "bench",
  });
  return config;
}

/** A process loads only what it measures: the collector looks through all that a process holds, whoever's it is. */
const load = {
  watchcache: () => import("../../dist/node.js"),
  async "client-node informer"() {
    const { CoreV1Api, KubeConfig, makeInformer } = await import("@kubernetes/client-node");
    const config = kubeConfig(KubeConfig);
    const api = config.makeApiClient(CoreV1Api);
    return { kubeConfig: config, makeInformer, list: () => api.listPodForAllNamespaces() };
  },
  "the stream alone": () => ({}),
};

const client = informerClient({
  server,
  expected,
  restartMs,
  load,
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
