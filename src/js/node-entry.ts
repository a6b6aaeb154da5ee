import { setMaxListeners } from "node:events";
import { readFile } from "node:fs/promises";
import type { Entry } from "./load/compile.js";
import { address } from "./wasm/address.js";

/** How the package is loaded in Node, by a page's half and by that of a thread. */
export const entry: Entry = {
  bundled: address,
  /** Node's fetch reads no files. */
  read: (file) => readFile(file),
  host: {
    // Node's own WebSocket says no Origin, which API servers want, and Node 20 has none.
    transport: "fetch",
    unlimited: (target) => {
      try {
        setMaxListeners(0, target);
      } catch {
        // An `EventTarget` of another make stands for Node's, as under jsdom: it never warns.
      }
    },
  },
};
