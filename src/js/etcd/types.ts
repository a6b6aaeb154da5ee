import type { HostFetch, UrlLike, WebSocketClass } from "../host/types.js";
import type { TypedSource } from "../upstream/source.js";

/** A key of etcd as an object of the cache. A value that is an object with `metadata` is that object instead, under these names. */
export interface EtcdObject<V = any> {
  /** What the key and its revisions say. */
  metadata: {
    /** The key behind the prefix, or what of it stands behind its first slash. */
    name: string;
    /** The first part of such a key, if it has a slash. */
    namespace?: string;
    /** The revision that changed it last. With `transactions`, nine more digits. */
    resourceVersion?: string;
    /** The revision that created it. */
    uid?: string;
  };
  /** The value, where it is JSON. */
  value?: V;
  /** The bytes of any other value, in base64. */
  valueBase64?: string;
}

/** Which etcd, and what of it. */
export interface EtcdSourceOptions {
  /** Where members of the cluster listen for clients, such as `http://127.0.0.1:2379`. If one fails, the next is asked. */
  endpoints: string | UrlLike | readonly (string | UrlLike)[];
  /** What the keys begin with, such as `/app/config/`. It is no part of the names. Empty: all keys. */
  prefix: string;
  /** Where etcd wants to know who asks. */
  username?: string | undefined;
  /** Of this user. It is sent to `/v3/auth/authenticate`, for the token that all else carries. */
  password?: string | undefined;
  /**
   * Whether one revision often changes several keys below the prefix. Each change then has a version of its own: the revision and nine digits
   * more. Without it a version is a revision, and one that changes several keys is read by a new list. Default false.
   */
  transactions?: boolean | undefined;
  /** How long a watch may say nothing before etcd is asked whether it is still there, in milliseconds. Default 5,000. */
  heartbeatMs?: number | undefined;
  /** How long an answer may take, in milliseconds. Default 10,000. */
  timeoutMs?: number | undefined;
  /** Another `fetch`. */
  fetch?: HostFetch | undefined;
  /** Another `WebSocket`, where the host has none: `ws` in Node 20. */
  WebSocket?: WebSocketClass | undefined;
}

/** Keys of etcd, to be given to `cache.resource({ source, id })`. */
export type EtcdSource<T = EtcdObject> = TypedSource<T> & Required<Pick<TypedSource<T>, "get" | "create" | "update" | "delete">>;
