// A Node program that changes its mind: the cache is closed while its socket still connects.
import { createWatchCache } from "watchcache";
import { WebSocket } from "ws";

let cache;
const closed = new Promise((resolve) => {
  cache = createWatchCache({
    server: process.argv[2],
    WebSocket: class extends WebSocket {
      constructor(url, protocols) {
        super(url, protocols, { origin: process.argv[2] });
        setImmediate(() => resolve(cache.close()));
      }
    },
  });
});
const rejected = cache
  .resource({ version: "v1", resource: "pods" })
  .synced()
  .catch((error) => error.code);
await closed;
console.log(JSON.stringify({ synced: (await rejected) ?? "synced" }));
