// Patches as a server makes them: the six operations of a JSON patch (RFC 6902), and merges (RFC 7386). The libraries for it are an order of
// magnitude larger, because they also make patches and observe objects. And this entry would be the first of the package to depend on one.
import { patchFailed, unknownType } from "./refusals.js";

/** One operation, as it comes: nothing of it is checked yet. */
interface Patch {
  readonly op?: unknown;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

const TYPES = {
  "application/json-patch+json": jsonPatch,
  "application/merge-patch+json": merge,
  // Lists are replaced, as for custom resources: what their keys are is known to a server with the kind's schema alone.
  "application/strategic-merge-patch+json": merge,
  "application/apply-patch+yaml": merge,
} as const;

/**
 * Applies a patch to a document, which it changes. Returns the patched one, which may be another.
 *
 * @param type the media type of the patch
 * @throws 415 for another type. 422 for an operation that does not fit the document, and for a `test` that fails.
 */
export function patched(document: unknown, patch: unknown, type: string): unknown {
  const apply = Object.hasOwn(TYPES, type) ? TYPES[type as keyof typeof TYPES] : undefined;
  if (apply === undefined) throw unknownType();
  return apply(document, patch as never);
}

function merge(document: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = isObject(document) ? document : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else define(merged, name, merge(Object.hasOwn(merged, name) ? merged[name] : undefined, value));
  }
  return merged;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

function jsonPatch(document: unknown, patch: readonly Patch[]): unknown {
  const holder = { document };
  for (const operation of patch) {
    if (!isObject(operation) || typeof operation.path !== "string") throw patchFailed("an operation lacks its path");
    apply(holder, operation);
  }
  return holder.document;
}

function apply(holder: { document: unknown }, operation: Patch): void {
  const { op, path, value } = operation;
  switch (op) {
    case "add":
      return put(holder, path, copyOf(operation), op);
    case "replace":
      valueAt(holder, path, op);
      return set(holder, path, copyOf(operation));
    case "remove":
      return remove(holder, path, op);
    case "copy":
      return put(holder, path, structuredClone(valueAt(holder, operation.from, op)), op);
    case "move": {
      const { from } = operation;
      const moved = valueAt(holder, from, op);
      if (path.startsWith(`${from}/`)) throw refuse(op, path, "it is inside of what is moved");
      remove(holder, from!, op);
      return put(holder, path, moved, op);
    }
    case "test":
      if (!equal(valueAt(holder, path, op), value)) throw refuse(op, path, "the value there is another");
      return;
    default:
      throw refuse(String(op), path, "there is no such operation");
  }
}

const refuse = (op: unknown, path: unknown, why: string): Error => patchFailed(`${String(op)} at "${String(path)}": ${why}`);

/** What it puts in is never what it has: a script may give the same patch twice. */
function copyOf({ op, path, value }: Patch): unknown {
  if (value === undefined) throw refuse(op, path, "it has no value");
  return structuredClone(value);
}

/** The place that a pointer names: what holds it, and under which name. The document itself is held, too. */
function placeOf(holder: { document: unknown }, path: string | undefined, op: string): [parent: any, name: string] {
  if (typeof path !== "string" || (path !== "" && !path.startsWith("/"))) throw refuse(op, path, "that is no JSON pointer");
  const names = path.split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  names[0] = "document";
  const last = names.pop()!;
  let parent: any = holder;
  for (const name of names) parent = child(parent, name, op, path);
  if (typeof parent !== "object" || parent === null) throw refuse(op, path, "there is nothing");
  return [parent, last];
}

const INDEX = /^(0|[1-9]\d*)$/;

function child(parent: any, name: string, op: string, path: string): unknown {
  const isThere = Array.isArray(parent)
    ? INDEX.test(name) && Number(name) < parent.length
    : typeof parent === "object" && parent !== null && Object.hasOwn(parent, name);
  if (!isThere) throw refuse(op, path, "there is nothing");
  return parent[name];
}

function valueAt(holder: { document: unknown }, path: string | undefined, op: string): unknown {
  const [parent, name] = placeOf(holder, path, op);
  return child(parent, name, op, path!);
}

/** Into an array before what stands there, or with `-` behind all; else as a member. */
function put(holder: { document: unknown }, path: string, value: unknown, op: string): void {
  const [parent, name] = placeOf(holder, path, op);
  if (!Array.isArray(parent)) return define(parent, name, value);
  if (name !== "-" && !(INDEX.test(name) && Number(name) <= parent.length)) throw refuse(op, path, "the array has no such place");
  parent.splice(name === "-" ? parent.length : Number(name), 0, value);
}

function set(holder: { document: unknown }, path: string, value: unknown): void {
  const [parent, name] = placeOf(holder, path, "replace");
  define(parent, name, value);
}

function remove(holder: { document: unknown }, path: string, op: string): void {
  const [parent, name] = placeOf(holder, path, op);
  child(parent, name, op, path);
  if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else delete parent[name];
}

/** A member called `__proto__` is one like any other. */
function define(parent: object, name: string, value: unknown): void {
  Object.defineProperty(parent, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Equal as JSON is: the order of members is none. */
function equal(a: any, b: any): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]));
}
