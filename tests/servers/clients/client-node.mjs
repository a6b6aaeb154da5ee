/**
 * An informer of `@kubernetes/client-node` on the configmaps of a namespace, as a program. It writes what the informer sees, a line an
 * event, and on a line of its standard input the state of its store.
 * @module
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";

const [, , server, namespace] = process.argv;
const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: "it", server, skipTLSVerify: true }],
  users: [{ name: "me" }],
  contexts: [{ name: "it", cluster: "it", user: "me" }],
  currentContext: "it",
});
const api = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => api.listNamespacedConfigMap({ namespace }));

const say = (/** @type {string[]} */ ...words) => console.log(words.join(" "));
const text = (/** @type {import("@kubernetes/client-node").V1ConfigMap} */ map) => `${map.metadata?.name}=${map.data?.n ?? ""}`;
informer.on("add", (map) => say("ADDED", text(map)));
informer.on("update", (map) => say("MODIFIED", text(map)));
informer.on("delete", (map) => say("DELETED", text(map)));
informer.on("error", async (error) => {
  say("ERROR", String(error?.message ?? error).split("\n")[0]);
  // It ends with an error, and whoever uses it starts it again.
  for (;;) {
    await sleep(200);
    try {
      await informer.start();
      return;
    } catch (failure) {
      say("ERROR", String(failure).split("\n")[0]);
    }
  }
});
await informer.start();
say("SYNCED");
for await (const _ of createInterface({ input: process.stdin })) say("STATE", informer.list().map(text).sort().join(","));
process.exit();
