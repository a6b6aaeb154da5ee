/**
 * The least that is asked of a cached object: any type of a Kubernetes object has it, whoever generated it. Give your own as
 * `resource<Pod>("pods")`.
 */
export interface ObjectLike {
  /** The API group and version, such as `apps/v1`. */
  apiVersion?: string | null | undefined;
  /** The kind, such as `Deployment`. */
  kind?: string | null | undefined;
  /** What identifies it. */
  metadata?:
    | {
        /** Its name, one of a kind in its namespace. */
        name?: string | null | undefined;
        /** Its namespace; none for objects of the whole cluster. */
        namespace?: string | null | undefined;
        /** What tells it from others of its name at other times. */
        uid?: string | null | undefined;
        /** Its version. */
        resourceVersion?: string | null | undefined;
        /** Its labels. */
        labels?: { readonly [key: string]: string | undefined } | null | undefined;
        /** Its annotations. */
        annotations?: { readonly [key: string]: string | undefined } | null | undefined;
      }
    | null
    | undefined;
}

/** Any Kubernetes object, as far as all are alike. */
export interface KubeObject {
  /** The API group and version, such as `apps/v1`, or `v1` for the core group. Objects in lists may lack it. */
  apiVersion?: string;
  /** The kind, such as `Deployment`. Objects in lists may lack it. */
  kind?: string;
  /** What Kubernetes keeps of every object. */
  metadata?: ObjectMeta;
}

/** Kubernetes' `metav1.PartialObjectMetadata`: the metadata of an object, and nothing else of it. */
export interface PartialObjectMetadata extends KubeObject {
  /** `meta.k8s.io/v1`. */
  apiVersion?: string;
  /** `PartialObjectMetadata`, whatever the object's own kind is. */
  kind?: string;
}

/** A row of a Kubernetes `metav1.Table`: the metadata of an object, and what the server shows of it. */
export interface TableRow extends PartialObjectMetadata {
  /** One value for each of the resource's `columns`. An age is that of the moment when the server made the row: show `creationTimestamp` instead. */
  cells: unknown[];
}

/** Kubernetes' `metav1.TableColumnDefinition`: what one of a row's `cells` is. */
export interface TableColumn {
  /** Its heading, such as `Ready`. */
  readonly name: string;
  /** `string`, `integer`, `number`, `boolean` or `date`, as OpenAPI names types. */
  readonly type: string;
  /** More of the type; `name` for the column with the object's name. */
  readonly format?: string;
  /** What it means, for people. */
  readonly description?: string;
  /** 0: always shown. From 1 up: where there is room, as with `kubectl get -o wide`. */
  readonly priority?: number;
}

/** Kubernetes' `metav1.ObjectMeta`: what is kept of every object. Times are texts as in RFC 3339. */
export interface ObjectMeta {
  /** One of a kind in its namespace, at any one time. */
  name?: string;
  /** For `create`, without a `name`: the server appends something to make it one. */
  generateName?: string;
  /** Absent for objects of the whole cluster. */
  namespace?: string;
  /** Of old servers. */
  selfLink?: string;
  /** Tells it from earlier and later objects of its name. */
  uid?: string;
  /** A decimal number of any length, as text: compare by length, then by text; never as a JavaScript number. */
  resourceVersion?: string;
  /** Counts the changes of what was asked for, its `spec`. */
  generation?: number;
  /** When it was created. */
  creationTimestamp?: string;
  /** It is being deleted: when that is to be over. */
  deletionTimestamp?: string;
  /** The seconds that its end may take. */
  deletionGracePeriodSeconds?: number;
  /** What selectors ask for. */
  labels?: { [key: string]: string };
  /** What tools keep with it. */
  annotations?: { [key: string]: string };
  /** What it belongs to, and is deleted with. */
  ownerReferences?: OwnerReference[];
  /** It is not gone before these are. */
  finalizers?: string[];
  /** Who set which field. Dropped before it is stored, unless the cache's option `strip` says otherwise. */
  managedFields?: ManagedFieldsEntry[];
}

/** Kubernetes' `metav1.OwnerReference`: an object of the same namespace, or of the cluster, that owns this one. */
export interface OwnerReference {
  /** The owner's API group and version. */
  apiVersion: string;
  /** The owner's kind. */
  kind: string;
  /** The owner's name. */
  name: string;
  /** The owner's `metadata.uid`. */
  uid: string;
  /** It is the one that manages this object. */
  controller?: boolean;
  /** It is not gone before this one is, where it is deleted in the foreground. */
  blockOwnerDeletion?: boolean;
}

/** Kubernetes' `metav1.ManagedFieldsEntry`: the fields that one manager set. */
export interface ManagedFieldsEntry {
  /** The manager. */
  manager?: string;
  /** How it set them. */
  operation?: "Apply" | "Update";
  /** The API version that `fieldsV1` is of. */
  apiVersion?: string;
  /** When it last did. */
  time?: string;
  /** Always `FieldsV1`. */
  fieldsType?: string;
  /** The fields, as a tree of their names. */
  fieldsV1?: { [field: string]: unknown };
  /** Such as `status`, where that was written on its own. */
  subresource?: string;
}

/** Kubernetes' `metav1.ListMeta`: what is kept of a list, and of a `Status`. */
export interface ListMeta {
  /** Asks for the next page. After `expired`: goes on at the newest version, with what the first pages did not hold. */
  continue?: string;
  /** How many objects the further pages hold. */
  remainingItemCount?: number;
  /** The version that it is of. */
  resourceVersion?: string;
  /** Of old servers. */
  selfLink?: string;
}

/** Kubernetes' `metav1.Status`: what the API server answers when a request fails, and the object of an ERROR event. */
export interface Status {
  /** `v1`. */
  apiVersion?: string;
  /** `Status`. */
  kind?: string;
  /** As of a list. */
  metadata?: ListMeta;
  /** How it went. */
  status?: "Success" | "Failure";
  /** The HTTP code. */
  code?: number;
  /** A machine-readable word, such as `Expired` or `Forbidden`. */
  reason?: string;
  /** A sentence for people. */
  message?: string;
  /** More of it, for programs. */
  details?: StatusDetails;
}

/** Kubernetes' `metav1.StatusDetails`. */
export interface StatusDetails {
  /** The name of what was asked for. */
  name?: string;
  /** Its API group. */
  group?: string;
  /** Its kind, or the plural name of its resource. */
  kind?: string;
  /** Its `metadata.uid`. */
  uid?: string;
  /** What was found wrong, one by one. */
  causes?: StatusCause[];
  /** Seconds to wait before the next try. */
  retryAfterSeconds?: number;
}

/** Kubernetes' `metav1.StatusCause`. */
export interface StatusCause {
  /** A machine-readable word, such as `FieldValueInvalid`. */
  reason?: string;
  /** A sentence for people. */
  message?: string;
  /** The path of the field that it is about; for this cache's own refusals the option. */
  field?: string;
}
