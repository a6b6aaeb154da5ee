// RFC 7386 merge patches and RFC 6902 JSON patches.
import { isDeepStrictEqual } from "node:util";
import { jsonType } from "./json.mjs";

/**
 * @param {any} target
 * @param {any} patch
 * @returns {any} the patched value; `target` may be changed
 */
export function mergePatch(target, patch) {
  if (!isObject(patch)) return patch;
  const result = isObject(target) ? target : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else define(result, key, mergePatch(Object.hasOwn(result, key) ? result[key] : undefined, value));
  }
  return result;
}

/** A plain assignment to "__proto__" would change the prototype. @param {any} object @param {string} key @param {unknown} value */
function define(object, key, value) {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** @param {unknown} value @returns {value is Record<string, any>} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * @param {any} document changed in place
 * @param {unknown} operations
 * @returns {any} the patched document
 * @throws {SyntaxError} when the patch is none, {@link PatchError} when it cannot be applied
 */
export function jsonPatch(document, operations) {
  if (!Array.isArray(operations))
    throw new SyntaxError(`json: cannot unmarshal ${jsonType(operations)} into Go value of type []handlers.jsonPatchOp`);
  const holder = { root: document };
  for (const operation of operations)
    if (!isObject(operation) && operation !== null)
      throw new SyntaxError(`json: cannot unmarshal ${jsonType(operation)} into Go value of type handlers.jsonPatchOp`);
  for (const operation of operations) applyOperation(holder, operation);
  return holder.root;
}

/** A JSON patch that does not fit the document. */
export class PatchError extends Error {}

/** @param {{ root: any }} holder @param {any} operation */
function applyOperation(holder, operation) {
  const { op, path, from, value } = operation ?? {};
  if (typeof path !== "string") throw new PatchError("an operation lacks its path");
  switch (op) {
    case "add":
      return set(holder, path, structuredClone(value), true);
    case "replace":
      // The original looks only whether there is a place for it.
      locate(holder, isObject(locate(holder, path.slice(0, path.lastIndexOf("/")), op)) ? "" : path, op);
      return set(holder, path, structuredClone(value), false);
    case "remove":
      return remove(holder, path, op);
    case "move": {
      const moved = locate(holder, from, op);
      remove(holder, from, op);
      return set(holder, path, moved, true);
    }
    case "copy":
      return set(holder, path, structuredClone(locate(holder, from, op)), true);
    case "test":
      if (!isDeepStrictEqual(locate(holder, path, op), value)) throw new PatchError(`testing value ${path} failed: test failed`);
      return undefined;
    default:
      throw new PatchError(`Unexpected kind: ${op}`);
  }
}

/** @param {string} pointer @returns {string[]} */
function split(pointer) {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) throw new PatchError(`"${pointer}" is no JSON pointer`);
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** @param {any} container @param {string} key */
const holds = (container, key) =>
  Array.isArray(container)
    ? /^(0|[1-9][0-9]*)$/.test(key) && Number(key) < container.length
    : isObject(container) && Object.hasOwn(container, key);

/** @param {{ root: any }} holder @param {string} pointer @param {string} op @returns {any} */
function locate(holder, pointer, op) {
  let value = holder.root;
  for (const key of split(pointer)) {
    if (!holds(value, key)) throw new PatchError(`${op} operation does not apply: doc is missing path: ${pointer}: missing value`);
    value = value[key];
  }
  return value;
}

/** @param {{ root: any }} holder @param {string} pointer @param {unknown} value @param {boolean} insert */
function set(holder, pointer, value, insert) {
  const keys = split(pointer);
  const last = keys.pop();
  if (last === undefined) {
    if (typeof value !== "object" || value === null) throw new PatchError("a document is an object or a list");
    holder.root = value;
    return;
  }
  const parent = locate(holder, pointer.slice(0, pointer.lastIndexOf("/")), insert ? "add" : "replace");
  if (Array.isArray(parent)) {
    const index = last === "-" ? parent.length : /^(0|[1-9][0-9]*)$/.test(last) ? Number(last) : NaN;
    if (!(index <= parent.length)) throw new PatchError(`add operation does not apply: doc is missing path: ${pointer}: missing value`);
    parent.splice(index, insert ? 0 : 1, value);
  } else if (isObject(parent)) {
    define(parent, last, value);
  } else {
    throw new PatchError(`add operation does not apply: doc is missing path: ${pointer}: missing value`);
  }
}

/** @param {{ root: any }} holder @param {string} pointer @param {string} op */
function remove(holder, pointer, op) {
  locate(holder, pointer, op);
  const keys = split(pointer);
  const last = keys.pop();
  if (last === undefined) throw new PatchError("remove operation does not apply: the document itself cannot be removed");
  const parent = locate(holder, pointer.slice(0, pointer.lastIndexOf("/")), op);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
}
