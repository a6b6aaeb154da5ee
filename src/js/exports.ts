// What every entry exports. Each adds `init`, `initSync` and `createWatchCache` of its own, as functions and not as re-exports with a
// default set on the side: the package is marked free of side effects, so a bundler may leave out what merely runs.
export { WatchCacheError } from "./errors.js";
export type { SelectorMistake, WatchCacheErrorCode } from "./errors.js";
export { createInformerFactory } from "./factory.js";
export type * from "./types.js";
export { waitForSync } from "./wait.js";
