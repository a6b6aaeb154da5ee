import { isPromise } from "../error/callbacks.js";
import { WatchCacheError } from "../error/errors.js";
import type { Host } from "../host/host.js";
import type { WasmBytes, WasmSource } from "../host/types.js";
import {
  adopt as adoptInstance,
  build,
  buildInfo,
  checkGrammar,
  checkView,
  checkAnswer,
  imports,
  memoryBytes,
  onPanic as onCorePanic,
  openKubernetes,
  openMetrics,
  openShared,
  openSource,
  poisoned,
  RawMemory,
  slept,
} from "../wasm/watchcache.js";
import type { RawModule } from "../wire/raw.js";
import { checkBytes, checkSource, type Entry, forbidden, isModule, toLoadError, unusable } from "./compile.js";
import { Loader, type Loading } from "./loader.js";

export type { Entry } from "./compile.js";

/** The page's WebAssembly, as its caches see it. */
export interface Runtime {
  /** The module, once it is instantiated. */
  loaded(): RawModule | undefined;
  /** Of the entry. */
  readonly host?: Host | undefined;
  /** How far it has come. */
  readonly loading: Loading;
  /** See `Loader.want`. */
  want(onChange: () => void): () => void;
  /** The module, by one try or the next one. @throws {WatchCacheError} as `init`. */
  load(): Promise<RawModule>;
  /** A user asks to try again now. */
  tryNow(): void;
  /** Calls back when the instance has panicked; the returned function takes that back. */
  onPanic(listener: (message: string) => void): () => void;
}

// Not "module": Parcel wraps each file in a function that has a parameter of this name.
let core: RawModule | undefined;
/** While the host instantiates it in its own time. */
let adopting: Promise<unknown> | undefined;
const panicListeners = new Set<(message: string) => void>();
const loader = new Loader({ check, adopt });

/** One instance for all entries and caches of this copy of the package; what differs between entries is where it comes from. */
export function runtimeOf(entry: Entry): Runtime {
  return {
    loaded: () => core,
    host: entry.host,
    get loading() {
      return loader.state;
    },
    want: (onChange) => loader.want(onChange, entry),
    load: async () => {
      await loader.load(undefined, entry);
      return core!;
    },
    tryNow: () => loader.tryNow(entry, true),
    onPanic: (listener) => {
      panicListeners.add(listener);
      return () => panicListeners.delete(listener);
    },
  };
}

/** See `init` of the entries. */
export async function instantiate(source: WasmSource | undefined, entry: Entry): Promise<void> {
  // What a promise brings is looked at when it is there.
  if (source !== undefined && !isPromise(source)) checkSource(source);
  return loader.load(source, entry);
}

/** See `initSync` of the entries. */
export function instantiateSync(source: WasmBytes): void {
  checkBytes(source, "module");
  const refused = forbidden();
  if (refused !== undefined) throw refused;
  try {
    const compiled = isModule(source) ? source : new WebAssembly.Module(source);
    check(compiled);
    if (core !== undefined) return;
    if (adopting !== undefined)
      throw new WatchCacheError("invalid", "init() is instantiating the WebAssembly already: wait for it instead");
    adoptInstance(new WebAssembly.Instance(compiled, imports()));
  } catch (error) {
    if (error instanceof RangeError) {
      throw new WatchCacheError("invalid", `this host does not load the WebAssembly at once: await init() instead (${error.message})`);
    }
    const failure = toLoadError(error);
    if (core === undefined) throw failure;
    throw new WatchCacheError("invalid", `there is a WebAssembly already, and this is another: ${failure.message}`, { cause: error });
  }
  adopted();
  loader.arrived();
}

function check(compiled: WebAssembly.Module): void {
  const [section] = WebAssembly.Module.customSections(compiled, "watchcache");
  if (section === undefined) throw unusable("it is not the one of this package");
  if (new TextDecoder().decode(section) !== build) throw unusable("it is of another build of the package than this script");
}

/** A second instance would take the place of the first, whose objects would then read the memory of another. */
async function adopt(compiled: WebAssembly.Module): Promise<void> {
  if (core !== undefined) return;
  try {
    if (adopting === undefined) adoptInstance(new WebAssembly.Instance(compiled, imports()));
  } catch (error) {
    // On their main thread some browsers instantiate large modules only in their own time. By `initSync` they then refuse them as well, so
    // that nothing comes in between.
    if (!(error instanceof RangeError)) throw error;
    adopting = WebAssembly.instantiate(compiled, imports()).then(adoptInstance);
  }
  try {
    await adopting;
  } finally {
    adopting = undefined;
  }
  adopted();
}

function adopted(): void {
  if (core !== undefined) return;
  core = {
    openKubernetes,
    openShared,
    openSource,
    openMetrics,
    RawMemory,
    checkGrammar,
    checkView,
    checkAnswer,
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
