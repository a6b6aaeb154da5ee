import { Worker } from "node:worker_threads";
import type { Failure, Startable, StartWorker } from "./workers.js";

/** Starts the script of a thread of Node, which lies beside the entries. Threads of several processes have nothing in common: none is shared. */
export const startThread: StartWorker = (mode, name) => {
  if (mode === "shared") throw new Error("this host has no SharedWorker");
  // Of a process whose script is a text it would be told how to read that, and refuse its own.
  const execArgv = process.execArgv.filter((argument) => !argument.startsWith("--input-type"));
  const thread = new Worker(new URL("../thread.js", import.meta.url), { name, execArgv });
  return {
    postMessage: (message: unknown, transfer: ArrayBuffer[] = []) => thread.postMessage(message, transfer),
    addEventListener: (type: string, listener: (event: any) => void) => {
      if (type === "message") thread.on("message", (data) => listener({ data }));
      else {
        thread.on("error", ({ message }) => listener({ message, isEnd: true } satisfies Failure));
        thread.on("exit", (code) => listener({ message: `it has ended with the code ${code}`, isEnd: true } satisfies Failure));
      }
    },
    terminate: () => void thread.terminate(),
  } as Startable;
};
