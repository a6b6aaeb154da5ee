// One version of one object, encoded once and shared by every list and every watch that shows it.
import { encodeJson } from "./json.mjs";
import { inWireOrder } from "./metadata.mjs";
import { apiVersion, keyOf } from "./resources.mjs";

/** @typedef {"ADDED" | "MODIFIED" | "DELETED"} FrameType */

const CLOSING = "}\n";

/** @param {FrameType} type @param {import("./resources.mjs").ResourceDefinition} definition */
export const frameStart = (type, definition) => `{"type":"${type}","object":${objectStart(definition)}`;
/** @param {import("./resources.mjs").ResourceDefinition} definition */
const objectStart = (definition) => `{"kind":"${definition.kind}","apiVersion":"${apiVersion(definition)}",`;

/**
 * The JSON of an object that is no version: what a dry run would have made.
 * @param {import("./resources.mjs").ResourceDefinition} definition @param {any} object
 */
export function documentOf(definition, object) {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  return Buffer.from(objectStart(definition) + encodeJson({ metadata: inWireOrder(metadata), ...rest }).slice(1));
}

/**
 * The bytes are those of the watch frame the version was born with, because that frame is sent most often. Everything else an object
 * is part of (a list item, a GET, a frame of another type) is cut from them.
 */
export class ObjectVersion {
  /**
   * @param {import("./resources.mjs").ResourceDefinition} definition
   * @param {any} object its metadata.resourceVersion is set here
   * @param {number} version
   * @param {FrameType} type
   */
  constructor(definition, object, version, type) {
    const { kind: _kind, apiVersion: _apiVersion, metadata: given, ...rest } = object;
    given.resourceVersion = String(version);
    const metadata = inWireOrder(given);
    const start = frameStart(type, definition);
    this.definition = definition;
    this.version = version;
    /** @type {string} */
    this.name = given.name;
    /** @type {string} */
    this.namespace = given.namespace ?? "";
    this.key = keyOf(definition, this.namespace, this.name);
    /** @type {string} */
    this.uid = given.uid;
    /** @type {Record<string, string>} */
    this.labels = given.labels ?? {};
    /** @type {Record<string, string>} */
    this.fields = {};
    for (const [field, read] of Object.entries(definition.fields)) this.fields[field] = read(object);
    this.type = type;
    this.bytes = Buffer.from(start + encodeJson({ metadata, ...rest }).slice(1) + CLOSING);
    this.bodyStart = start.length;
  }

  /** The object's JSON from the quote of "metadata" to its closing brace: without `{`, kind and apiVersion. */
  body() {
    return this.bytes.subarray(this.bodyStart, this.bytes.length - CLOSING.length);
  }

  /** The whole object as one JSON document. */
  document() {
    return Buffer.concat([Buffer.from(objectStart(this.definition)), this.body()]);
  }

  /** A fresh parsed copy that the caller may change. @returns {any} */
  parse() {
    return JSON.parse(this.document().toString());
  }

  /** A watch frame with this object, newline included. @param {FrameType} type */
  frame(type) {
    if (type === this.type) return this.bytes;
    return Buffer.concat([Buffer.from(frameStart(type, this.definition)), this.bytes.subarray(this.bodyStart)]);
  }

  /** The same content under another version, as a DELETED event carries it. @param {number} version */
  restamped(version) {
    return new ObjectVersion(this.definition, this.parse(), version, "DELETED");
  }
}
