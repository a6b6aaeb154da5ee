// The OpenAPI document of version 2 in protobuf, which is the only form that a kubectl of before version 3 reads.
import { openApiV2 } from "./openapi.mjs";

/** @typedef {Record<string, any>} Json */

/** @param {number} value @returns {Buffer} */
function varint(value) {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 128)) bytes.push((value % 128) | 0x80);
  return Buffer.from([...bytes, value]);
}

/** A field of bytes; nothing for what is undefined. @param {number} number @param {string | Buffer | undefined} value */
function field(number, value) {
  if (value === undefined) return Buffer.alloc(0);
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** @param {Buffer[]} fields */
const message = (...fields) => Buffer.concat(fields);
/** @template T @param {number} number @param {T[]} values @param {(value: T) => Buffer} encode */
const repeated = (number, values, encode) => Buffer.concat(values.map((value) => field(number, encode(value))));

/** @param {Json} object @param {number} number of the field */
function extensions(object, number) {
  const entries = Object.entries(object).filter(([name]) => name.startsWith("x-"));
  return repeated(number, entries, ([name, value]) => message(field(1, name), field(2, field(2, JSON.stringify(value)))));
}

/** @param {Json} schemas @returns {Buffer} entries of a map */
const named = (schemas) =>
  repeated(1, Object.entries(schemas), ([name, schema]) => message(field(1, name), field(2, encodeSchema(schema))));

/** @param {Json} schema @returns {Buffer} */
function encodeSchema(schema) {
  // One reference is all that there is: version 2 has it as the schema itself.
  const { $ref, type, format, items, additionalProperties, properties } = schema.allOf ? { ...schema, ...schema.allOf[0] } : schema;
  return message(
    field(1, $ref),
    field(2, format),
    additionalProperties ? field(21, field(1, encodeSchema(additionalProperties))) : Buffer.alloc(0),
    type ? field(22, field(1, type)) : Buffer.alloc(0),
    items ? field(23, field(1, encodeSchema(items))) : Buffer.alloc(0),
    properties ? field(25, named(properties)) : Buffer.alloc(0),
    extensions(schema, 31),
  );
}

/** @param {Json} parameter of a query */
const encodeParameter = ({ name, type }) => field(1, field(2, field(3, message(field(2, "query"), field(4, name), field(6, type)))));

const METHODS = /** @type {Record<string, number>} */ ({ get: 2, put: 3, post: 4, delete: 5, patch: 8 });

/** @param {Json} operations of one path */
function encodePath(operations) {
  return message(
    ...Object.entries(operations).map(([method, operation]) =>
      field(METHODS[method], message(repeated(8, operation.parameters, encodeParameter), extensions(operation, 13))),
    ),
  );
}

/** @type {Buffer | undefined} */
let made;

/** The document, encoded once. */
export function openApiV2Protobuf() {
  if (made) return made;
  const { swagger, info, paths, definitions } = openApiV2();
  made = message(
    field(1, swagger),
    field(2, message(field(1, info.title), field(2, info.version))),
    field(
      8,
      repeated(2, Object.entries(paths), ([path, operations]) => message(field(1, path), field(2, encodePath(operations)))),
    ),
    field(9, named(definitions)),
  );
  return made;
}
