// Writes: create, update, patch and delete with the checks and the refusals of an API server.
import { randomBytes, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { checkName, checkNamespace, decodeObject } from "./decode.mjs";
import { applyDefaults, sortMaps } from "./defaults.mjs";
import { jsonProblem } from "./json.mjs";
import { managedBy } from "./managed-fields.mjs";
import { jsonPatch, mergePatch, PatchError } from "./patch.mjs";
import { apiVersion, findResourceByName, keyOf } from "./resources.mjs";
import {
  alreadyExists,
  badRequest,
  conflict,
  modified,
  notFound,
  preconditionFailed,
  StatusError,
  unsupportedMediaType,
} from "./status.mjs";
import { timestamp } from "./time.mjs";

/** @typedef {import("./resources.mjs").ResourceDefinition} ResourceDefinition */
/** @typedef {import("./object-version.mjs").ObjectVersion} ObjectVersion */
/** @typedef {import("./path.mjs").ResourcePath} ResourcePath */

const NAME_SUFFIX = "bcdfghjklmnpqrstvwxz2456789";
const JSON_PATCH = "application/json-patch+json";
const PATCH_TYPES = [JSON_PATCH, "application/merge-patch+json", "application/strategic-merge-patch+json"];

/** Metadata that belongs to the server: what a client sends for it is ignored on update. */
const SERVER_METADATA = [
  "namespace",
  "name",
  "uid",
  "creationTimestamp",
  "generateName",
  "generation",
  "deletionTimestamp",
  "managedFields",
];

/** The write half of the API. `manager` is who writes, as managedFields name it. */
export class Writer {
  /** @param {import("./store.mjs").Store} store @param {() => number} now milliseconds, for timestamps */
  constructor(store, now) {
    this.store = store;
    this.now = now;
  }

  /** @param {ResourcePath} path @param {Buffer} body @param {string} manager @returns {ObjectVersion} */
  create({ definition, namespace }, body, manager) {
    const object = decodeObject(body, definition);
    const { metadata } = object;
    checkNamespace(definition, namespace, metadata);
    if (metadata.resourceVersion) throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
    if (!metadata.name && metadata.generateName) metadata.name = metadata.generateName + nameSuffix();
    checkName(definition, metadata.name);
    if (definition.namespaced) {
      const home = /** @type {ResourceDefinition} */ (findResourceByName("namespaces"));
      if (!this.store.table(home).get(keyOf(home, "", metadata.namespace))) throw notFound(home, metadata.namespace);
    }
    const table = this.store.table(definition);
    if (table.get(keyOf(definition, metadata.namespace ?? "", metadata.name))) throw alreadyExists(definition, metadata.name);
    for (const field of ["deletionTimestamp", "managedFields"]) delete metadata[field];
    applyDefaults(definition, object);
    sortMaps(object);
    metadata.managedFields = this.#managed(definition, object, manager, "");
    metadata.uid = randomUUID();
    metadata.creationTimestamp = timestamp(this.now());
    return table.put(object);
  }

  /** @param {ResourcePath} path @param {Buffer} body @param {string} manager @returns {ObjectVersion} */
  update(path, body, manager) {
    const { definition, namespace, name } = path;
    const object = decodeObject(body, definition);
    const { metadata } = object;
    checkNamespace(definition, namespace, metadata);
    if (!metadata.name) throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
    checkSameName(name, metadata.name);
    return this.#replace(path, object, manager);
  }

  /** @param {ResourcePath} path @param {Buffer} body @param {string} contentType @param {string} manager @returns {ObjectVersion} */
  patch(path, body, contentType, manager) {
    const type = contentType.split(";")[0].trim().toLowerCase();
    if (!PATCH_TYPES.includes(type)) throw unsupportedMediaType();
    const before = this.#existing(path).parse();
    let patch;
    try {
      patch = JSON.parse(body.toString());
    } catch (error) {
      throw badRequest(`error decoding patch: ${jsonProblem(body.toString(), error)}`);
    }
    let object;
    try {
      object = type === JSON_PATCH ? jsonPatch(before, patch) : mergePatch(before, patch);
    } catch (error) {
      if (error instanceof PatchError)
        throw new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
      throw badRequest(`error decoding patch: ${/** @type {Error} */ (error).message}`);
    }
    const decoded = decodeObject(Buffer.from(JSON.stringify(object)), path.definition);
    checkSameName(path.name, decoded.metadata.name);
    return this.#replace(path, decoded, manager);
  }

  /**
   * @param {ResourcePath} path
   * @param {Buffer} body DeleteOptions, or nothing. The grace period is not waited for: there is nobody who would end a pod meanwhile.
   * @returns {ObjectVersion} the last content, under the version of the deletion
   */
  remove(path, body) {
    const { definition, name } = path;
    const existing = this.#existing(path);
    const { uid, resourceVersion } = decodeDeleteOptions(body).preconditions ?? {};
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
    if (definition.resource === "pods") this.#markDeleted(existing);
    return /** @type {ObjectVersion} */ (this.store.table(definition).remove(existing.key));
  }

  /** Pods go in two steps even without a grace period: whoever watches sees that they are about to. @param {ObjectVersion} existing */
  #markDeleted(existing) {
    const pod = existing.parse();
    if (pod.metadata.deletionTimestamp) return;
    if (pod.metadata.generation) pod.metadata.generation += 1;
    Object.assign(pod.metadata, { deletionTimestamp: timestamp(this.now()), deletionGracePeriodSeconds: 0 });
    this.store.table(existing.definition).put(pod);
  }

  /** @param {ResourcePath} path @returns {ObjectVersion} */
  #existing({ definition, namespace, name }) {
    const found = this.store.table(definition).get(keyOf(definition, namespace, name));
    if (!found) throw notFound(definition, name);
    return found;
  }

  /** @param {ResourcePath} path @param {any} object whole, with its metadata @param {string} manager */
  #replace(path, object, manager) {
    const { definition, name, subresource } = path;
    const existing = this.#existing(path);
    const before = existing.parse();
    const { uid, resourceVersion } = object.metadata;
    if (uid && uid !== existing.uid) {
      const storage = `StorageError: invalid object, Code: 4, Key: /registry/${definition.resource}${existing.key}, ResourceVersion: 0, AdditionalErrorMsg: `;
      throw conflict(definition, name, `${storage}Precondition failed: UID in precondition: ${uid}, UID in object meta: ${existing.uid}`);
    }
    if (resourceVersion && !/^[0-9]+$/.test(resourceVersion)) {
      throw new StatusError(500, "", `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
    }
    if (resourceVersion && resourceVersion !== String(existing.version)) throw modified(definition, name);
    const after =
      subresource === "status" ? { ...before, status: object.status ?? before.status } : this.#merged(definition, before, object);
    // A write that changes nothing makes no new version.
    if (isDeepStrictEqual(before, after)) return existing;
    const own = this.#managed(definition, after, manager, subresource);
    const others = (before.metadata.managedFields ?? []).filter(
      (/** @type {any} */ other) => other.manager !== manager || (other.subresource ?? "") !== subresource,
    );
    after.metadata = { ...after.metadata, managedFields: [...others, ...own] };
    return this.store.table(definition).put(after);
  }

  /** What a client may change, over what belongs to the server. @param {ResourceDefinition} definition @param {any} before @param {any} object */
  #merged(definition, before, object) {
    const after = { ...object, kind: before.kind, apiVersion: before.apiVersion, metadata: { ...object.metadata } };
    if (definition.status) after.status = before.status;
    for (const field of [...SERVER_METADATA, "resourceVersion"]) {
      if (before.metadata[field] === undefined) delete after.metadata[field];
      else after.metadata[field] = before.metadata[field];
    }
    sortMaps(after);
    if (before.metadata.generation && !isDeepStrictEqual(before.spec, after.spec)) after.metadata.generation += 1;
    return after;
  }

  /**
   * The writer's entry in managedFields, if it wrote anything: all of it. Conflicts of ownership are not kept track of.
   * @param {ResourceDefinition} definition @param {any} object @param {string} manager @param {string} subresource
   */
  #managed(definition, object, manager, subresource) {
    const { kind: _kind, apiVersion: _apiVersion, metadata, status, ...rest } = object;
    // The finalizers of a namespace are the server's.
    if (definition.resource === "namespaces") delete rest.spec;
    const own = Object.fromEntries(
      ["labels", "annotations", "ownerReferences"].filter((field) => metadata[field]).map((field) => [field, metadata[field]]),
    );
    const parts = subresource ? { status: status ?? {} } : { ...(Object.keys(own).length > 0 ? { metadata: own } : {}), ...rest };
    if (Object.keys(parts).length === 0) return [];
    return [
      managedBy(
        { manager, apiVersion: apiVersion(definition), time: timestamp(this.now()), ...(subresource ? { subresource } : {}) },
        parts,
      ),
    ];
  }
}

/** @param {Buffer} body @returns {{ preconditions?: { uid?: string, resourceVersion?: string } }} */
function decodeDeleteOptions(body) {
  if (body.length === 0) return {};
  try {
    return JSON.parse(body.toString()) ?? {};
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${jsonProblem(body.toString(), error)}`);
  }
}

/** @param {string} wanted @param {unknown} given */
function checkSameName(wanted, given) {
  if (given !== wanted) throw badRequest(`the name of the object (${given ?? ""}) does not match the name on the URL (${wanted})`);
}

function nameSuffix() {
  return [...randomBytes(5)].map((byte) => NAME_SUFFIX[byte % NAME_SUFFIX.length]).join("");
}

/**
 * The answer to a DELETE of a kind that does not give back its object.
 * @param {ResourceDefinition} definition @param {ObjectVersion} last
 */
export function deletedStatus(definition, last) {
  const details = { name: last.name, ...(definition.group ? { group: definition.group } : {}), kind: definition.resource, uid: last.uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
