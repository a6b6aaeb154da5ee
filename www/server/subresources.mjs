// Parts of objects with an address of their own, beside status: the scale of a workload, and the eviction of a pod.
import { cannotHandle, decodeJson, takeFields } from "./decode.mjs";
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
    spec: spec?.replicas === 0 ? {} : { replicas: spec?.replicas ?? 1 },
    status: { replicas: status?.replicas ?? 0, ...(selector.length > 0 ? { selector: selector.join(",") } : {}) },
  };
}

/**
 * A scale as it was sent.
 * @param {any} document @param {(problem: string) => import("./status.mjs").StatusError} [refuse] a value of another type
 * @throws {import("./status.mjs").StatusError} 400
 */
export function takeScale(document, refuse = cannotHandle({ kind: "Scale", version: "v1" })) {
  if (document.kind && document.kind !== "Scale") throw badRequest(`a Scale is wanted, not ${document.kind}`);
  return takeFields("autoscaling/v1.Scale", document, refuse);
}

/**
 * The workload with the size that a scale asks for.
 * @param {any} object @param {any} scale
 * @throws {import("./status.mjs").StatusError} 400 for the scale of another, 422 for a size that cannot be
 */
export function scaled(object, scale) {
  const { name } = object.metadata;
  const given = scale.metadata?.name;
  if (given !== name) throw badRequest(`the name of the object (${given ?? ""}) does not match the name on the URL (${name})`);
  const replicas = scale.spec?.replicas ?? 0;
  if (replicas < 0) {
    const body = `Invalid value: ${JSON.stringify(replicas)}: must be greater than or equal to 0`;
    throw invalid(SCALE, name, [{ type: "FieldValueInvalid", field: "spec.replicas", body }]);
  }
  const { resourceVersion, uid } = scale.metadata;
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
  const eviction = takeFields("policy/v1.Eviction", decodeJson(body), cannotHandle({ kind: "Eviction", version: "v1" }));
  if (eviction.kind && eviction.kind !== "Eviction") throw badRequest(`an Eviction is wanted, not ${eviction.kind}`);
  if (eviction.metadata?.name !== name) throw badRequest("name in URL does not match name in Eviction object");
  return Buffer.from(JSON.stringify(eviction.deleteOptions ?? {}));
}

/** The answer to an eviction that is under way. */
export const EVICTED = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
