// Collections of TanStack DB over resources: live queries and joins in React, Vue, Svelte, Solid and Angular.
export { type ObjectCollectionOptions, watchCacheCollectionOptions, type WatchCacheUtils } from "./options.js";
