import type { WatchCache } from "../../cache/types.js";
import { object, text } from "../../options/kinds.js";
import type { ResourceSpec } from "../../upstream/types.js";
import { mistake, refusal } from "./errors.js";
import type { K8sGroupVersionKind, K8sModel, K8sResourceKindReference } from "./types.js";

/** The models by reference. Another map after each registration, so that hooks see it. */
let models: ReadonlyMap<string, K8sModel> = new Map();
let cache: WatchCache<any> | undefined;
const listeners = new Set<() => void>();

/** What stands in for the store of a console. */
export interface K8sRegistration {
  /** The cache of the hooks that have no `WatchCacheProvider` above them, and of the calls that are given none. */
  cache?: WatchCache<any> | undefined;
  /** The kinds that hooks may name. Those of before stay; one of the same group, version and kind is replaced. */
  models?: readonly K8sModel[] | undefined;
}

/**
 * Says which cache and which models hooks and calls use: once, where an app starts, and again when it learns of more kinds. Hooks that wait for a kind go on.
 *
 * @throws {WatchCacheError} `invalid` for what is no cache or no model.
 */
export function registerK8s(registration: K8sRegistration): void {
  object(registration, "what is registered");
  if (registration.cache !== undefined) {
    if (typeof registration.cache?.resource !== "function") throw mistake("registerK8s takes the cache that createWatchCache gives");
    cache = registration.cache;
  }
  const next = new Map(models);
  for (const [i, model] of (registration.models ?? []).entries()) next.set(referenceOfModel(checked(model, `models[${i}]`)), model);
  models = next;
  for (const listener of [...listeners]) listener();
}

/** The cache that was registered. */
export const registeredCache = (): WatchCache<any> | undefined => cache;

/** The models that were registered, by reference. */
export const registeredModels = (): ReadonlyMap<string, K8sModel> => models;

/** Calls back after each registration. */
export function onRegistration(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** @throws {WatchCacheError} `invalid`, by name. */
export function checked(model: K8sModel, name: string): K8sModel {
  object(model, name);
  for (const member of ["kind", "plural", "apiVersion"] as const) text(model[member], `${name}.${member}`);
  if (model.apiVersion.includes("/")) throw mistake(`${name}.apiVersion is the version alone, such as v1: the group is apiGroup`);
  return model;
}

/** The reference that a kind has, however it is named; undefined where it is not. */
export function referenceOf(kind: K8sGroupVersionKind | K8sResourceKindReference | undefined): string | undefined {
  return typeof kind === "object" && kind !== null ? `${kind.group || "core"}~${kind.version}~${kind.kind}` : kind;
}

const referenceOfModel = ({ apiGroup, apiVersion, kind }: K8sModel): string => `${apiGroup || "core"}~${apiVersion}~${kind}`;

/** The model of a reference; of a kind alone the one that was registered first. */
export function modelOf(reference: string | undefined): K8sModel | undefined {
  if (reference === undefined) return undefined;
  const exact = models.get(reference);
  if (exact !== undefined || reference.includes("~")) return exact;
  for (const model of models.values()) if (model.kind === reference) return model;
  return undefined;
}

/** Why there is no model, and what helps. */
export function noModel(reference: string | undefined): ReturnType<typeof refusal> {
  return refusal(
    "not-found",
    reference === undefined
      ? "what is watched names no kind: give groupVersionKind"
      : `there is no model of ${reference}: registerK8s({ models: [...] }) takes it, with its kind, plural, apiVersion, apiGroup and namespaced`,
  );
}

/** The resource of a model, in a namespace or in all of them. */
export function specOf({ apiGroup, apiVersion, plural, namespaced }: K8sModel, namespace?: string): ResourceSpec {
  return {
    ...(apiGroup && apiGroup !== "core" ? { group: apiGroup } : {}),
    version: apiVersion,
    resource: plural,
    ...(namespaced && namespace ? { namespace } : {}),
  };
}

/** Objects of lists lack what says their kind. */
const completed = new WeakMap<object, object>();

/** The object with its kind and its version of the API, as the original has it: the same one for the same object. */
export function complete<T>(object: T, model: K8sModel): any {
  const { kind, apiVersion } = object as { kind?: unknown; apiVersion?: unknown };
  if (kind !== undefined && apiVersion !== undefined) return object;
  let known = completed.get(object as object);
  if (known === undefined) {
    known = { apiVersion: apiVersionOf(model), kind: model.kind, ...object };
    completed.set(object as object, known);
  }
  return known;
}

/** As objects have it, with the group. */
export const apiVersionOf = ({ apiGroup, apiVersion }: K8sModel): string =>
  apiGroup && apiGroup !== "core" ? `${apiGroup}/${apiVersion}` : apiVersion;
