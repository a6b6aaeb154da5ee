// Other documents of the same objects: their metadata alone, and the table that people read.
import { encodeJson } from "./json.mjs";
import { apiVersion } from "./resources.mjs";
import { badRequest, StatusError } from "./status.mjs";
import { TABLES } from "./tables/columns.mjs";

/** @typedef {import("./accept.mjs").View} View */
/** @typedef {import("./resources.mjs").ResourceDefinition} ResourceDefinition */
/** @typedef {import("./watch.mjs").Sink} Sink */

const INCLUDES = new Set(["", "Metadata", "Object", "None"]);

/** @param {any} value */
const isStatus = (value) => value?.kind === "Status" && value.apiVersion === "v1";

/** One request's view of the objects of one resource. */
export class Viewer {
  /**
   * @param {View} view
   * @param {ResourceDefinition} definition
   * @param {{ query: URLSearchParams, now: () => number }} how
   * @throws {StatusError} 400 for an `includeObject` that there is not
   */
  constructor({ as, version }, definition, { query, now }) {
    this.as = as;
    this.apiVersion = `meta.k8s.io/${version}`;
    this.definition = definition;
    this.now = now;
    this.includes = query.get("includeObject") ?? "";
    if (as === "Table" && !INCLUDES.has(this.includes)) {
      const why = `includeObject: Invalid value: ${JSON.stringify(this.includes)}: must be 'Metadata', 'Object', 'None', or empty`;
      throw badRequest(`Unable to convert to Table as requested: ${why}`);
    }
    /** A watch tells the columns once. */
    this.columnsTold = false;
  }

  /** @param {any} object with its metadata */
  partial({ metadata }) {
    return { kind: "PartialObjectMetadata", apiVersion: this.apiVersion, metadata };
  }

  /** @param {any} object whole @returns {unknown} */
  #included(object) {
    if (this.includes === "None") return null;
    return this.includes === "Object" ? object : this.partial(object);
  }

  /** @param {Record<string, unknown>} metadata @param {any[]} objects whole @param {unknown} columns */
  #table(metadata, objects, columns) {
    const { cells } = TABLES[this.definition.resource];
    const now = this.now();
    const rows = objects.map((object) => ({ cells: cells(object, now), object: this.#included(object) }));
    return { kind: "Table", apiVersion: this.apiVersion, metadata, columnDefinitions: columns, rows };
  }

  get #columns() {
    return TABLES[this.definition.resource].columns;
  }

  /**
   * One object.
   * @param {any} object whole, or a Status, which stays one
   * @throws {StatusError} 406 for a view of lists
   */
  object(object) {
    if (isStatus(object)) return object;
    if (this.as === "Table") return this.#table({ resourceVersion: object.metadata.resourceVersion }, [object], this.#columns);
    if (this.as === "PartialObjectMetadata") return this.partial(object);
    throw this.#mismatch(`the requested object is not a list (*core.${this.definition.kind})`);
  }

  /**
   * Whether a list may be had so at all.
   * @throws {StatusError} 406 for a view of single objects
   */
  checkList() {
    if (this.as === "PartialObjectMetadata") throw this.#mismatch(`the requested object is a list (*core.${this.definition.kind}List)`);
  }

  /** @param {Record<string, unknown>} metadata of the list @param {any[]} objects without kind and apiVersion */
  list(metadata, objects) {
    if (this.as === "Table") {
      const type = { kind: this.definition.kind, apiVersion: apiVersion(this.definition) };
      return this.#table(
        metadata,
        objects.map((object) => ({ ...type, ...object })),
        this.#columns,
      );
    }
    const items = objects.map((object) => this.partial(object));
    return { kind: "PartialObjectMetadataList", apiVersion: this.apiVersion, metadata, items };
  }

  /**
   * The object of a watch event.
   * @param {any} object whole
   */
  event(object) {
    if (isStatus(object)) return object;
    // A stream has no lists in it.
    if (this.as === "PartialObjectMetadataList") return this.object(object);
    if (this.as !== "Table") return this.partial(object);
    const columns = this.columnsTold ? null : this.#columns;
    this.columnsTold = true;
    return this.#table({ resourceVersion: object.metadata.resourceVersion }, [object], columns);
  }

  /** @param {string} why */
  #mismatch(why) {
    return new StatusError(406, "NotAcceptable", `you requested ${this.as}, but ${why}`);
  }
}

/**
 * A sink whose events carry a view of their objects.
 * @implements {Sink}
 */
export class ViewSink {
  /** @param {import("./watch.mjs").Sink} sink @param {Viewer} viewer */
  constructor(sink, viewer) {
    this.sink = sink;
    this.viewer = viewer;
  }

  get writable() {
    return this.sink.writable;
  }

  get frozen() {
    return this.sink.frozen;
  }

  /** @param {(() => void) | undefined} call */
  set onwritable(call) {
    this.sink.onwritable = call;
  }

  /** @param {(() => void) | undefined} call */
  set onclose(call) {
    this.sink.onclose = call;
  }

  /** @param {Buffer} frame */
  send(frame) {
    const { type, object } = JSON.parse(frame.toString());
    let shown;
    try {
      shown = this.viewer.event(object);
    } catch {
      // What cannot be shown ends the stream, as in the original.
      this.end();
      return;
    }
    this.sink.send(Buffer.from(`${encodeJson({ type, object: shown })}\n`));
  }

  end() {
    this.sink.end();
  }
}
