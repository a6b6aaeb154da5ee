// What both entries have in common, client-node.ts and node.ts: they differ in how their caches come by the WebAssembly.
export { RequestError } from "./errors.js";
export { ListWatch } from "./list-watch.js";
export type { MakeInformer } from "./make-informer.js";
export * from "./types.js";
export type { WatchCallback, WatchParameters } from "./watch.js";
