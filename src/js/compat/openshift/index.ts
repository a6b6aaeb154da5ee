"use client";

/**
 * `watchcache/compat/openshift`: the hooks and the calls of `@openshift-console/dynamic-plugin-sdk` that watch, read and write objects, over the streams of a
 * `WatchCache`. The signatures are those of its version 4.22. What they do otherwise, on purpose, is listed in docs/moving-over/openshift.md.
 *
 * Where a console's store and its discovery stood stands `registerK8s({ cache, models })`.
 *
 * @module
 */
export { HttpError } from "./errors.js";
export { type K8sRegistration, registerK8s } from "./models.js";
export { k8sCreate, k8sDelete, k8sGet, type K8sList, k8sList, k8sListItems, type K8sListParams, k8sPatch, k8sUpdate } from "./requests.js";
export type { MatchExpression, Selector } from "./selector.js";
export type * from "./types.js";
export { useK8sModel, useK8sModels, useK8sWatchResource, useK8sWatchResources } from "./use-watch-resource.js";
