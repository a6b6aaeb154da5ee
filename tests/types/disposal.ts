// `await using`, where the project's library has it.
import { createWatchCache } from "watchcache";

await using cache = createWatchCache();
await using watcher = cache.resource("pods").watch();
for await (const event of watcher) void event.key;
await watcher[Symbol.asyncDispose]();
await cache[Symbol.asyncDispose]();
