import type { HeadersLike } from "../host/types.js";

/**
 * The types of objects by the text that names their resource. Empty here: augment it, and `cache.resource("pods")` knows what pods are.
 * `npx watchcache types` writes that for a cluster, with its custom resources.
 *
 * ```ts
 * declare module "watchcache" {
 *   interface ResourceTypes {
 *     pods: Pod;
 *     "example.com/v1/widgets": Widget;
 *   }
 * }
 * ```
 */
export interface ResourceTypes {}

/** One Kubernetes resource. `namespace` and the selectors narrow the upstream stream itself. */
export interface ResourceSpec {
  /** The API group; none for the core group. */
  group?: string | undefined;
  /** Such as `v1`. */
  version: string;
  /** The plural name, such as `pods`. */
  resource: string;
  /** One namespace alone. */
  namespace?: string | undefined;
  /**
   * These namespaces, as one resource: each has a list and a watch of its own. For whoever may not list them all, and for a few of very many.
   *
   * Objects have the versions that the server gave them. The whole has no version of any server: its versions are local, the package numbers what it is told. So take
   * them from the resource, its lists and its events, never from an object. A watch from one is `expired`, a read `invalid`. So is a `limit`. A list without a version asks each namespace.
   *
   * One that the server refuses is named in `status.namespaces`, and leaves the others their rows. `setNamespaces` adds and takes away.
   */
  namespaces?: readonly string[] | undefined;
  /** Only objects with such labels. */
  labelSelector?: string | undefined;
  /** Only objects with such fields, of those that the server offers. */
  fieldSelector?: string | undefined;
  /**
   * Only a part of each object, which the server makes: its metadata (`"PartialObjectMetadata"`), or a row of what `kubectl get` shows
   * (`"Table"`). Lists and watches then go over fetch whatever the option `transport` says, because browsers cannot ask for it over a WebSocket.
   * Objects are a `PartialObjectMetadata` or a `TableRow`. Nothing else of them is there to select, order or index by. `update` is `invalid`.
   */
  as?: "PartialObjectMetadata" | "Table" | undefined;
  /** Lists it again and again instead of watching it. */
  poll?: PollOptions | undefined;
}

/**
 * For what can be listed and not watched, such as `metrics.k8s.io`, or a resource that one may list and not watch.
 *
 * Each list is compared with the one before, by content, and the differences are events as those of a watch are. The phase is `live`, and the
 * status `stale` since the last list. A write has it list at once.
 *
 * Where the server gives lists and objects versions these are told. Otherwise, as with `metrics.k8s.io`, versions are local: the package numbers them,
 * and no server knows them. `update` is then `invalid`, because nobody could tell that somebody else was quicker.
 */
export interface PollOptions {
  /** How long after one list is there the next one is asked for, in milliseconds. A slow list delays the next one: there are never two at once. */
  everyMs: number;
}

/** A value, or a promise of it. */
export type MaybePromise<T> = T | PromiseLike<T>;

/**
 * What `auth` gives for one connection. To connect without credentials is said by `{}`, or by members that are `undefined`. Nothing at all, an
 * empty token and a name that is none of these are `invalid`: the resource fails, and `resume()` asks again.
 */
export interface Credentials {
  /** Headers of list requests, and of the watch where it streams by fetch. Browsers send no custom headers with a WebSocket. */
  headers?: HeadersLike | undefined;
  /** A bearer token: the `Authorization` header of a fetch, a `base64url.bearer.authorization.k8s.io.…` subprotocol of a WebSocket. Never part of a URL. */
  token?: string | undefined;
  /** Further WebSocket subprotocols. */
  subprotocols?: readonly string[] | undefined;
  /** Added to the query of each request. */
  query?: Readonly<Record<string, string>> | undefined;
}
