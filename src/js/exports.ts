// What every entry exports. Each adds `init`, `initSync` and `createWatchCache` of its own. They are functions, and no re-exports with a
// default that is set on the side. The package is marked free of side effects, so a bundler may leave out what merely runs.
export { WatchCacheError } from "./error/errors.js";
export type { SelectorMistake, WatchCacheErrorCode } from "./error/errors.js";
export { createInformerFactory } from "./cache/informer-factory.js";
export { forgetPersisted } from "./persist/forget.js";
export type * from "./types.js";
export { waitForSync } from "./informer/wait-for-sync.js";
