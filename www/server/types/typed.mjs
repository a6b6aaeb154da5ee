// Documents as their Go types hold them. A value of another type is refused in Go's words. A field that is null is not there, and one that the
// type does not have is left out and told.
import { jsonType } from "../json.mjs";
import { isType, typeNamed } from "./types.mjs";

/** @typedef {import("./types.mjs").Field} Field */

/** @typedef {"string" | "bool" | "int32" | "int64" | "map" | "slice" | "struct"} Kind */

const QUANTITY = /^[+-]?(\d+(\.\d*)?|\.\d+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const LAYOUTS = /** @type {Record<string, string>} */ ({
  Time: "2006-01-02T15:04:05Z07:00",
  MicroTime: "2006-01-02T15:04:05.000000Z07:00",
});
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const INT32 = 2 ** 31;

/** Zero values that Go writes as such. @type {Record<string, unknown>} */
const ZEROS = { string: "", bool: false, int32: 0, int64: 0, IntOrString: 0, Quantity: "0" };

/** A value that is not of its type. The message is that of Go's JSON decoder. */
export class TypeProblem extends Error {
  /**
   * @param {string} message @param {string} path of the field, such as "spec.containers[0].name"
   * @param {Kind} wanted @param {unknown} value
   */
  constructor(message, path, wanted, value) {
    super(message);
    this.path = path;
    this.wanted = wanted;
    this.value = value;
  }
}

/**
 * Where a value stands.
 * @typedef {object} Place
 * @property {string} path with indices and keys
 * @property {string} field as messages name it: the type that has the field, then the names that lead there
 * @property {string} goType
 * @property {string[]} unknown paths of the fields that are in no type, for the whole document
 */

/** @param {Place} place @param {Kind} wanted @param {unknown} value @param {string} [goType] @returns {never} */
function refuse({ path, field, goType: own }, wanted, value, goType = own) {
  const given = typeof value === "number" && wanted.startsWith("int") ? `number ${value}` : jsonType(value);
  throw new TypeProblem(`json: cannot unmarshal ${given} into Go struct field ${field} of type ${goType}`, path, wanted, value);
}

/** @param {Place} place @param {unknown} value @param {string} goType */
function integer(place, value, goType) {
  const kind = /** @type {Kind} */ (goType.endsWith("64") ? "int64" : "int32");
  if (!Number.isInteger(value) || (kind === "int32" && (Number(value) >= INT32 || Number(value) < -INT32)))
    refuse(place, kind, value, goType);
  return value;
}

/** Values that are no objects, no lists and no maps. @type {Record<string, (value: any, place: Place) => unknown>} */
const SCALARS = {
  string: (value, place) => (typeof value === "string" ? value : refuse(place, "string", value)),
  bool: (value, place) => (typeof value === "boolean" ? value : refuse(place, "bool", value)),
  int32: (value, place) => integer(place, value, "int32"),
  int64: (value, place) => integer(place, value, "int64"),
  IntOrString: (value, place) => (typeof value === "string" ? value : integer(place, value, "int32")),
  bytes(value, place) {
    if (typeof value !== "string") refuse(place, "string", value);
    if (BASE64.test(value)) return value;
    const odd = value.search(/[^A-Za-z0-9+/=]/);
    throw new TypeProblem(`illegal base64 data at input byte ${odd < 0 ? value.length : odd}`, place.path, "string", value);
  },
  Time: (value, place) => time(value, place, "Time"),
  MicroTime: (value, place) => time(value, place, "MicroTime"),
  Quantity(value, place) {
    if ((typeof value === "string" && QUANTITY.test(value)) || typeof value === "number") return String(value);
    const message = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    throw new TypeProblem(message, place.path, "string", value);
  },
  Raw: (value) => value,
};

/** @param {any} value @param {Place} place @param {string} type */
function time(value, place, type) {
  if (typeof value !== "string") refuse(place, "string", value, "string");
  if (TIME.test(value)) return value;
  throw new TypeProblem(`parsing time "${value}" as "${LAYOUTS[type]}": cannot parse "${value}" as "2006"`, place.path, "string", value);
}

/** @param {unknown} value whether JSON leaves it out where a field drops its zero value */
const isZero = (value) =>
  value === "" || value === 0 || value === false || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

/** What Go calls an item of a list or a map. @param {string} goType @param {string} type of the item */
const itemType = (goType, type) => /^(?:\[\]|map\[[^\]]+\])(.+)$/.exec(goType)?.[1] ?? type;

/** @param {string} type @param {any} value @param {Place} place @returns {any} */
function one(type, value, place) {
  if (value === null) return isType(type) ? {} : (ZEROS[type] ?? null);
  if (type.startsWith("[]")) return list(type.slice(2), value, place);
  if (!isType(type)) return SCALARS[type](value, place);
  if (jsonType(value) !== "object") refuse(place, "struct", value);
  return struct(type, value, place);
}

/** @param {string} type @param {any} value @param {Place} place @returns {any[]} */
function list(type, value, place) {
  if (!Array.isArray(value)) refuse(place, "slice", value);
  const goType = itemType(place.goType, type);
  return value.map((/** @type {any} */ item, /** @type {number} */ index) =>
    one(type, item, { ...place, path: `${place.path}[${index}]`, goType }),
  );
}

/** @param {Field} field @param {any} value @param {Place} place */
function held({ many, type }, value, place) {
  if (many === "") return one(type, value, place);
  if (value === null) return null;
  if (many === "[]") return list(type, value, place);
  if (jsonType(value) !== "object") refuse(place, "map", value);
  const goType = itemType(place.goType, type);
  const entries = Object.entries(value).map(([key, item]) => [key, one(type, item, { ...place, path: `${place.path}.${key}`, goType })]);
  return Object.fromEntries(entries);
}

/** @param {string} name of the type @param {Record<string, any>} value @param {Place} place */
function struct(name, value, place) {
  const { byName } = typeNamed(name);
  /** @type {[string, unknown][]} */
  const fields = [];
  for (const [key, inner] of Object.entries(value)) {
    const field = byName.get(key);
    const path = place.path ? `${place.path}.${key}` : key;
    if (!field) {
      place.unknown.push(path);
      continue;
    }
    if (inner === null && (field.dropsZero || field.isPointer)) continue;
    const route = place.field.slice(place.field.indexOf(".") + 1);
    const named = [name.split(".").at(-1), ...(route ? [route] : []), key].join(".");
    const own = held(field, inner, { path, field: named, goType: field.goType, unknown: place.unknown });
    if (!field.dropsZero || !isZero(own)) fields.push([key, own]);
  }
  return Object.fromEntries(fields);
}

/**
 * A document as its type holds it.
 * @param {string} type the name of its type @param {Record<string, any>} document is not changed
 * @returns {{ object: any, unknown: string[] }} `unknown`: paths of the fields that are in no type and left out, such as "spec.containers[0].imag"
 * @throws {TypeProblem} for the first value of another type
 */
export function typed(type, document) {
  const { kind, apiVersion, ...rest } = document;
  /** @type {string[]} */
  const unknown = [];
  const object = struct(type, rest, { path: "", field: "", goType: "", unknown });
  return { object: { ...(kind ? { kind } : {}), ...(apiVersion ? { apiVersion } : {}), ...object }, unknown };
}
