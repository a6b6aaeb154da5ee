// What stands in an object and in no type: fields that nobody reads.
import { apiVersion } from "../resources.mjs";
import { isType, typeNamed, typeOf } from "./types.mjs";

/** @typedef {import("../resources.mjs").ResourceDefinition} ResourceDefinition */

/**
 * @param {ResourceDefinition} definition @param {any} object
 * @returns {string[]} paths of the fields that its type does not have, such as "spec.containers[0].imag"
 */
export function unknownFields(definition, object) {
  const type = typeOf(apiVersion(definition), definition.kind);
  /** @type {string[]} */
  const unknown = [];
  if (type) visit(object, type, "", unknown, new Set(["kind", "apiVersion"]));
  return unknown;
}

/** @param {any} value @param {string} type @param {string} path @param {string[]} unknown @param {Set<string>} [known] */
function visit(value, type, path, unknown, known) {
  if (!isType(type) || typeof value !== "object" || value === null || Array.isArray(value)) return;
  const { byName } = typeNamed(type);
  for (const [name, inner] of Object.entries(value)) {
    const field = byName.get(name);
    const at = path ? `${path}.${name}` : name;
    if (!field) {
      if (!known?.has(name)) unknown.push(at);
    } else if (field.many === "[]" && Array.isArray(inner)) {
      for (const [index, item] of inner.entries()) visit(item, field.type, `${at}[${index}]`, unknown);
    } else if (field.many === "{}" && typeof inner === "object" && inner !== null) {
      for (const [key, item] of Object.entries(inner)) visit(item, field.type, `${at}.${key}`, unknown);
    } else visit(inner, field.type, at, unknown);
  }
}

/**
 * The object without them, as a server stores it.
 * @param {ResourceDefinition} definition @param {any} object changed in place
 * @returns {string[]} what was left out
 */
export function dropUnknownFields(definition, object) {
  const unknown = unknownFields(definition, object);
  for (const path of unknown) {
    const steps = path.replace(/\[(\d+)\]/g, ".$1").split(".");
    const last = /** @type {string} */ (steps.pop());
    const holder = steps.reduce((inner, step) => inner?.[step], object);
    if (holder) delete holder[last];
  }
  return unknown;
}
