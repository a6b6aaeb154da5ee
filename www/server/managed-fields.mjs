// managedFields as a server keeps them: who set which field. They are a third of a real object's bytes.

/** Lists whose items are told apart by some of their fields. */
const LIST_KEYS = /** @type {Record<string, readonly string[]>} */ ({
  addresses: ["type"],
  conditions: ["type"],
  containers: ["name"],
  env: ["name"],
  hostIPs: ["ip"],
  imagePullSecrets: ["name"],
  initContainers: ["name"],
  ownerReferences: ["uid"],
  podIPs: ["ip"],
  ports: ["containerPort", "protocol"],
  topologySpreadConstraints: ["topologyKey", "whenUnsatisfiable"],
  volumeMounts: ["mountPath"],
  volumes: ["name"],
});

/**
 * The FieldsV1 tree of a value.
 * @param {any} value an object
 * @param {boolean} [own] whether the tree says that the value itself is set, too
 * @returns {Record<string, unknown>}
 */
export function fieldsV1(value, own = false) {
  /** @type {Record<string, unknown>} */
  const fields = own ? { ".": {} } : {};
  for (const key of Object.keys(value).sort()) fields[`f:${key}`] = fieldOf(key, value[key]);
  return fields;
}

/** @param {string} name @param {any} value @returns {Record<string, unknown>} */
function fieldOf(name, value) {
  if (Array.isArray(value)) {
    const keys = LIST_KEYS[name];
    if (!keys || value.some((item) => keys.some((key) => item[key] === undefined))) return {};
    /** @type {Record<string, unknown>} */
    const fields = { ".": {} };
    for (const item of value) fields[`k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, item[key]])))}`] = fieldsV1(item, true);
    return fields;
  }
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) return fieldsV1(value, true);
  return {};
}

/**
 * One entry.
 * @param {{ manager: string, apiVersion: string, time: string, subresource?: string }} who
 * @param {Record<string, any>} parts what they set: top-level parts of the object
 */
export function managedBy({ manager, apiVersion, time, subresource }, parts) {
  /** @type {Record<string, unknown>} */
  const fields = {};
  for (const [part, value] of Object.entries(parts)) fields[`f:${part}`] = fieldsV1(value);
  return {
    manager,
    operation: "Update",
    apiVersion,
    time,
    fieldsType: "FieldsV1",
    fieldsV1: fields,
    ...(subresource ? { subresource } : {}),
  };
}
