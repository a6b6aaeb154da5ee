import { Hub } from "./hub/hub.js";
import type { Port } from "./link/port.js";
import { runtimeOf } from "./load/instance.js";
import { address } from "./wasm/address.js";

// The script of the worker that holds the streams of all tabs, or of the one page that started it.

const scope = globalThis as unknown as {
  /** Of a worker that is shared: the name that it was asked for by. */
  readonly name?: string;
  onconnect?: ((event: { ports: readonly Port[] }) => void) | null;
};
const runtime = runtimeOf({ bundled: address });

if ("onconnect" in scope) {
  const hub = new Hub(runtime, scope.name);
  scope.onconnect = ({ ports: [port] }) => hub.connect(port!);
} else {
  new Hub(runtime).connect(globalThis as unknown as Port);
}
