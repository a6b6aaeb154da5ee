// The same package in Node, over either transport: lists, then tells the first pod that is added to the namespace, and ends by itself.
import { createWatchCache } from "watchcache";
import { WebSocket } from "ws";

const [server, transport] = process.argv.slice(2);

// A browser says its origin with every socket, and an API server refuses a socket without one.
class Socket extends WebSocket {
  constructor(url, protocols) {
    super(url, protocols, { origin: server });
  }
}

const cache = createWatchCache({ server, transport, WebSocket: Socket });
const pods = cache.resource({ version: "v1", resource: "pods" });
await pods.synced();
const { items, resourceVersion } = await pods.list({ namespace: "shop" });
console.log(JSON.stringify({ names: items.map((pod) => pod.metadata.name), resourceVersion, size: pods.size }));

for await (const event of pods.watch({ namespace: "shop", resourceVersion })) {
  if (event.type !== "ADDED") continue;
  console.log(JSON.stringify({ type: event.type, key: event.key, name: event.object.metadata.name }));
  break;
}
await cache.close();
