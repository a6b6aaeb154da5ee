import type { ObjectLike } from "../types.js";

/** What is asked of a cached object. The generated types of `@kubernetes/client-node`, such as `V1Pod`, are of this kind. */
export type KubernetesObject = ObjectLike;

/** The answer to a list request. */
export interface KubernetesListObject<T> {
  /** Such as `v1`. */
  apiVersion?: string | undefined;
  /** Such as `PodList`. */
  kind?: string | undefined;
  /** Of the list. */
  metadata?: { resourceVersion?: string | undefined; remainingItemCount?: number | undefined } | undefined;
  /** The objects. */
  items: T[];
}

/** Lists objects. Never called here: the cache lists by itself. */
export type ListPromise<T extends KubernetesObject> = () => Promise<KubernetesListObject<T>>;
/** Gets the object after a change; for `delete` its last state. */
export type ObjectCallback<T extends KubernetesObject> = (obj: T) => void;
/** Gets a `RequestError` for `error`, and nothing for `connect`. */
export type ErrorCallback = (err?: any) => void;

/** The verb of objects that are there. */
export const ADD = "add";
export type ADD = typeof ADD;
/** The verb of objects that changed. */
export const UPDATE = "update";
export type UPDATE = typeof UPDATE;
/** All three verbs of objects at once. */
export const CHANGE = "change";
export type CHANGE = typeof CHANGE;
/** The verb of objects that are gone. */
export const DELETE = "delete";
export type DELETE = typeof DELETE;
/** The verb of a watch that stands. */
export const CONNECT = "connect";
export type CONNECT = typeof CONNECT;
/** The verb of what failed and is tried again. */
export const ERROR = "error";
export type ERROR = typeof ERROR;

/** What is held. Its objects are shared by all readers: copy what you change. */
export interface ObjectCache<T> {
  /** The object of this name. */
  get(name: string, namespace?: string): T | undefined;
  /** All objects, or those of a namespace, in the order of their keys. A new array each time. */
  list(namespace?: string): T[];
}

/** Callbacks by verb. */
export interface Informer<T extends KubernetesObject> {
  /** Adds a callback. `change` stands for `add`, `update` and `delete`. */
  on(verb: ADD | UPDATE | DELETE | CHANGE, cb: ObjectCallback<T>): void;
  /** Adds a callback for what is about no object. */
  on(verb: ERROR | CONNECT, cb: ErrorCallback): void;
  /** Takes a callback away, once for each call. */
  off(verb: ADD | UPDATE | DELETE | CHANGE, cb: ObjectCallback<T>): void;
  /** Takes a callback away, once for each call. */
  off(verb: ERROR | CONNECT, cb: ErrorCallback): void;
  /** Resolves when the first list has been told, or with the first error. Never rejects. Does nothing while it runs. */
  start(): Promise<void>;
  /** Nothing is called afterwards. */
  stop(): Promise<void>;
}
