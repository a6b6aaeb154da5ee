import { leftBehind } from "../wasm/address.js";
import { needWorkers, startAt, type StartWorker } from "./workers.js";

/**
 * Starts the worker's script, which lies beside the entries. Bundlers find it by these very expressions, and bundle it by itself. So nothing that
 * the worker imports may import this.
 */
export const startWorker: StartWorker = (mode, name) => {
  needWorkers(mode);
  const elsewhere = leftBehind("worker.js");
  if (elsewhere !== undefined) return startAt(mode, name, elsewhere.href);
  return mode === "shared"
    ? new SharedWorker(new URL("../worker.js", import.meta.url), { type: "module", name })
    : new Worker(new URL("../worker.js", import.meta.url), { type: "module", name });
};
