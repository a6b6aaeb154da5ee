// The types of the objects: their fields, as the Go types of the API have them. `tests/servers/clients/client-go/types` writes the table.
import { readFileSync } from "node:fs";

/**
 * @typedef {object} Field
 * @property {string} name in JSON; "" for the fields of another type in the same object
 * @property {number} number in protobuf
 * @property {string} type of a value, or of an item: a scalar, or the name of a type
 * @property {"" | "[]" | "{}"} many a list, or a map from strings
 * @property {string} goType what Go calls it, such as "[]v1.Container", for messages
 * @property {boolean} dropsZero whether JSON leaves out its zero value
 * @property {boolean} isPointer whether it is left out where there is nothing, and only there
 * @property {string[]} strategy of a strategic merge patch
 * @property {string} key that tells the items of a list apart, "" for none
 */

/**
 * @typedef {object} Type
 * @property {Field[]} fields
 * @property {Map<number, Field>} byNumber
 * @property {Map<string, Field>} byName inline fields included
 */

/** Types by name, such as "core/v1.Pod". @type {Map<string, Type>} */
const types = new Map();

for (const line of readFileSync(new URL("./types.txt", import.meta.url), "utf8")
  .split("\n")
  .filter(Boolean)) {
  const [name, ...rest] = line.split(" ");
  const fields = rest.map(parseField);
  types.set(name, { fields, byNumber: new Map(fields.map((field) => [field.number, field])), byName: new Map() });
}
for (const type of types.values()) for (const field of allFields(type)) type.byName.set(field.name, field);

/** @param {string} text @returns {Field} */
function parseField(text) {
  const at = text.indexOf("=");
  const [number, form, strategy = "", key = ""] = text.slice(at + 1).split(":");
  const [, many, type, named, mark] = /** @type {RegExpExecArray} */ (/^(\[\]|\{\}|)([^<!?]+)(?:<(.+)>)?([!?]?)$/.exec(form));
  return {
    name: text.slice(0, at),
    number: Number(number),
    type,
    many: /** @type {Field["many"]} */ (many),
    goType: named ?? goName(many + type),
    dropsZero: mark === "!",
    isPointer: mark === "?",
    strategy: strategy === "" ? [] : strategy.split(","),
    key,
  };
}

/** What Go calls a type that has no name of its own there. @param {string} form @returns {string} */
function goName(form) {
  if (form.startsWith("[]")) return `[]${goName(form.slice(2))}`;
  if (form.startsWith("{}")) return `map[string]${goName(form.slice(2))}`;
  return form === "bytes" ? "[]uint8" : /** @type {string} */ (form.split("/").at(-1));
}

/** @param {Type} type @returns {Field[]} */
function allFields({ fields }) {
  return fields.flatMap((field) => (field.name === "" ? allFields(typeNamed(field.type)) : [field]));
}

/** @param {string} name @returns {Type} */
export function typeNamed(name) {
  return /** @type {Type} */ (types.get(name));
}

/** @param {string} name whether it names a type with fields, and no scalar */
export const isType = (name) => types.has(name);

/** The names of all types. */
export const typeNames = () => [...types.keys()];

/**
 * @param {string} apiVersion such as "apps/v1" @param {string} kind
 * @returns {string | undefined} the name of the type of such objects
 */
export function typeOf(apiVersion, kind) {
  const [version, group = "core"] = apiVersion.split("/").reverse();
  const name = `${group.split(".")[0]}/${version}.${kind}`;
  if (types.has(name)) return name;
  // Options of a request come under the group of the resource that they are about.
  const shared = `meta/v1.${kind}`;
  return types.has(shared) ? shared : undefined;
}
