import type { ObjectLike } from "../../object/metadata.js";
import type { WatchCache } from "../../cache/types.js";
import type { AbortSignalLike } from "../../host/types.js";
import type { HttpError } from "./errors.js";
import type { Selector } from "./selector.js";

/** What is asked of a Kubernetes object. Any type of one has it, the original's `K8sResourceCommon` among them. */
export type K8sResourceCommon = ObjectLike;

/** A kind by its group, its version and its name. Without a group, or with `core`, it is of the core group. */
export interface K8sGroupVersionKind {
  /** Such as `apps`. */
  group?: string | undefined;
  /** Such as `v1`. */
  version: string;
  /** Such as `Deployment`. */
  kind: string;
}

/** `group~version~Kind`, such as `apps~v1~Deployment` and `core~v1~Pod`; or the kind alone, which names the model of it that was registered first. */
export type K8sResourceKindReference = string;

/** How the API serves a kind: what is read of the original's models, which fit as they are. */
export interface K8sModel {
  /** Such as `Deployment`. */
  kind: string;
  /** As paths of the API have it, such as `deployments`. */
  plural: string;
  /** The version alone, such as `v1`. */
  apiVersion: string;
  /** Such as `apps`; none for the core group. */
  apiGroup?: string | undefined;
  /** Whether its objects are in namespaces. Default false, as in the original. */
  namespaced?: boolean | undefined;
  /** What `k8sDelete` asks for where it is told nothing else. */
  propagationPolicy?: "Foreground" | "Background" | "Orphan" | undefined;
}

/** What a hook watches. */
export interface WatchK8sResource {
  /** The kind. */
  groupVersionKind?: K8sGroupVersionKind | undefined;
  /** The kind as a reference, of before `groupVersionKind`. */
  kind?: K8sResourceKindReference | undefined;
  /** The one object, where it is no list. */
  name?: string | undefined;
  /** One namespace alone; of one object its own. Not read for kinds without namespaces. */
  namespace?: string | undefined;
  /** A list, and not one object. */
  isList?: boolean | undefined;
  /** Only objects with such labels. */
  selector?: Selector | undefined;
  /** Only objects with such fields, of those that the server offers: `status.phase=Running`. */
  fieldSelector?: string | undefined;
  /** Not read: the model says it. */
  namespaced?: boolean | undefined;
  /** Not read. In the original it is the size of a page, and here the cache has its own. */
  limit?: number | undefined;
  /** Not read: it is for who shows the results. */
  optional?: boolean | undefined;
  /** Not read: objects come whole. */
  partialMetadata?: boolean | undefined;
}

/** The object or the objects, whether they are there, and why not. The same array until one of them changes. */
export type WatchK8sResult<R extends K8sResourceCommon | K8sResourceCommon[]> = [data: R, loaded: boolean, error: HttpError | undefined];

/** Results by name: what each of them is. */
export interface ResourcesObject {
  /** An object, or a list of them. */
  [key: string]: K8sResourceCommon | K8sResourceCommon[];
}

/** The same as `WatchK8sResult`, with names. */
export interface WatchK8sResultsObject<R extends K8sResourceCommon | K8sResourceCommon[]> {
  /** The object or the objects; undefined where nothing is watched. */
  data: R;
  /** Whether they are there. */
  loaded: boolean;
  /** Why not, or why they are no longer live. */
  loadError: HttpError | undefined;
}

/** What several watches gave, by their names. */
export type WatchK8sResults<R extends ResourcesObject> = { [Key in keyof R]: WatchK8sResultsObject<R[Key]> };

/** Several watches by names. Where there is `null`, nothing is watched. */
export type WatchK8sResources<R extends ResourcesObject> = { [Key in keyof R]: WatchK8sResource | null };

/** What all calls take. */
export interface K8sOptions {
  /** The kind. It need not be registered. */
  model: K8sModel;
  /** Default: the cache that was registered. */
  cache?: WatchCache<any> | undefined;
  /** A part of the object with an address of its own, such as `scale` or `status`. `invalid` for lists and deletions. */
  path?: string | undefined;
  /** `signal` ends the call. All else is `invalid`: the cache sends its own requests. */
  requestInit?: { signal?: AbortSignalLike | null | undefined } | undefined;
}

/** One operation of a JSON patch (RFC 6902). */
export interface Patch {
  /** One of `add`, `remove`, `replace`, `move`, `copy`, `test`. */
  op: string;
  /** A JSON pointer. */
  path: string;
  /** Of `move` and `copy`: a JSON pointer. */
  from?: string | undefined;
  /** Of `add`, `replace` and `test`. */
  value?: any;
}
