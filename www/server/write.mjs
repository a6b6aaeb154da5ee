// Writes: create, update, patch and delete with the checks and the refusals of an API server.
import { randomBytes, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { subdomainProblem } from "./label-selector.mjs";
import { jsonPatch, mergePatch, PatchError } from "./patch.mjs";
import { apiVersion, findResourceByName, keyOf } from "./resources.mjs";
import {
  alreadyExists,
  badRequest,
  conflict,
  invalid,
  methodNotAllowed,
  modified,
  notFound,
  preconditionFailed,
  StatusError,
  unsupportedMediaType,
} from "./status.mjs";

/** @typedef {import("./resources.mjs").ResourceDefinition} ResourceDefinition */
/** @typedef {import("./object-version.mjs").ObjectVersion} ObjectVersion */
/** @typedef {import("./path.mjs").ResourcePath} ResourcePath */

const NAME_SUFFIX = "bcdfghjklmnpqrstvwxz2456789";
const PATCH_TYPES = ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"];

/** Metadata that belongs to the server: what a client sends for it is ignored on update. */
const SERVER_METADATA = ["namespace", "name", "uid", "creationTimestamp", "generateName", "generation", "deletionTimestamp"];

/** The write half of the API. */
export class Writer {
  /** @param {import("./store.mjs").Store} store @param {() => number} now milliseconds, for timestamps */
  constructor(store, now) {
    this.store = store;
    this.now = now;
  }

  /** @param {ResourcePath} path @param {any} body @returns {ObjectVersion} */
  create(path, body) {
    const { definition, namespace } = path;
    if (path.name) throw methodNotAllowed(definition, "create");
    const object = this.checkType(definition, body);
    const metadata = (object.metadata ??= {});
    this.checkNamespace(definition, namespace, metadata);
    if (metadata.resourceVersion) throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
    if (!metadata.name && metadata.generateName) metadata.name = metadata.generateName + suffix();
    this.checkName(definition, metadata.name);
    if (definition.namespaced) {
      const home = /** @type {ResourceDefinition} */ (findResourceByName("namespaces"));
      if (!this.store.table(home).get(keyOf(home, "", metadata.namespace))) throw notFound(home, metadata.namespace);
    }
    const table = this.store.table(definition);
    if (table.get(keyOf(definition, metadata.namespace ?? "", metadata.name))) throw alreadyExists(definition, metadata.name);
    metadata.uid = randomUUID();
    metadata.creationTimestamp = timestamp(this.now());
    delete metadata.deletionTimestamp;
    if (GENERATIONS.has(definition.resource)) metadata.generation = 1;
    applyDefaults(definition, object);
    return table.put(object);
  }

  /** @param {ResourcePath} path @param {any} body @returns {ObjectVersion} */
  update(path, body) {
    const { definition, namespace, name } = path;
    const object = this.checkType(definition, body);
    const metadata = (object.metadata ??= {});
    this.checkNamespace(definition, namespace, metadata);
    if (metadata.name !== name) {
      throw badRequest(
        metadata.name ? `the name of the object (${metadata.name}) does not match the name on the URL (${name})` : "name must be provided",
      );
    }
    return this.replace(path, object);
  }

  /** @param {ResourcePath} path @param {Buffer} body @param {string} contentType @returns {ObjectVersion} */
  patch(path, body, contentType) {
    const type = contentType.split(";")[0].trim().toLowerCase();
    if (!PATCH_TYPES.includes(type)) throw unsupportedMediaType(PATCH_TYPES);
    const before = this.existing(path).parse();
    let patch;
    try {
      patch = JSON.parse(body.toString());
    } catch (error) {
      throw badRequest(`error decoding patch: ${/** @type {Error} */ (error).message}`);
    }
    let object;
    try {
      object = type === "application/json-patch+json" ? jsonPatch(before, patch) : mergePatch(before, patch);
    } catch (error) {
      if (error instanceof PatchError)
        throw new StatusError(422, "Invalid", "the server rejected our request due to an error in our request");
      throw badRequest(/** @type {Error} */ (error).message);
    }
    if (object?.metadata?.name !== path.name) {
      throw badRequest(`the name of the object (${object?.metadata?.name ?? ""}) does not match the name on the URL (${path.name})`);
    }
    return this.replace(path, object);
  }

  /**
   * @param {ResourcePath} path
   * @param {{ preconditions?: { uid?: string, resourceVersion?: string } }} [options]
   * @returns {{ last: ObjectVersion }}
   */
  remove(path, options = {}) {
    const { definition, name } = path;
    const existing = this.existing(path);
    const { uid, resourceVersion } = options.preconditions ?? {};
    if (uid !== undefined && uid !== existing.uid) {
      const why = `the UID in the precondition (${uid}) does not match the UID in record (${existing.uid}). The object might have been deleted and then recreated`;
      throw preconditionFailed(definition, name, why);
    }
    if (resourceVersion !== undefined && resourceVersion !== String(existing.version)) {
      const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${existing.version}). The object might have been modified`;
      throw preconditionFailed(definition, name, why);
    }
    // A namespace takes what is in it along; the original needs a controller for that.
    if (definition.resource === "namespaces") {
      for (const table of this.store.tables.values()) {
        if (!table.definition.namespaced) continue;
        for (const object of [...table.snapshot(this.store.revision).range(`/${name}/`)]) table.remove(object.key);
      }
    }
    return { last: /** @type {ObjectVersion} */ (this.store.table(definition).remove(existing.key)) };
  }

  /** @param {ResourcePath} path @returns {ObjectVersion} */
  existing({ definition, namespace, name }) {
    const found = this.store.table(definition).get(keyOf(definition, namespace, name));
    if (!found) throw notFound(definition, name);
    return found;
  }

  /** @param {ResourcePath} path @param {any} object whole, with its metadata */
  replace(path, object) {
    const { definition, name, subresource } = path;
    const existing = this.existing(path);
    const before = existing.parse();
    const { metadata } = object;
    if (metadata.uid && metadata.uid !== existing.uid) {
      throw conflict(definition, name, `Precondition failed: UID in precondition: ${metadata.uid}, UID in object meta: ${existing.uid}`);
    }
    if (metadata.resourceVersion && metadata.resourceVersion !== String(existing.version)) throw modified(definition, name);
    /** @type {any} */
    let after;
    if (subresource === "status") after = { ...before, status: object.status ?? before.status };
    else {
      after = { ...object, metadata: { ...metadata } };
      if (definition.status) after.status = before.status;
      for (const field of SERVER_METADATA) {
        if (before.metadata[field] === undefined) delete after.metadata[field];
        else after.metadata[field] = before.metadata[field];
      }
      if (metadata.managedFields === undefined && before.metadata.managedFields)
        after.metadata.managedFields = before.metadata.managedFields;
      if (before.metadata.generation && !isDeepStrictEqual(before.spec, after.spec))
        after.metadata.generation = before.metadata.generation + 1;
    }
    after.kind = before.kind;
    after.apiVersion = before.apiVersion;
    after.metadata.resourceVersion = before.metadata.resourceVersion;
    // A write that changes nothing makes no new version.
    if (isDeepStrictEqual(before, after)) return existing;
    return this.store.table(definition).put(after);
  }

  /** @param {ResourceDefinition} definition @param {any} body */
  checkType(definition, body) {
    if (typeof body !== "object" || body === null || Array.isArray(body))
      throw badRequest("couldn't get version/kind; json parse error: json: cannot unmarshal into an object");
    const { kind, apiVersion: version } = body;
    if (kind && kind !== definition.kind) {
      throw badRequest(
        `${kind} in version "${version ?? ""}" cannot be handled as a ${definition.kind}: converting (${version ?? ""}.${kind}) to (${apiVersion(definition)}.${definition.kind}): unknown conversion`,
      );
    }
    if (version && version !== apiVersion(definition)) {
      throw badRequest(`the API version in the data (${version}) does not match the expected API version (${apiVersion(definition)})`);
    }
    if (body.metadata !== undefined && (typeof body.metadata !== "object" || body.metadata === null || Array.isArray(body.metadata))) {
      throw badRequest(
        `${definition.kind} in version "${definition.version}" cannot be handled as a ${definition.kind}: json: cannot unmarshal into Go struct field ${definition.kind}.metadata`,
      );
    }
    return body;
  }

  /** @param {ResourceDefinition} definition @param {string} namespace @param {any} metadata */
  checkNamespace(definition, namespace, metadata) {
    if (!definition.namespaced) {
      delete metadata.namespace;
      return;
    }
    metadata.namespace ||= namespace || "default";
    if (namespace && metadata.namespace !== namespace) {
      throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
    }
  }

  /** @param {ResourceDefinition} definition @param {unknown} name */
  checkName(definition, name) {
    const kind = { group: definition.group, kind: definition.kind };
    if (!name)
      throw invalid(kind, "", [
        { type: "FieldValueRequired", field: "metadata.name", body: "Required value: name or generateName is required" },
      ]);
    const text = String(name);
    const problem = subdomainProblem(text);
    if (problem)
      throw invalid(kind, text, [
        { type: "FieldValueInvalid", field: "metadata.name", body: `Invalid value: ${JSON.stringify(text)}: ${problem}` },
      ]);
  }
}

const GENERATIONS = new Set(["pods", "deployments", "replicasets"]);

/** @param {ResourceDefinition} definition @param {any} object */
function applyDefaults(definition, object) {
  if (definition.resource === "pods") {
    object.spec = {
      restartPolicy: "Always",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      securityContext: {},
      schedulerName: "default-scheduler",
      enableServiceLinks: true,
      ...object.spec,
    };
    object.status = { phase: "Pending", qosClass: "BestEffort" };
  } else if (definition.resource === "namespaces") {
    object.spec = { finalizers: ["kubernetes"] };
    object.status = { phase: "Active" };
    object.metadata.labels = { ...object.metadata.labels, "kubernetes.io/metadata.name": object.metadata.name };
  } else if (definition.status && definition.resource !== "nodes") {
    object.status = structuredClone(definition.empty.status ?? {});
  }
}

function suffix() {
  return [...randomBytes(5)].map((byte) => NAME_SUFFIX[byte % NAME_SUFFIX.length]).join("");
}

/** Seconds precision, as API objects have it. @param {number} ms */
export function timestamp(ms) {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/**
 * The answer to a DELETE: the object where its kind says so, else a Status.
 * @param {ResourceDefinition} definition @param {ObjectVersion} last
 */
export function deletedStatus(definition, last) {
  const details = { name: last.name, ...(definition.group ? { group: definition.group } : {}), kind: definition.resource, uid: last.uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
