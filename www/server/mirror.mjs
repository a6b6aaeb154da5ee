// Another API server with the same objects as a store, by its API: what the store has is made there, and what changes is changed.
import { isDeepStrictEqual } from "node:util";
import { apiVersion } from "./resources.mjs";

/** @typedef {import("./store.mjs").Store} Store */
/** @typedef {import("./store.mjs").Table} Table */

/** Who is owned comes after its owner, and what is in a namespace after that. */
const ORDER = ["namespaces", "nodes", "configmaps", "services", "deployments", "replicasets", "pods", "events"];
const AT_ONCE = 16;
const MERGE = "application/merge-patch+json";

/** @param {any} value @returns {any} */
const copy = (value) => structuredClone(value);

/** One store, followed. */
export class Mirror {
  /**
   * @param {Store} store
   * @param {{ url: string, token?: string, onError?: (problem: string) => void }} options `url` of the other server, and the bearer token for it.
   *   `onError` is told what it refuses, once for each kind of refusal
   */
  constructor(store, { url, token, onError = () => {} }) {
    this.url = url;
    this.token = token;
    this.onError = onError;
    /** @type {Table[]} */
    this.tables = [...store.tables.values()].sort(
      (left, right) => ORDER.indexOf(left.definition.resource) - ORDER.indexOf(right.definition.resource),
    );
    /** What was sent last, by table and key. @type {Map<Table, Map<string, any>>} */
    this.sent = new Map(this.tables.map((table) => [table, new Map()]));
    /** What identities became there. @type {Map<string, string>} */
    this.uids = new Map();
    /** Keys that wait, and those under way. @type {Map<string, { table: Table, key: string }>} */
    this.waiting = new Map();
    /** @type {Set<string>} */
    this.busy = new Set();
    /** @type {Set<string>} */
    this.told = new Set();
    this.isStopped = false;
    this.wake = () => {};
    /** @type {(() => void)[]} */
    this.detach = [];
    this.counts = { created: 0, changed: 0, deleted: 0, refused: 0 };
  }

  /** Makes all that there is, table by table. */
  async fill() {
    for (const table of this.tables) {
      const keys = [...table.keys];
      const one = async () => {
        for (let key = keys.shift(); key !== undefined && !this.isStopped; key = keys.shift()) await this.#bring(table, key);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
    }
  }

  /** Follows the store from now on. An object that changes faster than the other server takes it is sent as it is then. */
  follow() {
    for (const table of this.tables) {
      let position = table.window.end;
      const changed = () => {
        for (position = Math.max(position, table.window.first); position < table.window.end; position += 1) {
          const { key } = table.window.at(position);
          this.waiting.set(`${table.definition.resource}${key}`, { table, key });
        }
        this.#next();
      };
      table.listeners.add(changed);
      this.detach.push(() => table.listeners.delete(changed));
    }
  }

  /** Resolves when nothing waits any more. */
  async idle() {
    while (this.waiting.size > 0 || this.busy.size > 0)
      await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
        this.wake = resolve;
      });
  }

  stop() {
    this.isStopped = true;
    for (const detach of this.detach) detach();
  }

  #next() {
    for (const [id, { table, key }] of this.waiting) {
      if (this.busy.size >= AT_ONCE || this.isStopped) return;
      // One after another for one object.
      if (this.busy.has(id)) continue;
      this.waiting.delete(id);
      this.busy.add(id);
      void this.#bring(table, key).finally(() => {
        this.busy.delete(id);
        this.#next();
        this.wake();
      });
    }
  }

  /** Makes the other server have of an object what the store has now. @param {Table} table @param {string} key */
  async #bring(table, key) {
    const sent = /** @type {Map<string, any>} */ (this.sent.get(table));
    const found = table.get(key)?.parse();
    const object = found && this.#translated(found);
    const before = sent.get(key);
    try {
      if (!object || object.metadata.deletionTimestamp) {
        if (before) await this.#delete(table, before);
        sent.delete(key);
      } else if (!before) {
        await this.#create(table, object, found.metadata.uid);
        sent.set(key, object);
      } else {
        await this.#change(table, before, object);
        sent.set(key, object);
      }
    } catch (error) {
      this.counts.refused += 1;
      const problem = `${table.definition.resource}: ${/** @type {Error} */ (error).message}`;
      const about = problem.replaceAll(/"[^"]*"/g, '""');
      if (!this.isStopped && !this.told.has(about)) {
        this.told.add(about);
        this.onError(problem);
      }
    }
  }

  /** The object without what the other server decides, and with the identities that it gave to others. @param {any} object */
  #translated(object) {
    const { uid: _uid, resourceVersion: _version, generation: _generation, managedFields: _fields, ...metadata } = copy(object.metadata);
    for (const owner of metadata.ownerReferences ?? []) owner.uid = this.uids.get(owner.uid) ?? owner.uid;
    const result = { ...copy(object), metadata };
    if (result.involvedObject) result.involvedObject.uid = this.uids.get(result.involvedObject.uid) ?? result.involvedObject.uid;
    return result;
  }

  /** @param {Table} table @param {any} object @param {string} uid in the store */
  async #create(table, object, uid) {
    const { status, ...rest } = object;
    const { creationTimestamp: _created, ...metadata } = rest.metadata;
    const made = await this.#send("POST", path(table, object), { ...rest, metadata }, { exists: true });
    this.uids.set(uid, made.metadata?.uid ?? uid);
    this.counts.created += 1;
    if (status && table.definition.status) await this.#status(table, object);
  }

  /** @param {Table} table @param {any} before @param {any} object */
  async #change(table, before, object) {
    const { resource } = table.definition;
    const at = path(table, object, object.metadata.name);
    const parts = Object.keys(object).filter((part) => !["kind", "apiVersion", "status"].includes(part));
    const changed = parts.filter((part) => !isDeepStrictEqual(before[part], object[part]));
    /** @type {Record<string, any>} */
    const patch = Object.fromEntries(changed.map((part) => [part, object[part]]));
    if (resource === "pods" && patch.spec) {
      delete patch.spec;
      // A pod is put on a node, and its spec stays as it is.
      if (!before.spec.nodeName && object.spec.nodeName) {
        const target = { kind: "Node", name: object.spec.nodeName };
        await this.#send("POST", `${at}/binding`, { metadata: { name: object.metadata.name }, target });
      }
    }
    if (Object.keys(patch).length > 0) await this.#send("PATCH", at, patch);
    if (object.status && !isDeepStrictEqual(before.status, object.status)) await this.#status(table, object);
    this.counts.changed += 1;
  }

  /** @param {Table} table @param {any} object */
  async #status(table, object) {
    await this.#send("PATCH", `${path(table, object, object.metadata.name)}/status`, { status: object.status });
  }

  /** @param {Table} table @param {any} object */
  async #delete(table, object) {
    const options = { gracePeriodSeconds: 0, propagationPolicy: "Background" };
    await this.#send("DELETE", path(table, object, object.metadata.name), options, { missing: true });
    this.counts.deleted += 1;
  }

  /**
   * @param {"POST" | "PATCH" | "DELETE"} method @param {string} at @param {any} body
   * @param {{ exists?: boolean, missing?: boolean }} [taken] refusals that are none
   * @returns {Promise<any>}
   */
  async #send(method, at, body, { exists = false, missing = false } = {}) {
    const headers = {
      "content-type": method === "PATCH" ? MERGE : "application/json",
      "user-agent": "mirror",
      ...(this.token ? { authorization: `Bearer ${this.token}` } : {}),
    };
    const response = await fetch(this.url + at, { method, headers, body: JSON.stringify(body) });
    const answer = /** @type {any} */ (await response.json());
    if (response.ok || (exists && response.status === 409) || (missing && response.status === 404)) return answer;
    throw new Error(answer.message ?? `answered ${response.status}`);
  }
}

/** @param {Table} table @param {any} object @param {string} [name] */
function path({ definition }, { metadata }, name) {
  const root = definition.group ? `/apis/${apiVersion(definition)}` : `/api/${definition.version}`;
  const scope = definition.namespaced ? `/namespaces/${metadata.namespace}` : "";
  return `${root}${scope}/${definition.resource}${name ? `/${name}` : ""}`;
}
