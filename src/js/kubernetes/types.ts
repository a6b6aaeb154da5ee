import type { WatchCacheError } from "../error/errors.js";
import type { AbortSignalLike } from "../host/types.js";
import type { ResourceSpec } from "../upstream/types.js";

/** A resource by its kind, which discovery turns into its group, version and plural name. */
export interface KindSpec extends Pick<ResourceSpec, "namespace" | "namespaces" | "labelSelector" | "fieldSelector" | "as" | "poll"> {
  /** Such as `Deployment`, written as the server writes it. */
  kind: string;
  /** The API group, `""` for the core group. Without it the kind stands in one group alone, or in the core group. */
  group?: string | undefined;
  /** Such as `v1`. Default: the version that the server prefers. */
  version?: string | undefined;
  /** Group and version as objects have them, such as `apps/v1`: in place of `group` and `version`. */
  apiVersion?: string | undefined;
}

/** Options of `discover`. */
export interface DiscoverOptions {
  /** Asks the server anew, also where an answer is on its way: that may be older. Default: what is known is given. */
  refresh?: boolean | undefined;
  /** Ends the wait. Others may wait for the same answers. */
  signal?: AbortSignalLike | undefined;
}

/** What a server has, as it told of it. Frozen. */
export interface Discovery {
  /** Every resource in every version, in the server's order of groups: first those of the core group, whose name is empty. */
  readonly resources: readonly ApiResource[];
  /** Groups and versions that could not be told, such as those of an aggregated server that is away. `discover({ refresh: true })` tries again. */
  readonly failed: readonly DiscoveryFailure[];
  /**
   * The resource that a name means, by kubectl's rules: a plural, then a short name, then a singular, in either case. `deployments.apps` and
   * `deployments.v1.apps` say the group, too. `pods`, `v1/pods` and `apps/v1/deployments` mean what they mean to `cache.resource`.
   *
   * @throws {WatchCacheError} `not-found`; `unavailable` or `forbidden` where the group could not be told; `invalid` for what is no name.
   *   A name that several groups have is `invalid`, too, with the names of all.
   */
  find(name: string | Pick<KindSpec, "kind" | "group" | "version" | "apiVersion">): ApiResource;
}

/** One resource in one version. */
export interface ApiResource {
  /** What `cache.resource` takes for it, such as `v1/pods` or `apps/v1/deployments`. */
  readonly name: string;
  /** Empty for the core group. */
  readonly group: string;
  /** Such as `v1`. */
  readonly version: string;
  /** The plural name, such as `deployments`. */
  readonly resource: string;
  /** Such as `deployment`; empty where the server has none. */
  readonly singular: string;
  /** Such as `Deployment`. */
  readonly kind: string;
  /** Whether its objects lie in namespaces. */
  readonly namespaced: boolean;
  /** What can be done with it, such as `list` and `watch`. */
  readonly verbs: readonly string[];
  /** Such as `deploy`. */
  readonly shortNames: readonly string[];
  /** Such as `all`. */
  readonly categories: readonly string[];
  /** What its objects have beside themselves, such as `status` and `scale`. */
  readonly subresources: readonly ApiSubresource[];
  /** Whether the server prefers this version to the others of its group that have the resource. */
  readonly preferred: boolean;
}

/** A part of the objects of a resource. */
export interface ApiSubresource {
  /** Such as `scale`. */
  readonly name: string;
  /** Of its own documents, such as `Scale`. */
  readonly kind: string;
  /** What can be done with it. */
  readonly verbs: readonly string[];
}

/** What a server could not tell. */
export interface DiscoveryFailure {
  /** Empty for the core group; `*` for all others, where nobody may see which there are. */
  readonly group: string;
  /** Absent where nothing is known of the group. */
  readonly version?: string;
  /** Why: mostly `unavailable`. */
  readonly error: WatchCacheError;
}

/** What one would do, for `can`. */
export interface AccessQuestion {
  /** Such as `list`, `create` or `delete`; `*` for all. */
  verb: string;
  /** What to: `"pods"`, `"apps/v1/deployments"`, a name that discovery knows, a resource spec or a kind. `"*"` for everything. */
  resource?:
    string | Pick<ResourceSpec, "group" | "version" | "resource"> | Pick<KindSpec, "kind" | "group" | "version" | "apiVersion"> | undefined;
  /** Where. Without it: in all namespaces, or what lies in none. */
  namespace?: string | undefined;
  /** To one object alone. */
  name?: string | undefined;
  /** To a part of objects, such as `scale` or `log`. */
  subresource?: string | undefined;
  /** In place of a resource: a path of the server, such as `/metrics`. */
  path?: string | undefined;
  /** Ends the wait. */
  signal?: AbortSignalLike | undefined;
}

/** The server's answer to `can`. Frozen. */
export interface AccessAnswer {
  /** Whether the request would be let through. */
  readonly allowed: boolean;
  /** What the server says about it: why, or what kept it from deciding. */
  readonly reason?: string;
}
