// Strategic merge patches: merge patches that know which lists are merged, and by which key of their items.
import { isDeepStrictEqual } from "node:util";
import { isType, typeNamed } from "./types/types.mjs";

/** @typedef {import("./types/types.mjs").Field} Field */
/** @typedef {Record<string, any>} Json */

const DIRECTIVE = "$patch";
const RETAIN = "$retainKeys";
const ORDER = "$setElementOrder/";
const DELETE_FROM = "$deleteFromPrimitiveList/";

/** An item of a patch does not say which item it is about. */
export class KeyProblem extends Error {
  /** @param {unknown} item @param {string} key the field that it lacks */
  constructor(item, key) {
    super(`an item does not contain its merge key ${key}`);
    this.item = item;
    this.key = key;
  }
}

/** @param {unknown} value @returns {value is Json} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {string | undefined} type @param {string} name @returns {Field | undefined} */
const fieldOf = (type, name) => (type !== undefined && isType(type) ? typeNamed(type).byName.get(name) : undefined);

/**
 * @param {any} original @param {any} patch @param {string} [type] of the original, where it is known
 * @returns {any} the patched value; neither of the two is changed
 * @throws {SyntaxError} for a directive that there is not, {@link KeyProblem} for an item without its key
 */
export function strategicPatch(original, patch, type) {
  if (!isObject(patch)) return patch;
  const directive = patch[DIRECTIVE];
  if (directive === "replace") return without(patch, (name) => name === DIRECTIVE);
  if (directive === "delete") return {};
  if (directive !== undefined && directive !== "merge") throw new SyntaxError(`invalid value for $patch: ${directive}`);
  const before = isObject(original) ? original : {};
  const retained = patch[RETAIN];
  /** @type {Json} */
  const result = Array.isArray(retained) ? without(before, (name) => !retained.includes(name)) : { ...before };
  for (const [name, value] of Object.entries(patch)) {
    if (name === DIRECTIVE || name === RETAIN || name.startsWith(ORDER)) continue;
    if (name.startsWith(DELETE_FROM)) {
      const list = name.slice(DELETE_FROM.length);
      if (Array.isArray(result[list])) result[list] = result[list].filter((item) => !value.includes(item));
    } else if (value === null) delete result[name];
    else define(result, name, patched(result[name], value, fieldOf(type, name), patch[`${ORDER}${name}`]));
  }
  // An order is also given to lists of which nothing else is said.
  for (const [name, order] of Object.entries(patch)) {
    const list = name.startsWith(ORDER) ? name.slice(ORDER.length) : "";
    if (list && patch[list] === undefined && Array.isArray(result[list]))
      result[list] = inOrder(result[list], order, result[list], fieldOf(type, list)?.key ?? "");
  }
  return result;
}

/** A plain assignment to "__proto__" would change the prototype. @param {Json} object @param {string} key @param {unknown} value */
function define(object, key, value) {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** @param {Json} object @param {(name: string) => boolean} isOut */
const without = (object, isOut) => Object.fromEntries(Object.entries(object).filter(([name]) => !isOut(name)));

/** @param {any} original @param {any} value @param {Field | undefined} field @param {any[] | undefined} order */
function patched(original, value, field, order) {
  if (!Array.isArray(value)) return strategicPatch(original, value, field?.many === "" || field?.many === "{}" ? field.type : undefined);
  if (!field?.strategy.includes("merge")) return value.filter((item) => item?.[DIRECTIVE] === undefined);
  const before = Array.isArray(original) ? original : [];
  const merged = field.key ? mergeByKey(before, value, field) : [...before, ...value.filter((item) => !before.includes(item))];
  return order ? inOrder(merged, order, before, field.key) : merged;
}

/** @param {any[]} before @param {any[]} patches @param {Field} field */
function mergeByKey(before, patches, { key, type }) {
  if (patches.some((item) => item?.[DIRECTIVE] === "replace"))
    return patches.filter((item) => item?.[DIRECTIVE] !== "replace" || item[key] !== undefined).map((item) => without(item, isDirective));
  let result = [...before];
  for (const patch of patches) {
    if (!isObject(patch) || patch[key] === undefined) throw new KeyProblem(patch, key);
    const at = result.findIndex((item) => item?.[key] === patch[key]);
    if (patch[DIRECTIVE] === "delete") result = result.filter((item) => item?.[key] !== patch[key]);
    else if (at >= 0) result[at] = strategicPatch(result[at], patch, type);
    else result.push(strategicPatch({}, patch, type));
  }
  return result;
}

/** @param {string} name */
const isDirective = (name) => name === DIRECTIVE;

/**
 * The items in the order that a patch gives to those that it knows. The others stay where they were among them.
 * @param {any[]} items @param {any[]} order items, or what has their keys @param {any[]} before in the order of before
 * @param {string} key "" for items that are no objects
 */
function inOrder(items, order, before, key) {
  const same = (/** @type {any} */ left, /** @type {any} */ right) => (key ? left?.[key] === right?.[key] : isDeepStrictEqual(left, right));
  const place = (/** @type {any[]} */ list, /** @type {any} */ item) => list.findIndex((other) => same(other, item));
  const known = items.filter((item) => place(order, item) >= 0).sort((left, right) => place(order, left) - place(order, right));
  const others = items.filter((item) => place(order, item) < 0);
  const result = [];
  while (known.length > 0 && others.length > 0) {
    const was = place(before, known[0]);
    result.push(was >= 0 && place(before, others[0]) < was ? others.shift() : known.shift());
  }
  return [...result, ...known, ...others];
}
