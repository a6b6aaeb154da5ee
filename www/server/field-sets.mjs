// Sets of fields, as managedFields hold them: who owns what. A set is a set of paths; a path is the steps of a FieldsV1 tree.
import { isDeepStrictEqual } from "node:util";
import { isAlwaysThere, isAtomic, itemKeys } from "./managed-fields.mjs";

/** Paths, their steps joined. @typedef {Set<string>} FieldSet */

const JOIN = "\0";
/** Metadata that nobody owns. */
const NOT_OWNED = new Set(["name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "generateName", "selfLink"]);

/** @param {unknown} value @returns {value is Record<string, any>} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {string[]} steps */
export const joined = (steps) => steps.join(JOIN);

/** @param {Record<string, any>} tree @param {string[]} [steps] @param {FieldSet} [set] @returns {FieldSet} */
export function fromTree(tree, steps = [], set = new Set()) {
  for (const [step, inner] of Object.entries(tree)) {
    if (step === ".") set.add(joined(steps));
    else if (Object.keys(inner).length === 0) set.add(joined([...steps, step]));
    else fromTree(inner, [...steps, step], set);
  }
  return set;
}

/** @param {FieldSet} set @returns {Record<string, any>} */
export function toTree(set) {
  /** @type {Record<string, any>} */
  const root = {};
  for (const path of [...set].sort()) {
    let node = root;
    for (const step of path.split(JOIN)) node = node[step] ??= {};
    node["."] = {};
  }
  const leaves = (/** @type {Record<string, any>} */ node) => {
    for (const [step, inner] of Object.entries(node)) {
      if (Object.keys(inner).length === 1 && inner["."]) node[step] = {};
      else leaves(inner);
    }
    return node;
  };
  return leaves(root);
}

/**
 * The steps below a value, each with what it leads to.
 * @param {any} value @param {string} name of the field that holds it
 * @returns {[step: string, inner: any, name: string][] | undefined} undefined for what is one whole
 */
function stepsOf(value, name) {
  if (isAtomic(name)) return undefined;
  if (isObject(value)) return Object.entries(value).map(([key, inner]) => [`f:${key}`, inner, key]);
  if (!Array.isArray(value)) return undefined;
  if (name === "finalizers") return value.map((item) => [`v:${JSON.stringify(item)}`, item, ""]);
  const keys = itemKeys(name, value);
  return keys?.map((key, index) => [`k:${JSON.stringify(key)}`, value[index], ""]);
}

/** @param {any} object @returns {any} what of it can be owned */
export function ownable({ kind: _kind, apiVersion: _apiVersion, metadata, ...rest }) {
  const { managedFields: _managedFields, ...meta } = metadata ?? {};
  const owned = Object.entries(meta).filter(([name]) => !NOT_OWNED.has(name));
  const parts = Object.entries(rest).filter(([name, value]) => !isAlwaysThere(name) || Object.keys(value ?? {}).length > 0);
  return { ...(owned.length > 0 ? { metadata: Object.fromEntries(owned) } : {}), ...Object.fromEntries(parts) };
}

/**
 * The fields of a value. Items of lists are members beside what is in them.
 * @param {any} value @param {string} [name] @param {string[]} [steps] @param {FieldSet} [set]
 * @returns {FieldSet}
 */
export function fieldSet(value, name = "", steps = [], set = new Set()) {
  const inner = stepsOf(value, name);
  if (!inner || (inner.length === 0 && steps.length > 0)) {
    if (steps.length > 0) set.add(joined(steps));
    return set;
  }
  if (steps.at(-1)?.startsWith("k:")) set.add(joined(steps));
  for (const [step, next, field] of inner) fieldSet(next, field, [...steps, step], set);
  return set;
}

/**
 * What holds others, and is a member beside them: items, and maps and lists that may be missing.
 * @param {FieldSet} set
 */
function holdersOf(set) {
  /** @type {FieldSet} */
  const holders = new Set();
  for (const path of set) {
    const steps = path.split(JOIN);
    for (let length = steps.length - 1; length > 0; length -= 1) {
      const last = steps[length - 1];
      if (last.startsWith("k:") || (last.startsWith("f:") && !isAlwaysThere(last.slice(2)))) holders.add(joined(steps.slice(0, length)));
    }
  }
  return holders;
}

/**
 * What became of the fields.
 * @param {any} before @param {any} after
 * @returns {{ changed: FieldSet, removed: FieldSet }} `changed`: those that are new, too
 */
export function compared(before, after) {
  const [was, is] = [fieldSet(before), fieldSet(after)];
  const [held, holders] = [holdersOf(was), holdersOf(is)];
  const isThere = (/** @type {string} */ path) => was.has(path) || held.has(path);
  const removed = new Set([...was, ...held].filter((path) => !is.has(path) && !holders.has(path)));
  // What holds others changes only by being there.
  const differs = (/** @type {string} */ path) => !holders.has(path) && !isDeepStrictEqual(valueAt(before, path), valueAt(after, path));
  const changed = new Set([...is, ...holders].filter((path) => !isThere(path) || differs(path)));
  return { changed, removed };
}

/** @param {any} value @param {string} path @returns {any} undefined where there is nothing */
export function valueAt(value, path) {
  let name = "";
  for (const step of path.split(JOIN)) {
    const found = stepsOf(value, name)?.find(([own]) => own === step);
    if (!found) return undefined;
    [, value, name] = found;
  }
  return value;
}

/** The value without what a path leads to. @param {any} value changed in place @param {string} path */
export function removeAt(value, path) {
  const steps = path.split(JOIN);
  const last = /** @type {string} */ (steps.pop());
  const holder = steps.length === 0 ? value : valueAt(value, joined(steps));
  if (holder === undefined) return;
  if (last.startsWith("f:")) delete holder[last.slice(2)];
  else {
    const item = stepsOf(holder, steps.at(-1)?.slice(2) ?? "")?.find(([step]) => step === last)?.[1];
    if (item !== undefined) holder.splice(holder.indexOf(item), 1);
  }
}

/**
 * The two as one: maps and lists with keys are merged, and of all else the second is taken.
 * @param {any} live @param {any} applied @param {string} [name] @returns {any}
 */
export function mergedWith(live, applied, name = "") {
  if (isAtomic(name) || typeof live !== "object" || live === null) return applied;
  // Who applies null for a map or a list says nothing of what is in it.
  if (applied === null) return live;
  if (isObject(applied) && isObject(live)) {
    const result = { ...live };
    for (const [key, value] of Object.entries(applied)) result[key] = mergedWith(live[key], value, key);
    return result;
  }
  const [old, fresh] = [stepsOf(live, name), stepsOf(applied, name)];
  if (!Array.isArray(applied) || !Array.isArray(live) || !old || !fresh) return applied;
  const wanted = new Map(fresh.map(([step, item]) => [step, item]));
  const result = old.map(([step, item]) => (wanted.has(step) ? mergedWith(item, wanted.get(step)) : item));
  const known = new Set(old.map(([step]) => step));
  return [...result, ...fresh.filter(([step]) => !known.has(step)).map(([, item]) => item)];
}

/** A path as messages write it. @param {string} path */
export function pathText(path) {
  return path
    .split(JOIN)
    .map((step) => {
      if (step.startsWith("f:")) return `.${step.slice(2)}`;
      if (step.startsWith("v:")) return `[=${step.slice(2)}]`;
      const keys = Object.entries(JSON.parse(step.slice(2))).sort(([left], [right]) => (left < right ? -1 : 1));
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
    })
    .join("");
}
