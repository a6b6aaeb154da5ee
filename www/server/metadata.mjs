// The order in which an API server writes metadata.

/** The fields in the order of the Go type. */
const METADATA_ORDER = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

/**
 * Metadata in that order; whatever else was sent follows.
 * @param {Record<string, any>} given @returns {Record<string, unknown>}
 */
export function inWireOrder(given) {
  /** @type {Record<string, unknown>} */
  const ordered = {};
  for (const field of METADATA_ORDER) if (given[field] !== undefined) ordered[field] = given[field];
  return Object.assign(ordered, { ...given, ...ordered });
}
