/**
 * The resources that are compared: where they live, what is written to them, and which selectors the server knows for them.
 *
 * A trace names namespaces and objects by number. The names appear only when it is played, so the same trace can be played again
 * beside what an earlier one has left.
 * @module
 */

/** How namespaces end. With these, the order of keys depends on what comes after a name: `a-b/x` stands before `a/x`. */
export const NAMESPACES = ["a", "a-b", "b"];

/** Object names of each namespace. */
export const NAMES = ["n", "n-0", "n.1", "n1", "nn", "o"];

const APPS = ["web", "db", "cache"];
const TIERS = ["front", "back"];
const NODES = ["node-1", "node-2"];
const PHASES = ["Pending", "Running", "Succeeded", "Failed"];
const TYPES = ["Opaque", "example.com/one", "example.com/two"];

/**
 * @typedef {object} Kind
 * @property {string} resource plural, as in paths
 * @property {string} kind
 * @property {boolean} namespaced
 * @property {(random: import("./random.mjs").Random) => any} body a new object's own part, without metadata
 * @property {(random: import("./random.mjs").Random) => { patch: any, status?: boolean }} change a merge patch beside the labels
 * @property {(random: import("./random.mjs").Random) => string} field a term of a field selector
 */

const name = (/** @type {import("./random.mjs").Random} */ random) =>
  `metadata.name${random.pick(["=", "==", "!="])}%name:${random.below(NAMES.length)}%`;
const namespace = (/** @type {import("./random.mjs").Random} */ random) =>
  `metadata.namespace${random.pick(["=", "==", "!="])}%namespace:${random.below(NAMESPACES.length)}%`;
const operator = (/** @type {import("./random.mjs").Random} */ random) => random.pick(["=", "==", "!="]);

/** @type {Record<string, Kind>} */
export const KINDS = {
  configmaps: {
    resource: "configmaps",
    kind: "ConfigMap",
    namespaced: true,
    body: (random) => ({ data: { value: String(random.below(100)) } }),
    change: (random) => ({ patch: { data: { value: String(random.below(100)), more: random.pick(['ü\u0000"\\', null, "\u2028"]) } } }),
    field: (random) => random.pick([name, namespace])(random),
  },
  pods: {
    resource: "pods",
    kind: "Pod",
    namespaced: true,
    body: (random) => ({
      spec: {
        ...(random.chance(0.7) && { nodeName: random.pick(NODES) }),
        restartPolicy: random.pick(["Always", "Never"]),
        containers: [{ name: "main", image: "registry.invalid/app:1" }],
      },
    }),
    change: (random) => ({ patch: { status: { phase: random.pick(PHASES) } }, status: true }),
    field: (random) =>
      random.pick([
        name,
        namespace,
        (r) => `status.phase${operator(r)}${r.pick(PHASES)}`,
        (r) => `spec.nodeName${operator(r)}${r.pick([...NODES, ""])}`,
        (r) => `spec.restartPolicy${operator(r)}${r.pick(["Always", "Never"])}`,
      ])(random),
  },
  secrets: {
    resource: "secrets",
    kind: "Secret",
    namespaced: true,
    body: (random) => ({ type: random.pick(TYPES), stringData: { key: String(random.below(100)) } }),
    change: (random) => ({ patch: { stringData: { key: String(random.below(100)) } } }),
    field: (random) => random.pick([name, namespace, (r) => `type${operator(r)}${r.pick(TYPES)}`])(random),
  },
  nodes: {
    resource: "nodes",
    kind: "Node",
    namespaced: false,
    body: () => ({ spec: {} }),
    change: (random) => ({ patch: { metadata: { annotations: { note: String(random.below(100)) } } } }),
    field: (random) => random.pick([name, (r) => `metadata.name!=${r.pick(["zz", "%name:0%"])}`])(random),
  },
};

/** Labels of an object: few keys and values, so that selectors match now and then. @param {import("./random.mjs").Random} random */
export function labels(random) {
  return {
    ...(random.chance(0.8) && { app: random.pick(APPS) }),
    ...(random.chance(0.5) && { tier: random.pick(TIERS) }),
    ...(random.chance(0.4) && { rank: random.pick(["0", "3", "5", "07", "x"]) }),
    ...(random.chance(0.1) && { "example.com/mark": "" }),
  };
}

/** A change of labels, as a merge patch: null removes. @param {import("./random.mjs").Random} random */
export function relabel(random) {
  return {
    ...(random.chance(0.6) && { app: random.pick([...APPS, null]) }),
    ...(random.chance(0.5) && { tier: random.pick([...TIERS, null]) }),
    ...(random.chance(0.3) && { rank: random.pick(["0", "4", "5", "12", null]) }),
  };
}

const REQUIREMENTS = [
  (r) => `app${operator(r)}${r.pick(APPS)}`,
  (r) => `app in (${r.pick(["web", "web,db", " db , cache ", "cache,"])})`,
  (r) => `tier notin (${r.pick(["front", "front,back"])})`,
  (r) => r.pick(["tier", "!tier", "example.com/mark", "!example.com/mark", "example.com/mark="]),
  (r) => `rank${r.pick(["<", ">", " > ", " < "])}${r.between(-3, 8)}`,
];

const WRONG_LABELS = [
  "app=web,",
  "=web",
  "app in ()",
  "app in (web",
  "app=web=db",
  "rank>x",
  "a b",
  "app!=",
  "!",
  "app in (web)(db)",
  "-app",
  "app=-web",
  ",",
  "x/y/z=1",
];
const WRONG_FIELDS = ["metadata.name", "=x", "metadata.name=a\\x", "metadata.name=a=b"];

/** A label selector; now and then one that is none. @param {import("./random.mjs").Random} random */
export function labelSelector(random) {
  if (random.chance(0.04)) return random.pick(WRONG_LABELS);
  return Array.from(
    {
      length: random.weighted([
        [6, 1],
        [3, 2],
        [1, 3],
      ]),
    },
    () => random.pick(REQUIREMENTS)(random),
  ).join(random.pick([",", ", "]));
}

/** A field selector that the server knows for this kind; now and then one that is none. @param {import("./random.mjs").Random} random @param {Kind} kind */
export function fieldSelector(random, kind) {
  if (random.chance(0.04)) return random.pick(WRONG_FIELDS);
  return Array.from(
    {
      length: random.weighted([
        [4, 1],
        [1, 2],
      ]),
    },
    () => kind.field(random),
  ).join(",");
}

/** Where a trace's names become real ones. */
export class Place {
  /** @param {string} prefix of everything that is written */
  constructor(prefix) {
    this.prefix = prefix;
  }

  /** @param {number} index */
  namespace(index) {
    return index < NAMESPACES.length ? `${this.prefix}-${NAMESPACES[index]}` : `${this.prefix}-none`;
  }

  /** Nodes stand in no namespace, so their names carry the prefix. @param {Kind} kind @param {number} index */
  name(kind, index) {
    const own = index < NAMES.length ? NAMES[index] : "none";
    return kind.namespaced ? own : `${this.prefix}-${own}`;
  }

  /** Puts names into a selector. @param {Kind} kind @param {string | undefined} text */
  selector(kind, text) {
    return text
      ?.replace(/%name:(\d+)%/g, (_, index) => this.name(kind, Number(index)))
      .replace(/%namespace:(\d+)%/g, (_, index) => this.namespace(Number(index)));
  }

  /** @param {Kind} kind @param {number | undefined} namespace */
  collection(kind, namespace) {
    return kind.namespaced && namespace !== undefined
      ? `/api/v1/namespaces/${this.namespace(namespace)}/${kind.resource}`
      : `/api/v1/${kind.resource}`;
  }
}
