import { WatchCacheError } from "./errors.js";
import type { RawModule } from "./raw.js";
import { remedy } from "./remedy.js";
import load, {
  buildInfo,
  initSync,
  memoryBytes,
  onPanic as onCorePanic,
  openKubernetes,
  openMetrics,
  openSource,
  poisoned,
  RawMemory,
  slept,
} from "./wasm/watchcache.js";

/** Where the WebAssembly's bytes come from: an address, a request, the bytes, a compiled module, or a response on its way. */
export type WasmSource = URL | RequestInfo | BufferSource | WebAssembly.Module | Promise<Response>;

// Not "module": Parcel wraps each file in a function that has a parameter of this name.
let core: RawModule | undefined;
let ready: Promise<void> | undefined;
const panicListeners = new Set<(message: string) => void>();

/** The module, once it is instantiated. */
export function loaded(): RawModule | undefined {
  return core;
}

/**
 * Instantiates the WebAssembly, once: further calls get the same promise, whatever their source. After a failure the next call tries again.
 *
 * @throws {WatchCacheError} `network` when the bytes cannot be had, `decode` when they are no WebAssembly module or may not be compiled.
 */
export function instantiate(source: () => WasmSource | Promise<WasmSource>): Promise<void> {
  ready ??= begin(source).catch((error: unknown) => {
    ready = undefined;
    throw error;
  });
  return ready;
}

async function begin(source: () => WasmSource | Promise<WasmSource>): Promise<void> {
  let asked: Exclude<WasmSource, Promise<Response>> | Response | undefined;
  try {
    asked = await source();
    await load({ module_or_path: asked });
  } catch (error) {
    throw loadError(error, asked);
  }
  adopt();
}

/** Instantiates it at once. */
export function instantiateSync(source: BufferSource | WebAssembly.Module): void {
  if (core !== undefined) return;
  try {
    initSync({ module: source });
  } catch (error) {
    throw loadError(error, source);
  }
  adopt();
  ready = Promise.resolve();
}

/** Calls back when the instance has panicked; the returned function takes that back. */
export function onPanic(listener: (message: string) => void): () => void {
  panicListeners.add(listener);
  return () => panicListeners.delete(listener);
}

function adopt(): void {
  if (core !== undefined) return;
  core = {
    openKubernetes,
    openSource,
    openMetrics,
    RawMemory,
    poisoned,
    onPanic: onCorePanic,
    slept,
    memoryBytes,
    buildInfo,
  };
  onCorePanic((message) => {
    // The core is in the middle of its panic: nobody may call it before that is over.
    queueMicrotask(() => {
      for (const listener of [...panicListeners]) listener(message);
    });
  });
}

function loadError(error: unknown, asked: unknown): WatchCacheError {
  const message = error instanceof Error ? error.message : String(error);
  const unusable = error instanceof WebAssembly.CompileError || error instanceof WebAssembly.LinkError;
  const what = `the WebAssembly cannot be ${unusable ? "used" : "loaded"}: ${message}; ${remedy(message, asked)}`;
  return new WatchCacheError(unusable ? "decode" : "network", what, { cause: error, retryable: !unusable });
}
