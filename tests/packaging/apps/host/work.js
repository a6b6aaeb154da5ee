// The worker of worker.js.
import * as watchcache from "watchcache";
import { liveRows } from "./rows.js";

const live = (server) => liveRows(watchcache, server).catch((error) => ({ error: String(error) }));

if (typeof postMessage === "function") {
  onmessage = async ({ data }) => postMessage(await live(data));
} else {
  const { parentPort, workerData } = await import("node:worker_threads");
  parentPort.postMessage(await live(workerData));
}
