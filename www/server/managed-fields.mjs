// managedFields as a server keeps them: who set which field. They are a third of a real object's bytes.

/** Lists whose items are told apart by some of their fields. */
const LIST_KEYS = /** @type {Record<string, readonly string[] | readonly string[][]>} */ ({
  addresses: ["type"],
  conditions: ["type"],
  containers: ["name"],
  env: ["name"],
  hostIPs: ["ip"],
  imagePullSecrets: ["name"],
  initContainers: ["name"],
  ownerReferences: ["uid"],
  podIPs: ["ip"],
  ports: [
    ["containerPort", "protocol"],
    ["port", "protocol"],
  ],
  topologySpreadConstraints: ["topologyKey", "whenUnsatisfiable"],
  volumeMounts: ["mountPath"],
  volumes: ["name"],
});

/** Fields that are always there, and so nobody's own beside what is in them. */
const ALWAYS_THERE = new Set(["containers", "metadata", "resources", "spec", "status", "strategy", "template"]);

/** @param {string} name of a field */
export const isAlwaysThere = (name) => ALWAYS_THERE.has(name);

/** Parts of an object that may be missing, and are owned beside what is in them. */
const MAPS = new Set(["data", "binaryData", "stringData"]);

/** Fields that are owned as a whole, whatever is in them. */
const ATOMIC = new Set(["selector", "nodeSelector", "fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "involvedObject"]);

/** @param {string} name of a field */
export const isAtomic = (name) => ATOMIC.has(name);

/**
 * What tells the items of a list apart.
 * @param {string} name of the field @param {any[]} items
 * @returns {Record<string, unknown>[] | undefined} one for each item, undefined where the list is one whole
 */
export function itemKeys(name, items) {
  const known = LIST_KEYS[name];
  if (!known) return undefined;
  const choices = /** @type {string[][]} */ (Array.isArray(known[0]) ? known : [known]);
  const keys = choices.find((choice) => items.every((item) => choice.every((key) => item?.[key] !== undefined)));
  return keys && items.map((item) => Object.fromEntries(keys.map((key) => [key, item[key]])));
}

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
    const keys = itemKeys(name, value);
    if (!keys) return {};
    /** @type {Record<string, unknown>} */
    const fields = ALWAYS_THERE.has(name) ? {} : { ".": {} };
    for (const [index, key] of keys.entries()) fields[`k:${JSON.stringify(key)}`] = fieldsV1(value[index], true);
    return fields;
  }
  if (!isAtomic(name) && typeof value === "object" && value !== null && Object.keys(value).length > 0)
    return fieldsV1(value, !ALWAYS_THERE.has(name));
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
  for (const [part, value] of Object.entries(parts)) {
    const isWhole = typeof value !== "object" || Array.isArray(value) || isAtomic(part);
    fields[`f:${part}`] = isWhole ? fieldOf(part, value) : fieldsV1(value, MAPS.has(part));
  }
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
