/**
 * Makes a trace: what is written, and what is asked in between. A trace is plain JSON; versions stand in it as names of writes, so that
 * it can be played again, and with steps left out.
 * @module
 */
import { Random } from "./random.mjs";
import { KINDS, NAMES, NAMESPACES, fieldSelector, labelSelector, labels, relabel } from "./resources.mjs";

/**
 * A resource version, by name:
 * - `{ text }` as it stands; `{}` is unset
 * - `{ write, plus? }` that of a write, or so many more
 * - `{ ahead }` so far beyond everything that it is never reached
 * @typedef {{ text?: string, write?: number, plus?: number, ahead?: number }} VersionName
 */

/**
 * @typedef {object} Write
 * @property {"write"} step
 * @property {number} id
 * @property {"create" | "update" | "delete"} verb
 * @property {string} kind
 * @property {number} [namespace]
 * @property {number} name
 * @property {any} [body] of a new object, or a merge patch
 * @property {boolean} [status] the patch goes to the status
 */

/**
 * A list, a get, or one more page of an earlier list, whose token may be the other side's.
 * @typedef {object} Ask
 * @property {"list" | "get" | "page"} step
 * @property {number} id
 * @property {string} kind
 * @property {number} [namespace]
 * @property {number} [name]
 * @property {string} [labelSelector]
 * @property {string} [fieldSelector]
 * @property {VersionName} [version]
 * @property {string} [match]
 * @property {number} [limit]
 * @property {number} [of] the list or page that a page goes on from
 * @property {"own" | "other"} [token]
 * @property {string} [text] a token as it stands, in place of one that was given out
 */

/**
 * @typedef {object} Watch
 * @property {"watch"} step
 * @property {number} id
 * @property {string} kind
 * @property {number} [namespace]
 * @property {string} [labelSelector]
 * @property {string} [fieldSelector]
 * @property {VersionName} [version]
 * @property {string} [match]
 * @property {boolean} [initial] sendInitialEvents
 * @property {boolean} [bookmarks]
 * @property {number} [timeout] seconds
 */

/** @typedef {{ step: "open" } | { step: "restart" } | { step: "compact" } | { step: "end", of: number } | Write | Ask | Watch} Step */
/** @typedef {{ seed: number, window?: number, steps: Step[] }} Trace */

/** Tokens that are none, or that point where no list led. */
const TOKENS = [
  "??",
  "e30",
  token({ v: "v1", rv: 1, start: "a" }),
  token({ v: "meta.k8s.io/v1", rv: 0, start: "a" }),
  token({ v: "meta.k8s.io/v1", rv: 1, start: "" }),
  token({ v: "meta.k8s.io/v1", rv: 1, start: "../a" }),
  token({ v: "meta.k8s.io/v1", rv: -1, start: "a\0" }),
];

/** @param {object} content */
function token(content) {
  return Buffer.from(JSON.stringify(content).replace(/\0/g, "\\u0000")).toString("base64url");
}

class Generator {
  /** @type {Step[]} */
  steps = [];
  /** What exists, as `kind/namespace/name`. @type {Set<string>} */
  #exists = new Set();
  /** @type {Write[]} */
  #writes = [];
  /** Lists that may have more. @type {Ask[]} */
  #lists = [];
  /** Watches that are open. @type {Watch[]} */
  #watches = [];
  #id = 0;

  /** @param {Random} random */
  constructor(random) {
    this.random = random;
  }

  write() {
    const r = this.random;
    const kind = r.weighted([
      [3, "pods"],
      [3, "configmaps"],
      [2, "secrets"],
      [1, "nodes"],
    ]);
    const namespace = KINDS[kind].namespaced ? r.below(NAMESPACES.length) : undefined;
    const name = r.below(NAMES.length);
    const key = `${kind}/${namespace}/${name}`;
    const at = { step: /** @type {const} */ ("write"), id: this.#id++, kind, namespace, name };
    /** @type {Write} */
    let write;
    if (!this.#exists.has(key)) {
      write = { ...at, verb: "create", body: { metadata: { labels: labels(r) }, ...KINDS[kind].body(r) } };
      this.#exists.add(key);
    } else if (r.chance(0.25)) {
      write = { ...at, verb: "delete" };
      this.#exists.delete(key);
    } else if (r.chance(0.5)) {
      write = { ...at, verb: "update", body: { metadata: { labels: relabel(r) } } };
    } else {
      const { patch, status } = KINDS[kind].change(r);
      write = { ...at, verb: "update", body: patch, ...(status && { status }) };
    }
    this.#writes.push(write);
    this.steps.push(write);
  }

  /** @param {string} kind @returns {VersionName} */
  #version(kind) {
    const r = this.random;
    // Mostly versions of the same resource, mostly recent ones: there the two windows overlap.
    const own = this.#writes.filter((write) => write.kind === kind);
    const recent = (/** @type {Write[]} */ list) => list[list.length - 1 - Math.floor(r.next() ** 2 * list.length)];
    return r.weighted([
      [4, () => ({})],
      [4, () => ({ text: "0" })],
      [10, () => ({ write: (recent(own) ?? recent(this.#writes)).id })],
      [2, () => ({ write: recent(this.#writes).id, plus: r.pick([-1, 1]) })],
      [1, () => ({ text: String(r.between(1, 9)) })],
      [0.35, () => ({ ahead: 1_000_000 })],
      [0.4, () => ({ text: r.pick(["abc", "-1", "1.5", " ", "0x10", "99999999999999999999"]) })],
    ])();
  }

  /** @param {string} kind */
  #scope(kind) {
    const r = this.random;
    const namespaced = KINDS[kind].namespaced;
    return {
      ...(namespaced &&
        r.chance(0.6) && {
          namespace: r.weighted([
            [12, r.below(NAMESPACES.length)],
            [1, NAMESPACES.length],
          ]),
        }),
      ...(r.chance(0.4) && { labelSelector: labelSelector(r) }),
      ...(r.chance(0.3) && { fieldSelector: fieldSelector(r, KINDS[kind]) }),
    };
  }

  ask() {
    const r = this.random;
    const kind = r.pick(Object.keys(KINDS));
    const id = this.#id++;
    if (this.#lists.length > 0 && r.chance(0.3)) {
      const of = this.#lists[this.#lists.length - 1 - r.below(Math.min(6, this.#lists.length))];
      /** @type {Ask} */
      const page = { ...of, step: "page", id, of: of.id, token: r.pick(/** @type {const} */ (["own", "other"])) };
      delete page.match;
      delete page.version;
      delete page.text;
      if (r.chance(0.1)) page.limit = undefined;
      if (r.chance(0.05)) page.version = r.pick([{ text: "0" }, { text: "5" }]);
      if (r.chance(0.05)) page.match = r.pick(["Exact", "NotOlderThan"]);
      if (r.chance(0.05)) page.text = r.pick(TOKENS);
      this.#lists.push(page);
      this.steps.push(page);
      return;
    }
    if (r.chance(0.2)) {
      const namespace = KINDS[kind].namespaced ? r.below(NAMESPACES.length) : undefined;
      const name = r.weighted([
        [10, r.below(NAMES.length)],
        [1, NAMES.length],
      ]);
      this.steps.push({ step: "get", id, kind, namespace, name, version: this.#version(kind) });
      return;
    }
    /** @type {Ask} */
    const list = { step: "list", id, kind, ...this.#scope(kind), version: this.#version(kind) };
    if (r.chance(0.45))
      list.match = r.weighted([
        [5, "Exact"],
        [4, "NotOlderThan"],
        [0.3, "Newest"],
      ]);
    // A match needs a version; that the server says so is worth asking only now and then.
    if (list.match && Object.keys(list.version ?? {}).length === 0 && r.chance(0.85)) delete list.match;
    if (r.chance(0.5))
      list.limit = r.weighted([
        [6, r.between(1, 6)],
        [1, 500],
        [0.3, -1],
        [0.3, 0],
      ]);
    if (list.limit !== undefined && list.limit > 0) this.#lists.push(list);
    this.steps.push(list);
  }

  watch() {
    const r = this.random;
    const kind = r.pick(Object.keys(KINDS));
    /** @type {Watch} */
    const watch = { step: "watch", id: this.#id++, kind, ...this.#scope(kind), version: this.#version(kind) };
    if (r.chance(0.45)) watch.initial = r.chance(0.6);
    if (watch.initial !== undefined ? r.chance(0.96) : r.chance(0.03))
      watch.match = r.weighted([
        [20, "NotOlderThan"],
        [1, "Exact"],
      ]);
    if (r.chance(0.5)) watch.bookmarks = true;
    if (r.chance(0.1)) watch.timeout = r.between(1, 2);
    this.#watches.push(watch);
    this.steps.push(watch);
  }

  /** Ends the oldest watches until so many are left. @param {number} keep */
  end(keep) {
    while (this.#watches.length > keep) this.steps.push({ step: "end", of: /** @type {Watch} */ (this.#watches.shift()).id });
  }
}

/**
 * @param {number} seed
 * @param {{ phases?: number }} [size]
 * @returns {Trace}
 */
export function generate(seed, { phases = 6 } = {}) {
  const random = new Random(seed);
  const generator = new Generator(random);
  const { steps } = generator;
  for (let i = random.between(10, 40); i > 0; i--) generator.write();
  // Now and then the server's window begins where ours does, and now and then etcd forgets what was before.
  if (random.chance(0.3)) steps.push({ step: "restart" });
  if (random.chance(0.3)) steps.push({ step: "compact" });
  steps.push({ step: "open" });
  for (let phase = 0; phase < phases; phase++) {
    for (let i = random.between(0, 12); i > 0; i--) generator.write();
    if (phase > 0 && random.chance(0.05)) steps.push({ step: "compact" });
    for (let i = random.between(2, 6); i > 0; i--) generator.watch();
    for (let i = random.between(15, 40); i > 0; i--) generator.ask();
    for (let i = random.between(0, 12); i > 0; i--) generator.write();
    generator.end(random.between(4, 10));
  }
  return { seed, ...(random.chance(0.3) && { window: random.between(3, 20) }), steps };
}
