import type { KubeObject } from "../object/metadata.js";
import { object as anObject } from "../options/kinds.js";
import { elsewhere, modified, noObject, noResource, unmet, unnamed, versionOfNew } from "./refusals.js";

// What becomes of a written document, and which writes are refused. `kind` is what messages call the objects by.

type Metadata = NonNullable<KubeObject["metadata"]>;

/** What a server fills in. */
export interface Fresh {
  /** Of one object among all that were ever made. */
  readonly uid: string;
  readonly creationTimestamp: string;
}

/** An object of the script's, with what it lacks: of the one in whose place it comes, or new. */
export function filled<T extends KubeObject>(object: T, held: Metadata | undefined, fresh: Fresh): T {
  const { uid, creationTimestamp } = { ...fresh, ...held };
  const metadata = object.metadata!;
  return {
    ...object,
    metadata: { ...metadata, uid: metadata.uid ?? uid, creationTimestamp: metadata.creationTimestamp ?? creationTimestamp },
  };
}

/** The body of a write, and its metadata. @throws 400 for what is no object */
function document(body: string): [KubeObject, Metadata] {
  try {
    const object = anObject(JSON.parse(body), "") as KubeObject;
    return [object, anObject(object.metadata ?? {}, "") as Metadata];
  } catch {
    throw noObject();
  }
}

/**
 * The object that a creation stores.
 *
 * @param asked the namespace of the request
 * @param nameOf completes what is given as `generateName`
 * @throws 422 for what has no name
 */
export function created(
  body: string,
  asked: string | undefined,
  { uid, creationTimestamp }: Fresh,
  kind: string,
  nameOf: (generateName: string, namespace: string | undefined) => string,
): KubeObject {
  const [object, { namespace = asked, ...given }] = document(body);
  if (given.resourceVersion) throw versionOfNew();
  if (asked && namespace !== asked) throw elsewhere("namespace", namespace, asked);
  const name = given.name || (given.generateName ? nameOf(given.generateName, namespace) : undefined);
  if (typeof name !== "string") throw unnamed(kind);
  return {
    ...object,
    metadata: { ...given, name, ...(namespace === undefined ? {} : { namespace }), uid: given.uid ?? uid, creationTimestamp },
  };
}

/** The object that an update stores in the place of the held one. Undefined where it changes nothing. */
export function updated(body: string, held: KubeObject, kind: string): KubeObject | undefined {
  const [object, metadata] = document(body);
  const had = held.metadata!;
  for (const field of ["name", "namespace"] as const) {
    if (metadata[field] && metadata[field] !== had[field]) throw elsewhere(field, metadata[field], had[field] ?? "");
  }
  if (metadata.uid && metadata.uid !== had.uid) throw unmet(kind, had.name!, "uid", metadata.uid, had.uid);
  if (metadata.resourceVersion && metadata.resourceVersion !== had.resourceVersion) throw modified(kind, had.name!);
  const kept = ["name", "namespace", "uid", "creationTimestamp", "resourceVersion"] as const;
  const { managedFields = had.managedFields } = metadata;
  const stored = {
    ...object,
    metadata: {
      ...metadata,
      ...(managedFields && { managedFields }),
      ...Object.fromEntries(kept.filter((field) => had[field] !== undefined).map((field) => [field, had[field]])),
    },
  };
  return same(stored, held) ? undefined : stored;
}

/** What a write to the status of an object stores. Undefined where it changes nothing. */
export function statusOf(held: KubeObject, written: KubeObject): KubeObject | undefined {
  const { status } = written as { status?: unknown };
  const stored = { ...held, ...(status === undefined ? {} : { status }) };
  return same(stored, held) ? undefined : stored;
}

/** @throws 404 for a part that the source does not have */
export function checkSubresource({ subresource }: { subresource?: string }): void {
  if (subresource !== undefined && subresource !== "status") throw noResource();
}

/** Whether the body of a deletion says that nothing is to be deleted. */
export function isDryRun(body: string): boolean {
  return (JSON.parse(body || "{}") as { dryRun?: unknown[] }).dryRun?.includes("All") ?? false;
}

/** Whether two documents say the same, in whatever order. */
function same(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [names, others] = [Object.keys(one), Object.keys(other)];
  return (
    names.length === others.length &&
    names.every(
      (name) => Object.hasOwn(other, name) && same((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
    )
  );
}

/** @throws 409 where the held object is not the one that is meant */
export function checkPreconditions(body: string, held: Readonly<Record<string, unknown>>, kind: string, name: string): void {
  const { preconditions = {} } = JSON.parse(body || "{}") as { preconditions?: Record<string, string> };
  for (const field of ["uid", "resourceVersion"] as const) {
    const wanted = preconditions[field];
    if (wanted && wanted !== held[field]) throw unmet(kind, name, field, wanted, held[field]);
  }
}
