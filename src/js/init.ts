import { WatchCacheError } from "./errors.js";
import type { RawModule } from "./raw.js";
import type { WasmBytes, WasmSource } from "./types.js";
import load, {
  buildInfo,
  checkGrammar,
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

let module: RawModule | undefined;
let ready: Promise<void> | undefined;
const panicListeners = new Set<(message: string) => void>();

/** The module, once it is instantiated. */
export function loaded(): RawModule | undefined {
  return module;
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
  try {
    await load({ module_or_path: (await source()) as Exclude<WasmSource, Promise<Response>> });
  } catch (error) {
    throw loadError(error);
  }
  adopt();
}

/** Instantiates it at once. */
export function instantiateSync(source: WasmBytes): void {
  if (module !== undefined) return;
  try {
    initSync({ module: source });
  } catch (error) {
    throw loadError(error);
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
  if (module !== undefined) return;
  module = {
    openKubernetes,
    openSource,
    openMetrics,
    RawMemory,
    checkGrammar,
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

function loadError(error: unknown): WatchCacheError {
  const message = error instanceof Error ? error.message : String(error);
  const unusable = error instanceof WebAssembly.CompileError || error instanceof WebAssembly.LinkError;
  return unusable
    ? new WatchCacheError(
        "decode",
        `the WebAssembly cannot be used: ${message} (does its address answer with watchcache_bg.wasm, and does the page's policy allow 'wasm-unsafe-eval'?)`,
        { cause: error },
      )
    : new WatchCacheError("network", `the WebAssembly cannot be loaded: ${message}`, { cause: error, retryable: true });
}
