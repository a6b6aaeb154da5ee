// Parts of objects with an address of their own, beside status: the scale of a workload, and the eviction of a pod.
import { decodeJson } from "./decode.mjs";
import { badRequest, invalid } from "./status.mjs";

/** @typedef {import("./resources.mjs").ResourceDefinition} ResourceDefinition */

const SCALE = { group: "autoscaling", kind: "Scale" };

/** What `scale` shows of a workload. @param {any} object */
export function scaleOf({ metadata, spec, status }) {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const selector = Object.entries(spec?.selector?.matchLabels ?? {}).map(([label, value]) => `${label}=${value}`);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: spec?.replicas ?? 1 },
    status: { replicas: status?.replicas ?? 0, ...(selector.length > 0 ? { selector: selector.join(",") } : {}) },
  };
}

/**
 * The workload with the size that a scale asks for.
 * @param {any} object @param {any} scale
 * @throws {import("./status.mjs").StatusError} 400 for what is no scale of it, 422 for a size that cannot be
 */
export function scaled(object, scale) {
  if (scale?.kind && scale.kind !== "Scale") throw badRequest(`a Scale is wanted, not ${scale.kind}`);
  const { name } = object.metadata;
  const given = scale?.metadata?.name;
  if (given !== name) throw badRequest(`the name of the object (${given ?? ""}) does not match the name on the URL (${name})`);
  const replicas = scale.spec?.replicas ?? 0;
  if (!Number.isInteger(replicas) || replicas < 0) {
    const body = `Invalid value: ${JSON.stringify(replicas)}: must be greater than or equal to 0`;
    throw invalid(SCALE, scale?.metadata?.name ?? "", [{ type: "FieldValueInvalid", field: "spec.replicas", body }]);
  }
  const { resourceVersion, uid } = scale?.metadata ?? {};
  const metadata = { ...object.metadata, resourceVersion, ...(uid ? { uid } : {}) };
  return { ...object, metadata, spec: { ...object.spec, replicas } };
}

/**
 * An eviction as it was sent, and how its pod is deleted.
 * @param {Buffer} body @param {string} name of the pod
 * @returns {Buffer} DeleteOptions
 * @throws {import("./status.mjs").StatusError} 400
 */
export function decodeEviction(body, name) {
  const eviction = decodeJson(body);
  if (eviction?.kind && eviction.kind !== "Eviction") throw badRequest(`an Eviction is wanted, not ${eviction.kind}`);
  if (eviction?.metadata?.name !== name) throw badRequest("name in URL does not match name in Eviction object");
  return Buffer.from(JSON.stringify(eviction.deleteOptions ?? {}));
}

/** The answer to an eviction that is under way. */
export const EVICTED = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
