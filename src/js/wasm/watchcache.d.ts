// What wasm-bindgen's `--target web` output exports: the build writes it to dist/wasm/watchcache.js. Declared here so that the facade
// type-checks on a machine that has not compiled the WebAssembly yet.
import type { RawModule } from "../raw.js";

type Bytes = RequestInfo | URL | Response | BufferSource | WebAssembly.Module;

export default function load(options: { module_or_path: Bytes | Promise<Bytes> }): Promise<unknown>;
export function initSync(options: { module: BufferSource | WebAssembly.Module }): unknown;

export const openKubernetes: RawModule["openKubernetes"];
export const openSource: RawModule["openSource"];
export const RawMemory: RawModule["RawMemory"];
export const openMetrics: RawModule["openMetrics"];
export const checkGrammar: RawModule["checkGrammar"];
export const poisoned: RawModule["poisoned"];
export const onPanic: RawModule["onPanic"];
export const slept: RawModule["slept"];
export const memoryBytes: RawModule["memoryBytes"];
export const buildInfo: RawModule["buildInfo"];

/** What the module of the same build bears as its custom section `watchcache`: see scripts/lib/build-mark.mjs. */
export const build: string;
