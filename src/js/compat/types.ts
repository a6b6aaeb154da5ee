import type { KubeObject } from "../types.js";

/** What is asked of a cached object. The generated types of `@kubernetes/client-node`, such as `V1Pod`, are of this kind. */
export type KubernetesObject = KubeObject;

/** The answer to a list request. */
export interface KubernetesListObject<T> {
  apiVersion?: string;
  kind?: string;
  metadata?: { resourceVersion?: string; remainingItemCount?: number };
  items: T[];
}

export type ListPromise<T extends KubernetesObject> = () => Promise<KubernetesListObject<T>>;
export type ObjectCallback<T extends KubernetesObject> = (obj: T) => void;
/** Gets a `RequestError` for `error`, and nothing for `connect`. */
export type ErrorCallback = (err?: any) => void;

export const ADD = "add";
export type ADD = typeof ADD;
export const UPDATE = "update";
export type UPDATE = typeof UPDATE;
export const CHANGE = "change";
export type CHANGE = typeof CHANGE;
export const DELETE = "delete";
export type DELETE = typeof DELETE;
export const CONNECT = "connect";
export type CONNECT = typeof CONNECT;
export const ERROR = "error";
export type ERROR = typeof ERROR;

/** What is held. */
export interface ObjectCache<T> {
  get(name: string, namespace?: string): T | undefined;
  list(namespace?: string): readonly T[];
}

/** Callbacks by verb. */
export interface Informer<T extends KubernetesObject> {
  /** `change` stands for `add`, `update` and `delete`. */
  on(verb: ADD | UPDATE | DELETE | CHANGE, cb: ObjectCallback<T>): void;
  on(verb: ERROR | CONNECT, cb: ErrorCallback): void;
  /** Takes a callback away, once for each call. */
  off(verb: ADD | UPDATE | DELETE | CHANGE, cb: ObjectCallback<T>): void;
  off(verb: ERROR | CONNECT, cb: ErrorCallback): void;
  /** Resolves when the first list has been told, or with the first error. Never rejects. Does nothing while it runs. */
  start(): Promise<void>;
  /** Nothing is called afterwards. */
  stop(): Promise<void>;
}
