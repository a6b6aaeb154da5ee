// The same in a worker of the host, whose file it reads as the program does. Node has no `Worker` of the web.
import assert from "node:assert/strict";
import { assertLive, host, server } from "./host.js";

const file = new URL("./work.js", import.meta.url);
const seen = await new Promise((resolve, reject) => {
  if (host.startsWith("node")) {
    void import("node:worker_threads").then(({ Worker }) => {
      const worker = new Worker(file, { workerData: server });
      worker.on("message", resolve).on("error", reject);
      worker.on("exit", () => reject(new Error("it ended without a word")));
    });
  } else {
    const worker = new Worker(file, { type: "module" });
    worker.onerror = reject;
    worker.onmessage = ({ data }) => {
      worker.terminate();
      resolve(data);
    };
    worker.postMessage(server);
  }
});
assert.equal(seen.error, undefined);
assertLive(seen);
