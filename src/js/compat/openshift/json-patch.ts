// The six operations of a JSON patch (RFC 6902). Libraries that have them are ten times as large, because they also make patches and observe objects.
// And this entry would be the first of the package to depend on one.
import { refusal } from "./errors.js";
import type { Patch } from "./types.js";

/**
 * Applies a patch.
 *
 * @param document is changed
 * @returns the patched one, which may be another
 * @throws {HttpError} `invalid`, with 422 as a server answers it, for an operation that does not fit the document and for a `test` that fails.
 */
export function applyJsonPatch(document: unknown, patch: readonly Patch[]): unknown {
  const holder = { document };
  for (const operation of patch) apply(holder, operation);
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

const refuse = (op: string, path: unknown, why: string) =>
  refusal("invalid", `the JSON patch cannot be applied: ${op} at "${String(path)}": ${why}`);

/** A patch is applied again where somebody else was quicker, so what it puts in is never what it has. */
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
