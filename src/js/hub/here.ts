import type { Here } from "../link/workers.js";
import type { Runtime } from "../load/instance.js";
import { Hub } from "./hub.js";

/** A page's own streams, held as a worker would hold them, for the tab that it is. Its WebAssembly is that of the page. */
export function serveHere(runtime: Runtime): Here {
  const hub = new Hub(runtime);
  return {
    open: () => {
      const { port1, port2 } = new MessageChannel();
      hub.connect(port2);
      return port1;
    },
    close: () => hub.close(),
  };
}
