// The same package in Node: lists, then tells the first pod that is added to the namespace, and ends by itself.
import { createWatchCache } from "watchcache";
import { WebSocket } from "ws";

const cache = createWatchCache({ server: process.argv[2], WebSocket });
const pods = cache.resource({ version: "v1", resource: "pods" });
await pods.synced();
const { items, resourceVersion } = await pods.list({ namespace: "default" });
console.log(JSON.stringify({ names: items.map((pod) => pod.metadata.name), resourceVersion, size: pods.size }));

for await (const event of pods.watch({ namespace: "default", resourceVersion })) {
  if (event.type !== "ADDED") continue;
  console.log(JSON.stringify({ type: event.type, key: event.key, name: event.object.metadata.name }));
  break;
}
await cache.close();
