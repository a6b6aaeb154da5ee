/**
 * Caches whose streams somebody else holds, as in a page with a worker: here the worker's half runs beside them, behind a real port.
 * @module
 */
import { createWatchCache } from "watchcache";
import { Hub } from "../../dist/hub/hub.js";
import { runtimeOf } from "../../dist/load/instance.js";
import { address } from "../../dist/wasm/address.js";

/** The worker's half. @param {any} [own] options that no page can hand over */
export const hub = (own) => new Hub(runtimeOf({ bundled: address }), { own });

/** A port to it, as a page has one. @param {InstanceType<typeof Hub>} hub */
export function portTo(hub) {
  const { port1, port2 } = new MessageChannel();
  hub.connect(/** @type {any} */ (port2));
  port2.unref();
  return port1;
}

/**
 * Opens caches of this mode, with a worker each.
 * @param {"shared" | "worker"} mode @returns {(options: any) => any} takes the options of `createWatchCache`
 */
export const openerOf =
  (mode) =>
  ({ fetch, WebSocket, ...options }) => {
    const worker = hub({ ...(fetch && { fetch }), ...(WebSocket && { WebSocket }) });
    // In Node the default is fetch, unless a WebSocket is given: that one is the worker's.
    return createWatchCache({
      ...(WebSocket && { transport: "auto" }),
      ...options,
      mode,
      identity: "somebody",
      worker: () => portTo(worker),
    });
  };
