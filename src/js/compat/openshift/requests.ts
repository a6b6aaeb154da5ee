import type { WatchCache } from "../../cache/types.js";
import { isOpen } from "../../react/object-store.js";
import type { DeleteOptions, JsonPatchOperation, WriteOptions } from "../../request/types.js";
import type { Resource } from "../../resource/types.js";
import type { AbortSignalLike } from "../../host/types.js";
import type { Status } from "../../object/metadata.js";
import { answered, mistake, refusal } from "./errors.js";
import { apiVersionOf, checked, complete, registeredCache, specOf } from "./models.js";
import { type Selector, selectorToString } from "./selector.js";
import type { K8sModel, K8sOptions, K8sResourceCommon, Patch } from "./types.js";
import { keyOf } from "./watched.js";

/** The answer to a list request. */
export interface K8sList<R> {
  /** Such as `PodList`. */
  kind: string;
  /** Such as `v1`. */
  apiVersion: string;
  /** Of the list: its version, and what asks for the next page. */
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  /** The objects. */
  items: R[];
}

/** What a list request may say. */
export interface K8sListParams {
  /** One namespace alone. */
  ns?: string | undefined;
  /** Only objects with such labels, as an object or as text. */
  labelSelector?: Selector | { [label: string]: string } | string | undefined;
  /** Only objects with such fields. */
  fieldSelector?: string | undefined;
  /** Objects a page. */
  limit?: number | string | undefined;
  /** What the page before gave. */
  continue?: string | undefined;
  /** Not older than this version. */
  resourceVersion?: string | undefined;
  /** What that version means. */
  resourceVersionMatch?: "Exact" | "NotOlderThan" | undefined;
}

/** What names an object, where it does not say that itself. */
interface Named extends K8sOptions {
  name?: string | undefined;
  ns?: string | undefined;
  queryParams?: { [name: string]: string } | undefined;
}

/**
 * One object, as the server has it now, or with a `path` a part of it. Without a name a list of all, as an answer.
 *
 * @throws {HttpError} `not-found`, `forbidden` and what else the server says; `invalid` for options that mean nothing here.
 */
export function k8sGet<R extends K8sResourceCommon>(options: Named): Promise<R> {
  return answered(async () => {
    const { model, cache, signal, subresource } = read(options, "k8sGet");
    const { name, ns } = options;
    if (!name) return list(cache, model, { ns }, signal) as never;
    const [resource, key] = [among(cache, model, ns, name), keyOf(model, name, ns)];
    if (subresource !== undefined) return (await resource.get(key, { signal, subresource })) as any;
    return complete(await resource.get(key, { signal }), model);
  });
}

/**
 * The objects of a kind, in the order of their keys. Without a `limit` it is all of them.
 *
 * @param options with `raw: true` the whole answer is given
 * @throws {HttpError} as `k8sGet`.
 */
export function k8sList<R extends K8sResourceCommon>(
  options: K8sOptions & { queryParams?: K8sListParams | undefined; raw?: boolean | undefined },
): Promise<R[] | K8sList<R>> {
  return answered(async () => {
    const { model, cache, signal } = read({ ...options, queryParams: undefined }, "k8sList", NO_PATH);
    const answer = await list<R>(cache, model, options.queryParams ?? {}, signal);
    return options.raw ? answer : answer.items;
  });
}

/** As `k8sList`, and always the objects. */
export async function k8sListItems<R extends K8sResourceCommon>(
  options: K8sOptions & { queryParams?: K8sListParams | undefined },
): Promise<R[]> {
  return (await k8sList<R>({ ...options, raw: false })) as R[];
}

/**
 * Adds an object, and gives it as the server keeps it. Hooks show it by then.
 *
 * @throws {HttpError} `conflict` for a name that is taken, and what else the server says.
 */
export function k8sCreate<R extends K8sResourceCommon>(options: Named & { data: R }): Promise<R> {
  return answered(async () => {
    const { model, cache, write } = readWrite(options, "k8sCreate");
    const data = options.data as K8sResourceCommon;
    const ns = options.ns || data.metadata?.namespace || undefined;
    if (model.namespaced && !ns) throw mistake(`a ${model.kind} is in a namespace: give data.metadata.namespace, or ns`);
    const object = model.namespaced ? { ...data, metadata: { ...data.metadata, namespace: ns } } : data;
    return whole(await among(cache, model, ns, data.metadata?.name ?? undefined).create(object, write), model, write);
  });
}

/**
 * Replaces an object. With a `metadata.resourceVersion` it replaces that version alone.
 *
 * @throws {HttpError} `conflict` where the object has another version meanwhile, `not-found`, and what else the server says.
 */
export function k8sUpdate<R extends K8sResourceCommon>(options: Named & { data: R }): Promise<R> {
  return answered(async () => {
    const { model, cache, write } = readWrite(options, "k8sUpdate");
    const { metadata } = options.data as K8sResourceCommon;
    const [name, ns] = [options.name || metadata?.name || undefined, options.ns || metadata?.namespace || undefined];
    const key = keyOf(model, name, ns);
    const replace = (current: any) => {
      const version = metadata?.resourceVersion;
      if (version && version !== current.metadata.resourceVersion) {
        const message = `${model.plural} "${name}" has changed: version ${version} is not the latest one. Read it again, and decide anew`;
        throw refusal("conflict", message);
      }
      return options.data;
    };
    return whole(await among(cache, model, ns, name).update(key, replace, write), model, write);
  });
}

/**
 * Changes an object by a JSON patch, or with a `path` a part of it.
 *
 * @param options `data` are operations; what is falsy among them is left out, and without any the object is given as it is
 * @throws {HttpError} `invalid` for a patch that does not fit and a `test` that fails, `not-found`, and what else the server says.
 */
export function k8sPatch<R extends K8sResourceCommon>(
  options: Named & { resource: R; data: readonly (Patch | null | undefined | false)[] },
): Promise<R> {
  return answered(async () => {
    const { model, cache, write } = readWrite(options, "k8sPatch");
    const patch = options.data.filter((operation): operation is Patch => Boolean(operation));
    if (patch.length === 0) return options.resource;
    const [name, ns] = named(options);
    return whole(
      await among(cache, model, ns, name).patch(keyOf(model, name, ns), patch as JsonPatchOperation[], { ...write, type: "json" }),
      model,
      write,
    );
  });
}

/**
 * Deletes an object.
 *
 * @param options `json` are DeleteOptions; without them the model's `propagationPolicy` counts
 * @returns a Status of success; hooks show by then that it is gone, or on its way
 * @throws {HttpError} `not-found`, `conflict` where a precondition does not hold, and what else the server says.
 */
export function k8sDelete<R extends K8sResourceCommon>(
  options: Named & { resource: R; json?: (DeleteOptions & { [name: string]: unknown }) | null | undefined },
): Promise<Status> {
  return answered(async () => {
    const { model, cache, write } = readWrite(options, "k8sDelete", NO_PATH);
    const [name, ns] = named(options);
    const {
      kind: _,
      apiVersion: __,
      dryRun,
      signal: given,
      ...json
    }: { [name: string]: unknown } = options.json ?? (model.propagationPolicy ? { propagationPolicy: model.propagationPolicy } : {});
    const signal = write.signal ?? (given as AbortSignalLike | undefined);
    const isDry = write.dryRun || isDryRun(dryRun);
    await among(cache, model, ns, name).delete(keyOf(model, name, ns), { ...(json as DeleteOptions), dryRun: isDry || undefined, signal });
    return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details: { name: name!, kind: model.plural } };
  });
}

/** As DeleteOptions of a server have it, or as ours do. What means neither would delete. */
function isDryRun(given: unknown): boolean {
  if (given === undefined || given === null || given === false) return false;
  if (given === true) return true;
  if (Array.isArray(given) && given.every((stage) => stage === "All")) return given.length > 0;
  throw mistake(`json.dryRun is true or ["All"], not ${JSON.stringify(given)}`);
}

function named({ name, ns, resource }: Named & { resource: K8sResourceCommon }): [name: string | undefined, namespace: string | undefined] {
  return [name || resource.metadata?.name || undefined, ns || resource.metadata?.namespace || undefined];
}

/** For calls that know no parts of objects. */
const NO_PATH = { path: false };
const INSTEAD = "send this request by fetch";

/** What all calls read. What would be dropped in silence is refused. */
function read(
  options: Named,
  call: string,
  has = { path: true },
): { model: K8sModel; cache: WatchCache<any>; signal: AbortSignalLike | undefined; subresource: string | undefined } {
  const { model, cache = registeredCache(), path, queryParams, requestInit } = options;
  checked(model, "model");
  if (cache === undefined) throw mistake("there is no cache: call registerK8s({ cache }) where the app starts, or give { cache }");
  if (path && (!has.path || path.includes("/"))) {
    throw mistake(`${call} knows no such part of an object, and path is "${path}": ${INSTEAD}`);
  }
  const params = Object.keys(queryParams ?? {});
  if (params.length > 0) throw mistake(`${call} takes no ${params.join(", ")} in queryParams: ${INSTEAD}`);
  const { signal, ...rest } = requestInit ?? {};
  const inits = Object.keys(rest);
  if (inits.length > 0) throw mistake(`${call} heeds the signal of requestInit alone, and it has ${inits.join(", ")}: ${INSTEAD}`);
  return { model, cache, signal: signal ?? undefined, subresource: path || undefined };
}

type Writing = WriteOptions & { subresource?: any };

/** The same of a write, whose query says more. */
function readWrite(options: Named, call: string, has?: { path: boolean }): { model: K8sModel; cache: WatchCache<any>; write: Writing } {
  const { dryRun, fieldManager, fieldValidation, ...queryParams } = options.queryParams ?? {};
  const { model, cache, signal, subresource } = read({ ...options, queryParams }, call, has);
  if (dryRun !== undefined && dryRun !== "All") throw mistake(`dryRun in queryParams is "All", not "${dryRun}"`);
  const given = { signal, subresource, dryRun: dryRun === undefined ? undefined : true, fieldManager, fieldValidation };
  return { model, cache, write: given as Writing };
}

/** An answer with its kind, but where it is of another one: a part of the object, or what would have been written. */
function whole(answer: any, model: K8sModel, { subresource }: Writing): any {
  return subresource === undefined || subresource === "status" ? complete(answer, model) : answer;
}

/**
 * Whose stream tells of an object: one that is open anyway, of all namespaces or of this one, or else one of this object alone. Nothing opens a
 * list of everything for one object. Only of one that gets its name from the server nothing narrower is known than its namespace.
 */
function among(cache: WatchCache<any>, model: K8sModel, ns: string | undefined, name: string | undefined): Resource<any> {
  const all = cache.resource(specOf(model));
  if (isOpen(all)) return all;
  const own = cache.resource(specOf(model, ns));
  if (isOpen(own) || name === undefined) return own;
  return cache.resource({ ...specOf(model, ns), fieldSelector: `metadata.name=${name.replace(/[\\,=]/g, "\\$&")}` });
}

/** Which `queryParams` are known, and what is made of them. */
async function list<R>(
  cache: WatchCache<any>,
  model: K8sModel,
  params: K8sListParams,
  signal: AbortSignalLike | undefined,
): Promise<K8sList<R>> {
  const {
    ns,
    labelSelector: labels,
    fieldSelector: fields,
    limit,
    continue: next,
    resourceVersion,
    resourceVersionMatch,
    ...rest
  } = params;
  const unknown = Object.keys(rest);
  if (unknown.length > 0) throw mistake(`k8sList takes no ${unknown.join(", ")} in queryParams: send this request by fetch`);
  const labelSelector = (typeof labels === "string" ? labels : selectorToString(labels)) || undefined;
  const selectors = { labelSelector, fieldSelector: fields || undefined };
  const paged = { limit: limit ? Number(limit) : undefined, continue: next, resourceVersion, resourceVersionMatch, signal };
  const all = cache.resource(specOf(model));
  // All pages are asked of one resource, whichever else is opened between them.
  const isWhole = paged.limit === undefined && next === undefined;
  const answer =
    isWhole && isOpen(all)
      ? await all.list({ ...selectors, ...paged, namespace: model.namespaced ? ns || undefined : undefined })
      : await cache.resource({ ...specOf(model, ns), ...selectors }).list(paged);
  const { resourceVersion: version, continue: more, remainingItemCount, items } = answer;
  return {
    kind: `${model.kind}List`,
    apiVersion: apiVersionOf(model),
    metadata: { resourceVersion: version, ...(more && { continue: more }), ...(remainingItemCount && { remainingItemCount }) },
    items: [...items].map((item) => complete(item, model)),
  };
}
