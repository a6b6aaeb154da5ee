import type { WatchCache } from "../../cache/types.js";
import { ObjectStore } from "../../react/object-store.js";
import type { Resource } from "../../resource/types.js";
import type { View, ViewSnapshot } from "../../view/types.js";
import { type HttpError, httpErrorOf, mistake, refusal } from "./errors.js";
import { complete, modelOf, noModel, referenceOf, specOf } from "./models.js";
import { selectorToString } from "./selector.js";
import type { K8sModel, WatchK8sResource } from "./types.js";

/** Data, whether it is loaded, and an error. The same one until one of them changes. */
export type Result = [data: any, loaded: boolean, error: HttpError | undefined];

/** What one spec is about, as `useSyncExternalStore` takes it. */
export interface Watched {
  readonly subscribe: (onChange: () => void) => () => void;
  readonly getSnapshot: () => Result;
  readonly getServerSnapshot: () => Result;
}

/** What a spec watches. It opens nothing before it is read or subscribed to. @param cache none is an error where there is something to watch */
export function watchedOf(cache: WatchCache<any>, spec: WatchK8sResource | null | undefined): Watched {
  if (spec === null || spec === undefined) return always([undefined, true, undefined]);
  const reference = referenceOf(spec.groupVersionKind ?? spec.kind);
  const model = modelOf(reference);
  // As in the original: nothing more is to come, so it is loaded.
  if (model === undefined) return always([spec.isList ? [] : {}, true, noModel(reference)]);
  try {
    return spec.isList ? new WatchedList(cache, model, spec) : new WatchedObject(cache, model, spec);
  } catch (thrown) {
    return always([spec.isList ? [] : null, false, httpErrorOf(thrown)]);
  }
}

function always(result: Result): Watched {
  const get = () => result;
  return { subscribe: () => () => {}, getSnapshot: get, getServerSnapshot: get };
}

/** A list, by a view of the resource that the spec narrows. */
class WatchedList implements Watched {
  readonly #resource: Resource<any>;
  readonly #view: View<any>;
  readonly #model: K8sModel;
  readonly #errors = new Errors();
  #rows: ViewSnapshot<any>["rows"] | undefined;
  #result: Result = [[], false, undefined];
  readonly #server: Result = [[], false, undefined];

  constructor(cache: WatchCache<any>, model: K8sModel, { namespace, selector, fieldSelector }: WatchK8sResource) {
    this.#model = model;
    this.#resource = cache.resource({
      ...specOf(model, namespace),
      labelSelector: selectorToString(selector),
      fieldSelector: fieldSelector || undefined,
    });
    this.#view = this.#resource.view();
  }

  readonly subscribe = (onChange: () => void): (() => void) => {
    const ends = [this.#view.subscribe(onChange), onStatus(this.#resource, onChange)];
    return () => ends.forEach((end) => end());
  };

  readonly getSnapshot = (): Result => {
    const { rows, loaded, error: refused } = this.#view.getSnapshot();
    const error = this.#errors.of(this.#resource, loaded, refused);
    // Rows that are given are the caller's to sort: they are an array of their own.
    const data = rows === this.#rows ? this.#result[0] : rows.map((row) => complete(row, this.#model));
    this.#rows = rows;
    return (this.#result = same(this.#result, [data, loaded, error]));
  };

  readonly getServerSnapshot = (): Result => this.#server;
}

/** One object, over a stream of its resource that is open, or over one of its own. */
class WatchedObject implements Watched {
  readonly #store: ObjectStore<any, any>;
  readonly #model: K8sModel;
  readonly #missing: HttpError;
  readonly #errors = new Errors();
  #result: Result = [null, false, undefined];
  readonly #server: Result = [null, false, undefined];

  constructor(cache: WatchCache<any>, model: K8sModel, { name, namespace }: WatchK8sResource) {
    const key = keyOf(model, name, namespace);
    this.#model = model;
    this.#missing = refusal("not-found", `${model.plural}${model.apiGroup ? `.${model.apiGroup}` : ""} "${name}" not found`);
    this.#store = new ObjectStore(cache.resource(specOf(model)), key);
  }

  readonly subscribe = (onChange: () => void): (() => void) => {
    const ends = [this.#store.subscribe(onChange)];
    // Whose stream it is was decided by that.
    const resource = this.#store.from;
    if (resource !== undefined) ends.push(onStatus(resource, onChange));
    return () => ends.forEach((end) => end());
  };

  readonly getSnapshot = (): Result => {
    const { object, last, loaded, error: refused } = this.#store.getSnapshot();
    const told = this.#errors.of(this.#store.from, loaded, refused);
    const isMissing = loaded && object === undefined;
    const data = last === undefined ? null : complete(last, this.#model);
    return (this.#result = same(this.#result, [data, last !== undefined, told ?? (isMissing ? this.#missing : undefined)]));
  };

  readonly getServerSnapshot = (): Result => this.#server;
}

/** `namespace/name`, or `name` of a kind without namespaces. @throws {WatchCacheError} `invalid` where one of them is missing. */
export function keyOf({ kind, namespaced }: K8sModel, name: string | undefined, namespace: string | undefined): string {
  if (!name) throw mistake(`which ${kind} it is has to be said by its name; a list is asked for by isList: true`);
  if (!namespaced) return name;
  if (!namespace) throw mistake(`the ${kind} "${name}" is in a namespace, which has to be said`);
  return `${namespace}/${name}`;
}

/** The result of before, where it says the same. */
function same(before: Result, now: Result): Result {
  return before.every((value, i) => value === now[i]) ? before : now;
}

function onStatus(resource: Resource<any, any, any>, onChange: () => void): () => void {
  resource.addEventListener("status", onChange);
  return () => resource.removeEventListener("status", onChange);
}

/** A stream that breaks is resumed at once: that alone is no error. */
const TOLD_FROM = 2;

/** What is told of what goes wrong. The original has one place for it, so it stands there until something succeeds. */
class Errors {
  #last: HttpError | undefined;

  of(resource: Resource<any, any, any> | undefined, isLoaded: boolean, refused: unknown): HttpError | undefined {
    if (refused !== undefined) return (this.#last = httpErrorOf(refused));
    const { attempt = 0, error } = resource?.status ?? {};
    if (attempt < (isLoaded ? TOLD_FROM : 1)) return (this.#last = undefined);
    return (this.#last = error === undefined ? this.#last : httpErrorOf(error));
  }
}
