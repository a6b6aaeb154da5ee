// Objects in protobuf, as Go clients send them: read into what they are in JSON.
import { isType, typeNamed, typeOf } from "./types.mjs";

const MAGIC = Buffer.from("k8s\0");

/** Whether something begins as an object in protobuf does. @param {Buffer} bytes */
export const isProtobuf = (bytes) => bytes.subarray(0, 4).equals(MAGIC);

/** What is no object in protobuf. */
export class WireError extends Error {}

/**
 * The fields of a message, in the order in which they came.
 * @param {Buffer} bytes
 * @returns {Generator<[number: number, value: Buffer | bigint]>}
 */
function* fieldsOf(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (at >= bytes.length) throw new WireError("unexpected EOF");
      const byte = bytes[at];
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new WireError("a number of more than 64 bits");
  };
  const take = (/** @type {number} */ length) => {
    if (at + length > bytes.length) throw new WireError("unexpected EOF");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    const wire = Number(tag & 7n);
    if (wire === 0) yield [number, varint()];
    else if (wire === 2) yield [number, take(Number(varint()))];
    else if (wire === 1) yield [number, take(8)];
    else if (wire === 5) yield [number, take(4)];
    else throw new WireError(`a field of wire type ${wire}`);
  }
}

/** @param {Buffer} bytes @returns {Map<number, Buffer | bigint>} the last value of each field */
const valuesOf = (bytes) => new Map(fieldsOf(bytes));

/** @param {Buffer | bigint | undefined} value */
const text = (value) => (Buffer.isBuffer(value) ? value.toString() : "");
/** @param {Buffer | bigint | undefined} value */
const number = (value) => (typeof value === "bigint" ? Number(BigInt.asIntN(64, value)) : 0);

/** @param {Buffer} bytes seconds, and nanoseconds @param {number} digits of a second */
function time(bytes, digits) {
  const values = valuesOf(bytes);
  const seconds = number(values.get(1));
  if (bytes.length === 0 || seconds < -62_135_596_800) return null;
  const whole = new Date(seconds * 1_000).toISOString().slice(0, 19);
  const fraction =
    digits > 0
      ? `.${String(number(values.get(2)))
          .padStart(9, "0")
          .slice(0, digits)}`
      : "";
  return `${whole}${fraction}Z`;
}

/** Types that are another thing in JSON. @type {Record<string, (value: any) => any>} */
const SCALARS = {
  string: text,
  bool: (value) => number(value) !== 0,
  int32: number,
  int64: number,
  bytes: (/** @type {Buffer} */ value) => value.toString("base64"),
  Time: (value) => time(value, 0),
  MicroTime: (value) => time(value, 6),
  Quantity: (value) => text(valuesOf(value).get(1)),
  IntOrString: (value) => {
    const values = valuesOf(value);
    return number(values.get(1)) === 1 ? text(values.get(3)) : number(values.get(2));
  },
  Raw: (value) => JSON.parse(text(valuesOf(value).get(1)) || "null"),
};

/** @param {string} type @param {Buffer | bigint} value @returns {any} */
function decodeValue(type, value) {
  // A list in a map, which no request carries.
  if (type.startsWith("[]")) return [];
  if (!isType(type)) return SCALARS[type](value);
  if (!Buffer.isBuffer(value)) throw new WireError(`a number where ${type} is wanted`);
  return decodeMessage(value, type);
}

/** @param {any} value */
const isZero = (value) => value === "" || value === 0 || value === false || value === null;

/** @param {Buffer} bytes @param {string} name of the type @returns {Record<string, any>} */
function decodeMessage(bytes, name) {
  const { byNumber } = typeNamed(name);
  /** @type {Record<string, any>} */
  const object = {};
  for (const [index, value] of fieldsOf(bytes)) {
    const field = byNumber.get(index);
    // A field of a newer version than this table.
    if (!field) continue;
    if (field.name === "") Object.assign(object, decodeValue(field.type, value));
    else if (field.many === "[]") (object[field.name] ??= []).push(decodeValue(field.type, value));
    else if (field.many === "{}") {
      const entry = valuesOf(/** @type {Buffer} */ (value));
      const empty = isType(field.type) || field.type === "Quantity" || field.type === "bytes" ? Buffer.alloc(0) : 0n;
      (object[field.name] ??= {})[text(entry.get(1))] = decodeValue(field.type, entry.get(2) ?? empty);
    } else {
      const decoded = decodeValue(field.type, value);
      if (!field.dropsZero || !isZero(decoded)) object[field.name] = decoded;
    }
  }
  return object;
}

/**
 * @param {Buffer} bytes with their prefix
 * @returns {Record<string, any>} the object, with its kind and apiVersion
 * @throws {WireError}
 */
export function decodeProtobuf(bytes) {
  const envelope = valuesOf(bytes.subarray(4));
  const meta = valuesOf(/** @type {Buffer} */ (envelope.get(1) ?? Buffer.alloc(0)));
  const [apiVersion, kind] = [text(meta.get(1)), text(meta.get(2))];
  const type = typeOf(apiVersion, kind);
  if (!type) throw new WireError(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
  return { kind, apiVersion, ...decodeMessage(/** @type {Buffer} */ (envelope.get(2) ?? Buffer.alloc(0)), type) };
}
