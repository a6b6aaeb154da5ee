import { parentPort } from "node:worker_threads";
import { Hub } from "./hub/hub.js";
import type { Port } from "./link/port.js";
import { runtimeOf } from "./load/instance.js";
import { entry } from "./node-entry.js";

// The script of a thread of Node that holds the streams of a cache: what worker.ts is to a page. What it does not catch ends it, which its starter hears.

new Hub(runtimeOf(entry)).connect(parentPort as unknown as Port);
