// Writes: create, update, patch and delete with the checks and the refusals of an API server.
import { randomBytes, randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { applied, ownerOfApplied, ownersAfterUpdate } from "./apply.mjs";
import {
  cannotHandle,
  checkLabels,
  checkName,
  checkNamespace,
  decodeJson,
  decodeObject,
  takeFields,
  typedOr,
  typeProblem,
} from "./decode.mjs";
import { applyDefaults, completeSpec, sortMaps } from "./defaults.mjs";
import { jsonType, quote } from "./json.mjs";
import { selects } from "./list.mjs";
import { managedBy } from "./managed-fields.mjs";
import { documentOf } from "./object-version.mjs";
import { APPLY_PATCH, appliedProblem, applyPatch, decodeApplied, kindText, patchType } from "./patch-request.mjs";
import { apiVersion, findResourceByName, keyOf } from "./resources.mjs";
import { alreadyExists, badRequest, conflict, invalid, modified, notFound, preconditionFailed, StatusError } from "./status.mjs";
import { scaled, scaleOf, takeScale } from "./subresources.mjs";
import { timestamp } from "./time.mjs";
import { typed } from "./types/typed.mjs";
import { typeOf } from "./types/types.mjs";

/** @typedef {import("./resources.mjs").ResourceDefinition} ResourceDefinition */
/** @typedef {import("./object-version.mjs").ObjectVersion} ObjectVersion */
/** @typedef {import("./path.mjs").ResourcePath} ResourcePath */

/**
 * What a write says beside its body.
 * @typedef {object} Said
 * @property {string} manager who writes, as managedFields name it
 * @property {boolean} dryRun whether nothing is kept
 * @property {boolean} force whether an apply takes over what others have set
 * @property {"Ignore" | "Warn" | "Strict"} validation what becomes of fields that the type does not have
 * @property {string[]} warnings for who writes; filled while it is done
 */

/**
 * What a write leaves, or would leave.
 * @typedef {{ document(): Buffer, parse(): any }} Left
 */

const NAME_SUFFIX = "bcdfghjklmnpqrstvwxz2456789";
const VALIDATIONS = ["", "Ignore", "Strict", "Warn"];

/** What is set after whoever makes an object has been written down. */
const ADMITTED = new Set([
  "clusterIP",
  "clusterIPs",
  "ipFamilies",
  "ipFamilyPolicy",
  "preemptionPolicy",
  "priority",
  "taints",
  "tolerations",
]);

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
  "resourceVersion",
];

/** The write half of the API. */
export class Writer {
  /** @param {import("./store.mjs").Store} store @param {() => number} now milliseconds, for timestamps */
  constructor(store, now) {
    this.store = store;
    this.now = now;
  }

  /** @param {ResourcePath} path @param {Buffer} body @param {Said} said @returns {Left} */
  create(path, body, said) {
    const { definition } = path;
    const object = takeFields(nameOfType(definition), decodeObject(body, definition), cannotHandle(definition), said);
    object.metadata ??= {};
    return this.#create(path, object, said);
  }

  /**
   * @param {ResourcePath} path @param {any} object @param {Said} said
   * @param {any} [owner] the entry of who applies it
   * @returns {Left}
   */
  #create({ definition, namespace }, object, said, owner) {
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
    const given = { ...object.spec };
    applyDefaults(definition, object);
    sortMaps(object);
    checkLabels(definition, metadata);
    setOwners(metadata, owner ? [owner] : this.#managed(definition, object, said.manager, given));
    metadata.uid = randomUUID();
    metadata.creationTimestamp = timestamp(this.now());
    return this.#store(definition, object, said);
  }

  /** @param {ResourceDefinition} definition @param {any} object @param {Said} said @returns {Left} */
  #store(definition, object, { dryRun }) {
    return dryRun ? { document: () => documentOf(definition, object), parse: () => object } : this.store.table(definition).put(object);
  }

  /** @param {ResourcePath} path @param {Buffer} body @param {Said} said @returns {Left} */
  update(path, body, said) {
    const { definition, namespace, name, subresource } = path;
    if (subresource === "scale") return this.#replace(path, scaled(this.#existing(path).parse(), takeScale(decodeJson(body))), said);
    const object = takeFields(nameOfType(definition), decodeObject(body, definition), cannotHandle(definition), said);
    return this.#updated(path, object, said);
  }

  /** @param {ResourcePath} path @param {any} object with values of its type @param {Said} said @returns {Left} */
  #updated(path, object, said) {
    const { definition, namespace, name } = path;
    const metadata = (object.metadata ??= {});
    checkNamespace(definition, namespace, metadata);
    if (!metadata.name) throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
    checkSameName(name, metadata.name);
    return this.#replace(path, object, said);
  }

  /**
   * @param {ResourcePath} path @param {Buffer} body @param {string} contentType @param {Said} said
   * @returns {{ left: Left, isNew: boolean }} an apply makes the object where it is missing
   */
  patch(path, body, contentType, said) {
    const type = patchType(contentType);
    const { definition, subresource } = path;
    if (type === APPLY_PATCH && subresource !== "scale") return this.#apply(path, decodeApplied(body, definition), said);
    const existing = this.#existing(path).parse();
    if (subresource === "scale") {
      const { document, refuse } = applyPatch(type, body, scaleOf(existing), "autoscaling/v1.Scale");
      return { left: this.#replace(path, scaled(existing, takeScale(document, refuse)), said), isNew: false };
    }
    const { document, refuse } = applyPatch(type, body, existing, nameOfType(definition));
    const problem = typeProblem(document, definition);
    if (problem) throw refuse(problem);
    return { left: this.#updated(path, takeFields(nameOfType(definition), document, refuse, said), said), isNew: false };
  }

  /** @param {ResourcePath} path @param {any} wanted of the kind @param {Said} said */
  #apply(path, wanted, said) {
    const { definition, namespace, name, subresource } = path;
    const { apiVersion: version, kind } = wanted;
    const [home, itself] = [wanted.metadata?.namespace, wanted.metadata?.name].map((text) => (typeof text === "string" ? text : ""));
    const about = `${home}/${itself}; ${kindText(version, kind)}`;
    const refuse = (/** @type {string} */ problem) =>
      new StatusError(500, "", `failed to create typed patch object (${about}): ${problem}`);
    // An apply is strict whatever it says.
    const { unknown } = typedOr(nameOfType(definition), wanted, (_message, problem) => refuse(appliedProblem(problem)));
    if (unknown.length > 0) throw refuse(`.${unknown[0]}: field not declared in schema`);
    const metadata = (wanted.metadata ??= {});
    if (metadata.managedFields?.length > 0) throw badRequest("metadata.managedFields must be nil");
    metadata.name ??= name;
    checkSameName(name, metadata.name);
    checkNamespace(definition, namespace, metadata);
    // Status and the rest are written apart, and nobody owns what an apply says of the other one.
    if (definition.status) delete wanted[subresource === "status" ? "spec" : "status"];
    // The protocol is a part of what tells ports apart, and it may be left out.
    for (const ports of portsOf(wanted)) for (const port of ports) port.protocol ??= "TCP";
    const who = this.#who(definition, said.manager, subresource);
    const found = subresource ? this.#existing(path) : this.store.table(definition).get(keyOf(definition, namespace, name));
    const asTyped = (/** @type {any} */ object) => typed(nameOfType(definition), object).object;
    if (!found) return { left: this.#create(path, asTyped(wanted), said, ownerOfApplied(wanted, who)), isNew: true };
    const merged = applied(found.parse(), wanted, who, said.force);
    const { managedFields, ...own } = merged.metadata;
    const object = asTyped({ ...merged, metadata: { ...own, resourceVersion: metadata.resourceVersion ?? "" } });
    return { left: this.#replace(path, object, said, managedFields), isNew: false };
  }

  /**
   * @param {ResourcePath} path
   * @param {Buffer} body DeleteOptions, or nothing. The grace period is not waited for: there is nobody who would end a pod meanwhile.
   * @param {boolean} dryRun whether nothing is deleted; the body may say so, too
   * @returns {ObjectVersion} the last content, under the version of the deletion
   */
  remove(path, body, dryRun) {
    const { definition, name } = path;
    const existing = this.#existing(path);
    const options = takeFields("meta/v1.DeleteOptions", decodeJson(body), badRequest);
    const { uid, resourceVersion } = options.preconditions ?? {};
    if (uid !== undefined && uid !== existing.uid) {
      const why = `the UID in the precondition (${uid}) does not match the UID in record (${existing.uid}). The object might have been deleted and then recreated`;
      throw preconditionFailed(definition, name, why);
    }
    if (resourceVersion !== undefined && resourceVersion !== String(existing.version)) {
      const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${existing.version}). The object might have been modified`;
      throw preconditionFailed(definition, name, why);
    }
    if (dryRun || isDryRun(options.dryRun)) return existing;
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

  /**
   * Deletes what a list of these options would hold.
   * @param {ResourcePath} path @param {import("./query.mjs").ListOptions} options @param {Buffer} body @param {boolean} dryRun
   * @returns {ObjectVersion[]} as they were
   */
  removeAll(path, options, body, dryRun) {
    const { definition, namespace } = path;
    const all = this.store
      .table(definition)
      .snapshot(this.store.revision)
      .range(namespace ? `/${namespace}/` : "/");
    const chosen = [...all].filter((object) => selects(options, object));
    for (const { name } of chosen) this.remove({ ...path, name }, body, dryRun);
    return chosen;
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

  /**
   * @param {ResourcePath} path @param {any} object whole, with its metadata @param {Said} said
   * @param {any[]} [owners] its managedFields; without them who writes owns what it changes
   * @returns {Left}
   */
  #replace(path, object, said, owners) {
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
    const after = subresource === "status" ? this.#withStatus(definition, before, object) : this.#merged(definition, before, object);
    checkLabels(definition, after.metadata);
    // A write that changes nothing makes no new version.
    if (isDeepStrictEqual(before, after) && (!owners || isDeepStrictEqual(before.metadata.managedFields, owners))) return existing;
    setOwners(after.metadata, owners ?? ownersAfterUpdate(before, after, this.#who(definition, said.manager, subresource)));
    return this.#store(definition, after, said);
  }

  /** What a client may change, over what belongs to the server. @param {ResourceDefinition} definition @param {any} before @param {any} object */
  #merged(definition, before, object) {
    const after = { ...object, kind: before.kind, apiVersion: before.apiVersion, metadata: { ...object.metadata } };
    if (definition.status) after.status = before.status;
    keepMetadata(before, after, SERVER_METADATA);
    completeSpec(definition, after);
    sortMaps(after);
    if (before.metadata.generation && !isDeepStrictEqual(before.spec, after.spec)) after.metadata.generation += 1;
    return after;
  }

  /** The status that a client sets, and metadata with it. @param {ResourceDefinition} definition @param {any} before @param {any} object */
  #withStatus(definition, before, object) {
    const status = object.status ?? structuredClone(definition.empty.status);
    if (definition.resource === "pods") status.qosClass ||= before.status?.qosClass;
    const after = { ...before, metadata: { ...object.metadata }, status };
    keepMetadata(before, after, [...SERVER_METADATA, ...definition.statusKeeps]);
    sortMaps(after);
    return after;
  }

  /** Who writes, as managedFields say it. @param {ResourceDefinition} definition @param {string} manager @param {string} subresource */
  #who(definition, manager, subresource) {
    const part = subresource === "status" ? { subresource } : {};
    return { manager, apiVersion: apiVersion(definition), time: timestamp(this.now()), ...part };
  }

  /**
   * The entry in managedFields of who makes an object: all of it.
   * @param {ResourceDefinition} definition @param {any} object @param {string} manager @param {any} given its spec as it was sent
   */
  #managed(definition, object, manager, given) {
    const { kind: _kind, apiVersion: _apiVersion, metadata, status: _status, ...rest } = object;
    // The finalizers of a namespace are the server's, and so is what it adds on its own.
    if (definition.resource === "namespaces") delete rest.spec;
    if (["pods", "services", "nodes"].includes(definition.resource))
      rest.spec = Object.fromEntries(Object.entries(rest.spec).filter(([field]) => !ADMITTED.has(field) || given?.[field] !== undefined));
    const own = Object.fromEntries(
      ["labels", "annotations", "ownerReferences"].filter((field) => metadata[field]).map((field) => [field, metadata[field]]),
    );
    // Nobody owns the zero values that the server writes.
    const isEmpty = (/** @type {any} */ value) =>
      value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
    const set = Object.entries(rest).filter(([, value]) => !isEmpty(value));
    const parts = { ...(Object.keys(own).length > 0 ? { metadata: own } : {}), ...Object.fromEntries(set) };
    if (Object.keys(parts).length === 0) return [];
    return [managedBy({ manager, apiVersion: apiVersion(definition), time: timestamp(this.now()) }, parts)];
  }
}

/** The name of the type of a resource's objects. @param {ResourceDefinition} definition */
const nameOfType = (definition) => /** @type {string} */ (typeOf(apiVersion(definition), definition.kind));

/** @param {any} metadata changed in place @param {any[]} owners nobody: there is no such field */
function setOwners(metadata, owners) {
  if (owners.length > 0) metadata.managedFields = owners;
  else delete metadata.managedFields;
}

/** @param {any} before @param {any} after changed in place: its metadata has these fields as before @param {readonly string[]} fields */
function keepMetadata(before, after, fields) {
  for (const field of fields) {
    if (before.metadata[field] === undefined) delete after.metadata[field];
    else after.metadata[field] = before.metadata[field];
  }
}

/** The lists of ports in an object. @param {any} object @returns {any[][]} */
function portsOf({ spec }) {
  const pods = [spec, spec?.template?.spec];
  const containers = pods.flatMap((pod) => [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])]);
  return [spec, ...containers]
    .map((holder) => holder?.ports)
    .filter(Array.isArray)
    .map((ports) => ports.filter(Boolean));
}

/**
 * Whether nothing is to be kept. There is one word for how.
 * @param {unknown} stages
 * @throws {StatusError} 400, and 422 for another word
 */
export function isDryRun(stages) {
  if (stages !== undefined && stages !== null && !Array.isArray(stages))
    throw badRequest(`json: cannot unmarshal ${jsonType(stages)} into Go struct field DeleteOptions.dryRun of type []string`);
  const given = stages ?? [];
  const unknown = given.find((stage) => stage !== "All");
  if (unknown !== undefined) {
    const body = `Unsupported value: ${JSON.stringify(unknown)}: supported values: "All"`;
    throw invalid({ group: "meta.k8s.io", kind: "CreateOptions" }, "", [{ type: "FieldValueNotSupported", field: "dryRun", body }]);
  }
  return given.length > 0;
}

/**
 * What a write says in its query.
 * @param {URLSearchParams} query @param {string} agent who writes where nothing else is said
 * @param {string} contentType of a patch; "" for any other write
 * @returns {Said}
 * @throws {StatusError} 422
 */
export function decodeSaid(query, agent, contentType) {
  const manager = query.get("fieldManager") || agent;
  if (contentType.startsWith(APPLY_PATCH) && !query.get("fieldManager")) {
    const body = "Required value: is required for apply patch";
    throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [{ type: "FieldValueRequired", field: "fieldManager", body }]);
  }
  const validation = query.get("fieldValidation") ?? "";
  if (!VALIDATIONS.includes(validation)) {
    const body = `Unsupported value: ${quote(validation)}: supported values: ${VALIDATIONS.map(quote).join(", ")}`;
    throw invalid({ group: "meta.k8s.io", kind: contentType ? "PatchOptions" : "CreateOptions" }, "", [
      { type: "FieldValueNotSupported", field: "fieldValidation", body },
    ]);
  }
  return {
    manager,
    dryRun: isDryRun(query.getAll("dryRun").filter(Boolean)),
    force: query.get("force") === "true",
    validation: /** @type {Said["validation"]} */ (validation || "Warn"),
    warnings: [],
  };
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
