import type { KubeObject } from "../metadata-types.js";
import { modified, unmet, versionOfNew } from "./refusals.js";

// What becomes of a written document, and which writes are refused. `kind` is what messages call the objects by.

type Metadata = NonNullable<KubeObject["metadata"]>;

/** What a server fills in. */
export interface Filled {
  /** Where the request goes, for objects that do not say it themselves. */
  readonly namespace: string | undefined;
  /** Of the object, among all that were created. */
  readonly number: number;
  /** In milliseconds since 1970. */
  readonly now: number;
}

/** The object that a creation stores. */
export function created(object: KubeObject, { namespace: asked, number, now }: Filled): KubeObject {
  const { name, generateName, namespace = asked, uid, ...rest } = object.metadata ?? {};
  if (rest.resourceVersion) throw versionOfNew();
  const metadata: Metadata = {
    ...rest,
    name: name ?? `${generateName ?? ""}${String(number).padStart(5, "0")}`,
    ...(generateName === undefined ? {} : { generateName }),
    ...(namespace === undefined ? {} : { namespace }),
    uid: uid ?? `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
    creationTimestamp: new Date(now).toISOString().replace(/\.\d+Z$/, "Z"),
  };
  return { ...object, metadata };
}

/** The object that an update stores in the place of the held one. */
export function updated<T extends KubeObject>(object: T, held: Metadata, kind: string, name: string): T {
  const metadata = object.metadata ?? {};
  if (metadata.resourceVersion && metadata.resourceVersion !== held.resourceVersion) throw modified(kind, name);
  const { managedFields = held.managedFields } = metadata;
  return { ...object, metadata: { ...metadata, ...(managedFields && { managedFields }) } };
}

/** @throws 409 where the held object is not the one that is meant */
export function checkPreconditions(body: string, held: Readonly<Record<string, unknown>>, kind: string, name: string): void {
  const { preconditions = {} } = JSON.parse(body || "{}") as { preconditions?: Record<string, string> };
  for (const field of ["uid", "resourceVersion"] as const) {
    const wanted = preconditions[field];
    if (wanted && wanted !== held[field]) throw unmet(kind, name, field, wanted, held[field]);
  }
}
