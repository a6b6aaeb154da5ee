import { Hub } from "./hub/hub.js";
import type { Port } from "./link/port.js";
import { runtimeOf } from "./load/instance.js";
import { address } from "./wasm/address.js";

// The script of the worker that holds the streams of all tabs, or of the one page that started it.

const scope = globalThis as unknown as EventTarget & {
  /** Of a worker that is shared: the name that it was asked for by. */
  readonly name?: string;
  onconnect?: ((event: { ports: readonly Port[] }) => void) | null;
  close(): void;
};
const isShared = "onconnect" in scope;
const hub = new Hub(runtimeOf({ bundled: address }), { name: isShared ? scope.name : undefined, end: () => scope.close() });

// A trap is no panic: nobody is told of it but the worker itself.
scope.addEventListener("error", (event) => {
  const { error } = event as ErrorEvent;
  if (error instanceof WebAssembly.RuntimeError) hub.die(error.message);
});

if (isShared) scope.onconnect = ({ ports: [port] }) => hub.connect(port!);
else hub.connect(globalThis as unknown as Port);
