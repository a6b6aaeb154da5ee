import { useDebugValue, useMemo, useSyncExternalStore } from "react";
import type { WatchCache } from "../../cache/types.js";
import { object } from "../../options/kinds.js";
import { contentOf } from "../../react/content.js";
import { useNearestCache } from "../../react/provider.js";
import { mistake } from "./errors.js";
import { modelOf, onRegistration, referenceOf, registeredCache, registeredModels } from "./models.js";
import type {
  K8sGroupVersionKind,
  K8sModel,
  K8sResourceCommon,
  K8sResourceKindReference,
  ResourcesObject,
  WatchK8sResource,
  WatchK8sResources,
  WatchK8sResult,
  WatchK8sResults,
} from "./types.js";
import { type Result, type Watched, watchedOf } from "./watched.js";

/**
 * A list or an object, live, as `[data, loaded, error]`.
 *
 * @param initResource may be written in place: it is compared by content. With `null` nothing is watched, and the result is `[undefined, true, undefined]`.
 * @throws {WatchCacheError} `invalid` where there is no cache: neither a `WatchCacheProvider` above, nor one that was registered.
 */
export function useK8sWatchResource<R extends K8sResourceCommon | K8sResourceCommon[]>(
  initResource: WatchK8sResource | null | undefined,
): WatchK8sResult<R> {
  const cache = useCache(initResource !== null && initResource !== undefined);
  const model = useModel(initResource?.groupVersionKind ?? initResource?.kind);
  const watched = useMemo(() => watchedOf(cache!, initResource), [cache, model, contentOf(initResource)]);
  const result = useSyncExternalStore(watched.subscribe, watched.getSnapshot, watched.getServerSnapshot);
  useDebugValue(
    result,
    ([data, loaded, error]) => error?.code ?? (loaded ? (Array.isArray(data) ? `${data.length} objects` : "there") : "loading"),
  );
  return result as WatchK8sResult<R>;
}

/**
 * Several lists and objects, live, by their names. There may be others in each render, and more or fewer of them.
 *
 * @param initResources may be written in place: they are compared by content
 * @throws {WatchCacheError} `invalid` as `useK8sWatchResource`, and for what is no object.
 */
export function useK8sWatchResources<R extends ResourcesObject>(initResources: WatchK8sResources<R>): WatchK8sResults<R> {
  object(initResources, "what useK8sWatchResources takes");
  const names = Object.keys(initResources);
  const cache = useCache(names.some((name) => initResources[name] !== null && initResources[name] !== undefined));
  useRegistration();
  const models = names.map((name) => modelOf(referenceOf(initResources[name]?.groupVersionKind ?? initResources[name]?.kind)));
  const all = useMemo(() => new Several(cache!, initResources), [cache, contentOf(models), names.join(), contentOf(initResources)]);
  const results = useSyncExternalStore(all.subscribe, all.getSnapshot, all.getServerSnapshot);
  useDebugValue(results, (results) => Object.keys(results).join());
  return results as WatchK8sResults<R>;
}

/**
 * The model that a kind has, and whether models are on their way: never, since nothing asks a server for them.
 *
 * @param k8sGroupVersionKind a kind, or its reference
 */
export function useK8sModel(k8sGroupVersionKind?: K8sGroupVersionKind | K8sResourceKindReference): [K8sModel | undefined, boolean] {
  const model = useModel(k8sGroupVersionKind);
  return [model, false];
}

/** All models by their references, and whether more are on their way: never. */
export function useK8sModels(): [{ [reference: string]: K8sModel }, boolean] {
  const models = useRegistration();
  return [useMemo(() => Object.fromEntries(models), [models]), false];
}

/** Results of several watches as one: the same object until one of them is another, and the same member for each that is not. */
class Several {
  readonly #all: readonly (readonly [name: string, watched: Watched])[];
  #results: readonly Result[] = [];
  #told: WatchK8sResults<any> = {};
  #server: WatchK8sResults<any> | undefined;

  constructor(cache: WatchCache<any>, specs: WatchK8sResources<any>) {
    this.#all = Object.entries(specs).map(([name, spec]) => [name, watchedOf(cache, spec)] as const);
  }

  readonly subscribe = (onChange: () => void): (() => void) => {
    const ends = this.#all.map(([, watched]) => watched.subscribe(onChange));
    return () => ends.forEach((end) => end());
  };

  readonly getSnapshot = (): WatchK8sResults<any> => {
    const results = this.#all.map(([, watched]) => watched.getSnapshot());
    if (results.some((result, i) => result !== this.#results[i])) {
      const named = this.#all.map(([name], i) => [name, results[i] === this.#results[i] ? this.#told[name] : withNames(results[i]!)]);
      this.#told = Object.fromEntries(named);
      this.#results = results;
    }
    return this.#told;
  };

  readonly getServerSnapshot = (): WatchK8sResults<any> =>
    (this.#server ??= Object.fromEntries(this.#all.map(([name, watched]) => [name, withNames(watched.getServerSnapshot())])));
}

const withNames = ([data, loaded, loadError]: Result) => ({ data, loaded, loadError });

/** The nearest provider's cache, or the one that was registered. */
function useCache(isNeeded: boolean): WatchCache<any> | undefined {
  const nearest = useNearestCache();
  const registered = useSyncExternalStore(onRegistration, registeredCache, registeredCache);
  const cache = nearest ?? registered;
  if (cache === undefined && isNeeded) {
    throw mistake(
      "there is no cache here: call registerK8s({ cache, models }) where the app starts, or put a WatchCacheProvider above this component",
    );
  }
  return cache;
}

const useRegistration = (): ReadonlyMap<string, K8sModel> => useSyncExternalStore(onRegistration, registeredModels, registeredModels);

function useModel(kind: K8sGroupVersionKind | K8sResourceKindReference | undefined): K8sModel | undefined {
  useRegistration();
  return modelOf(referenceOf(kind));
}
