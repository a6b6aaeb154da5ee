/**
 * etcd as a target of the end-to-end suite. The scenarios speak of objects and their paths; here each object is a key, whose value is the
 * object. The cache has it from `watchcache/etcd`, and the second client from the gateway itself.
 * @module
 */
import { createWatchCache } from "watchcache";
import { etcdSource } from "watchcache/etcd";
import { Traffic } from "../e2e/cache.mjs";
import { EtcdCluster } from "./harness/etcd-cluster.mjs";
import { Proxy } from "./harness/proxy.mjs";
import { ANSWERS } from "./kube-apiserver-target.mjs";

const base64 = (/** @type {string} */ text) => Buffer.from(text).toString("base64");
const text = (/** @type {string} */ given) => Buffer.from(given, "base64").toString();

/** All objects of a resource in one namespace. Their keys go on with namespace and name. */
const prefixOf = (/** @type {string} */ namespace, /** @type {string} */ resource) => `/e2e/${namespace}/${resource}/`;

/** A key as the package shows it, whose value is an object. @param {any} kv */
function objectOf(kv) {
  const [namespace, name] = text(kv.key).split("/").slice(-2);
  const object = JSON.parse(text(kv.value));
  const metadata = { ...object.metadata, namespace, name, resourceVersion: kv.mod_revision, uid: kv.create_revision };
  return { ...object, metadata };
}

/** RFC 7386. @param {any} target @param {any} patch @returns {any} */
function merge(target, patch) {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const merged = { ...target };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name], value);
  }
  return merged;
}

/** The second client: what it is asked in paths of the Kubernetes API it does with keys. */
class EtcdApi {
  /** @param {EtcdCluster} cluster */
  constructor(cluster) {
    this.cluster = cluster;
  }

  /** @param {string} path @returns {{ prefix: string, key?: string, namespace?: string, resource: string }} */
  static read(path) {
    const [, namespace, resource, name] = /^\/api(?:s\/[^/]+)?\/v1\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? [];
    if (namespace === undefined) throw new Error(`no keys stand for ${path}`);
    const prefix = prefixOf(namespace, resource);
    return { prefix, namespace, resource, ...(name && { key: `${prefix}${namespace}/${name}` }) };
  }

  /** @param {string} key */
  async #held(key) {
    const { kvs: [kv] = [] } = await this.cluster.call("/v3/kv/range", { key: base64(key) });
    return kv;
  }

  /** Writes where the key still is as it was. @param {string} key @param {any} object @param {string} [revision] */
  async #write(key, object, revision = "0") {
    const { resourceVersion, uid, ...metadata } = object.metadata;
    const value = base64(JSON.stringify({ ...object, metadata }));
    const answer = await this.cluster.call("/v3/kv/txn", {
      compare: [{ key: base64(key), target: "MOD", result: "EQUAL", mod_revision: revision }],
      success: [{ request_put: { key: base64(key), value } }, { request_range: { key: base64(key) } }],
    });
    return answer.succeeded ? objectOf(answer.responses[1].response_range.kvs[0]) : undefined;
  }

  /** @param {string} path @param {any} given */
  async create(path, given) {
    // Namespaces are parts of keys, and need not be made.
    if (path === "/api/v1/namespaces") return given;
    const { prefix, namespace } = EtcdApi.read(path);
    const object = { ...given, metadata: { ...given.metadata, namespace } };
    const created = await this.#write(`${prefix}${namespace}/${object.metadata.name}`, object);
    if (created === undefined) throw new Error(`${path} ${object.metadata.name} exists`);
    return created;
  }

  /** @param {string} path @param {any} patch */
  async patch(path, patch) {
    const { key } = EtcdApi.read(path);
    for (;;) {
      const held = await this.#held(/** @type {string} */ (key));
      if (held === undefined) throw new Error(`${path} is not there`);
      const written = await this.#write(/** @type {string} */ (key), merge(JSON.parse(text(held.value)), patch), held.mod_revision);
      if (written !== undefined) return written;
    }
  }

  /** @param {string} path */
  async delete(path) {
    await this.cluster.remove(/** @type {string} */ (EtcdApi.read(path).key));
  }

  /** @param {string} path */
  async list(path) {
    const { revision, keys } = await this.cluster.range(EtcdApi.read(path).prefix);
    return { items: [...keys.values()].map(objectOf), metadata: { resourceVersion: revision } };
  }

  /** @param {string} path */
  async get(path) {
    // No group of the Kubernetes API is here.
    if (/^\/apis\/[^/]+\/v1$/.test(path)) return { status: 404 };
    const held = await this.#held(/** @type {string} */ (EtcdApi.read(path).key));
    return held === undefined ? { status: 404 } : { status: 200, body: objectOf(held) };
  }

  /** @param {string} method @param {string} path */
  async must(method, path) {
    const { status, body } = await this.get(path);
    if (method !== "GET" || status !== 200) throw new Error(`${method} ${path}: ${status}`);
    return body;
  }

  /** A creation by somebody whose name the object keeps. @param {"POST"} _method @param {string} path @param {{ headers: Record<string, string>, body: any }} request */
  request(_method, path, { headers, body }) {
    const managedFields = [{ manager: headers["user-agent"].split("/")[0] }];
    return this.create(path, { ...body, metadata: { ...body.metadata, managedFields } });
  }
}

/** What a source has asked for, in the words of the scenarios. */
class KeysTraffic extends Traffic {
  /** @type {{ path: string, body: any }[]} */
  asked = [];

  /** @param {string} origin */
  constructor(origin) {
    super(origin);
    const recorded = this.fetch;
    this.fetch = (input, init) => {
      this.asked.push({ path: new URL(String(input)).pathname, body: JSON.parse(String(init?.body)) });
      return recorded(input, init);
    };
  }

  /** Ranges of all keys: the first pages of lists. */
  lists() {
    const first = this.asked.filter(({ path, body }) => path === "/v3/kv/range" && body.range_end && !body.count_only && !body.revision);
    return /** @type {any[]} */ (first);
  }
}

/** @returns {Promise<import("../e2e/target.mjs").Target>} */
export async function etcdTarget() {
  const cluster = await EtcdCluster.start();
  const proxy = await Proxy.start({ upstream: cluster.url });
  const api = new EtcdApi(cluster);
  return {
    name: "etcd",
    url: proxy.url,
    side: cluster.url,
    token: "",
    keys: {
      api: /** @type {any} */ (api),
      traffic: () => new KeysTraffic(proxy.url),
      open({ server = proxy.url, auth: _auth, fetch, WebSocket, ...settings }) {
        const cache = createWatchCache(settings);
        /** @type {Map<string, import("watchcache").Source>} */
        const sources = new Map();
        const resource = (/** @type {any} */ { namespace, resource, group: _group, version: _version, ...spec }) => {
          const id = `${namespace}/${resource}`;
          const prefix = prefixOf(namespace, resource);
          if (!sources.has(id)) sources.set(id, /** @type {any} */ (etcdSource({ endpoints: server, prefix, fetch, WebSocket })));
          return cache.resource({ ...spec, id, source: /** @type {any} */ (sources.get(id)) });
        };
        return { resource, close: () => cache.close() };
      },
    },
    async drop() {
      proxy.drop();
    },
    async freeze() {
      proxy.freeze();
    },
    async refuse(how) {
      proxy.refuse(how && ANSWERS[how]);
    },
    async crash() {
      await cluster.members[0].kill();
      await cluster.members[0].start();
    },
    async expire() {
      await cluster.put("/e2e-step", "");
      await cluster.compact();
    },
    async stop() {
      await proxy.close();
      await cluster.stop();
    },
  };
}
