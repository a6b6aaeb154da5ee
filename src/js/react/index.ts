"use client";

// The hooks. React is the application's: nothing else of the package imports it.
export { type CacheOptions, useResource, useWatchCache, WatchCacheProvider } from "./provider.js";
export type { LiveObject, LiveView, MaybeResource } from "./types.js";
export { type AccessState, useCan } from "./use-can.js";
export { type DiscoveryState, useDiscovery } from "./use-discovery.js";
export { type InformerState, useInformer, type UseInformerOptions } from "./use-informer.js";
export { useObject } from "./use-object.js";
export { useStatus } from "./use-status.js";
export { useSuspenseView } from "./use-suspense-view.js";
export { useView } from "./use-view.js";
export { useWatch, type WatchState } from "./use-watch.js";
