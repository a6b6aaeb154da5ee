// What the glue exports that the build writes to dist/wasm/watchcache.js: wasm-bindgen's, with `imports` and `adopt` for its ways of loading
// (scripts/lib/glue.mjs). Declared here so that the facade type-checks on a machine that has not compiled the WebAssembly yet.
import type { RawEtcdClass, RawModule } from "../wire/raw.js";

/** What the module is instantiated with. */
export function imports(): WebAssembly.Imports;
/** All that follows is of this instance, from now on. */
export function adopt(instance: WebAssembly.Instance): void;

export const openKubernetes: RawModule["openKubernetes"];
export const openShared: RawModule["openShared"];
export const openSource: RawModule["openSource"];
export const RawMemory: RawModule["RawMemory"];
export const openMetrics: RawModule["openMetrics"];
export const checkGrammar: RawModule["checkGrammar"];
export const checkView: RawModule["checkView"];
export const checkAnswer: RawModule["checkAnswer"];
export const poisoned: RawModule["poisoned"];
export const onPanic: RawModule["onPanic"];
export const slept: RawModule["slept"];
export const memoryBytes: RawModule["memoryBytes"];
export const buildInfo: RawModule["buildInfo"];

/** Reads what etcd's JSON gateway answers, for who calls such a source from JavaScript: src/web/transport/dialect.rs. */
export const RawEtcd: RawEtcdClass;

/** What the module of the same build bears as its custom section `watchcache`: see scripts/lib/build-mark.mjs. */
export const build: string;
