// The package's own cache before the store, as an API server has its watch cache before etcd: a resource for each table.
import { apiVersion } from "./resources.mjs";
import { encodeJson } from "./json.mjs";
import { askedVersion } from "./list.mjs";
import { StatusError } from "./status.mjs";
import { StoreSource } from "./store-source.mjs";

/** @typedef {import("./store.mjs").Table} Table */
/** @typedef {import("./query.mjs").ListOptions} ListOptions */
/** @typedef {import("./resources.mjs").ResourceDefinition} ResourceDefinition */

/** A watch ends on its own after this time at least; the exact time is spread so that clients do not return all at once. */
const MIN_TIMEOUT_SECONDS = 1_800;

/**
 * The cache of one table.
 * @typedef {object} Entry
 * @property {import("watchcache").Resource<any>} resource
 * @property {Promise<void>} ready
 * @property {number} watches that are open
 * @property {boolean} isRetired another one stands in its place
 */

/** The cache of a server. */
export class Front {
  /**
   * Opens all resources, as an API server does before it is ready.
   * @param {import("./store.mjs").Store} store @param {import("./window.mjs").WindowBounds} options
   * @throws {Error} when the package is not built
   */
  static async open(store, options) {
    const { createWatchCache } = await import("watchcache");
    const front = new Front(store, options, createWatchCache);
    await Promise.all([...store.tables.values()].map((table) => front.#opened(table)));
    return front;
  }

  /**
   * @param {import("./store.mjs").Store} store @param {import("./window.mjs").WindowBounds} options
   * @param {typeof import("watchcache").createWatchCache} createWatchCache
   */
  constructor(store, { history, historyBytes }, createWatchCache) {
    this.store = store;
    this.cache = createWatchCache({
      // What was written is what is read.
      strip: [],
      history: history === undefined ? { maxBytes: historyBytes } : { minEvents: history, maxEvents: history },
      // Its users are on the network and come and go; it stays.
      linger: Infinity,
      flush: "microtask",
    });
    /** @type {Map<Table, Entry>} */
    this.open = new Map();
    this.forget = () => this.#forget();
    store.compactions.add(this.forget);
  }

  /** @param {Table} table @returns {Entry} */
  #entry(table) {
    const known = this.open.get(table);
    if (known) return known;
    const resource = this.cache.resource({ source: new StoreSource(table), id: table.definition.resource });
    const ready = resource.synced();
    ready.catch(() => {}); // Told to whoever waits for it.
    const entry = { resource, ready, watches: 0, isRetired: false };
    this.open.set(table, entry);
    return entry;
  }

  /** What was is gone, as after a restart: the state is read anew. Watches that are open stay with what they know. */
  #forget() {
    const entries = [...this.open];
    this.open.clear();
    for (const [table, entry] of entries) {
      entry.isRetired = true;
      if (entry.watches === 0) entry.resource.close();
      this.#entry(table);
    }
  }

  /** The resource, once it has its first state. From then on it says itself when it is not ready. @param {Table} table */
  async #opened(table) {
    for (;;) {
      const entry = this.#entry(table);
      try {
        await entry.ready;
      } catch (error) {
        if (!entry.isRetired) throw toStatusError(error);
      }
      if (!entry.isRetired) return entry;
    }
  }

  /** @param {Table} table @param {import("watchcache").ListOptions} options */
  async #page(table, options) {
    for (;;) {
      const entry = await this.#opened(table);
      try {
        return await entry.resource.list(options);
      } catch (error) {
        // Its history went while it was read: the next one says so.
        if (!entry.isRetired) throw toStatusError(error);
      }
    }
  }

  /**
   * A page of a list, as a document.
   * @param {Table} table @param {string} namespace @param {ListOptions} options
   * @returns {Promise<Iterable<Buffer>>}
   * @throws {StatusError} what the cache says
   */
  async list(table, namespace, options) {
    const { metadata, items } = await this.page(table, namespace, options);
    const { definition } = table;
    const head = encodeJson({ kind: `${definition.kind}List`, apiVersion: apiVersion(definition), metadata });
    return [Buffer.from(`${head.slice(0, -1)},"items":`), items, Buffer.from("}\n")];
  }

  /**
   * A page of a list.
   * @param {Table} table @param {string} namespace @param {ListOptions} options
   * @returns {Promise<{ metadata: Record<string, unknown>, items: Buffer }>} `items` is a JSON array
   * @throws {StatusError} what the cache says
   */
  async page(table, namespace, options) {
    const { resourceVersion, resourceVersionMatch, limit } = options;
    // The cache takes versions of any length, an API server those of 64 bits.
    askedVersion(options);
    const page = await this.#page(table, {
      namespace,
      ...selectors(options),
      resourceVersion,
      ...(resourceVersionMatch ? { resourceVersionMatch: /** @type {"Exact" | "NotOlderThan"} */ (resourceVersionMatch) } : {}),
      ...(limit > 0 ? { limit } : {}),
      ...(options.continue ? { continue: options.continue } : {}),
      wait: false,
    });
    /** @type {Record<string, unknown>} */
    const metadata = { resourceVersion: page.resourceVersion };
    if (page.continue) {
      metadata.continue = page.continue;
      // The pages may take longer than the cache reaches back. What stands behind it remembers for longer, as etcd does.
      table.keep(Number(page.resourceVersion));
    }
    if (page.remainingItemCount) metadata.remainingItemCount = page.remainingItemCount;
    return { metadata, items: bufferOf(page.raw) };
  }

  /**
   * Opens a watch.
   * @param {Table} table @param {{ namespace: string, name?: string }} scope @param {ListOptions} options
   * @returns {Promise<OpenWatch>}
   * @throws {StatusError} when it is refused; what fails later is an event of it
   */
  async watch(table, { namespace, name }, options) {
    const entry = await this.#opened(table);
    const { resourceVersion, resourceVersionMatch, sendInitialEvents, allowWatchBookmarks, timeoutSeconds } = options;
    const asked = {
      ...(namespace ? { namespace } : {}),
      ...(name ? { name } : {}),
      ...selectors(options),
      resourceVersion,
      ...(resourceVersionMatch ? { resourceVersionMatch: /** @type {"NotOlderThan"} */ (resourceVersionMatch) } : {}),
      ...(sendInitialEvents === undefined ? {} : { sendInitialEvents }),
      allowWatchBookmarks,
      timeoutSeconds: timeoutSeconds || Math.round(MIN_TIMEOUT_SECONDS * (1 + Math.random())),
      wait: false,
    };
    let watcher;
    try {
      watcher = entry.resource.watch(asked);
    } catch (error) {
      throw toStatusError(error); // A selector with a mistake.
    }
    entry.watches += 1;
    void watcher.ended.then(() => {
      entry.watches -= 1;
      if (entry.isRetired && entry.watches === 0) entry.resource.close();
    });
    const batches = watcher.batches();
    const first = batches.next();
    // A refusal is known at once; it comes with the first step.
    await refusing(() => Promise.race([first, new Promise((resolve) => setImmediate(resolve))]));
    return { watcher, first, batches };
  }

  async close() {
    this.store.compactions.delete(this.forget);
    await this.cache.close();
  }
}

/**
 * @typedef {object} OpenWatch
 * @property {import("watchcache").Watcher<any>} watcher
 * @property {Promise<IteratorResult<readonly import("watchcache").WatchEvent<any>[], undefined>>} first
 * @property {AsyncIterator<readonly import("watchcache").WatchEvent<any>[], undefined>} batches
 */

/**
 * Whether the cache can tell what these options select: it reads fields where they stand, and some fields of the API stand nowhere.
 * @param {ResourceDefinition} definition @param {ListOptions} options
 */
export function isCacheable(definition, { fields }) {
  return fields.terms.every(({ field }) => !definition.computedFields.includes(field));
}

/** @param {ListOptions} options */
function selectors({ labelSelector, fields }) {
  const fieldSelector = fields.toString();
  return { ...(labelSelector ? { labelSelector } : {}), ...(fieldSelector ? { fieldSelector } : {}) };
}

/** @template T @param {() => T | Promise<T>} ask @returns {Promise<T>} */
async function refusing(ask) {
  try {
    return await ask();
  } catch (error) {
    throw toStatusError(error);
  }
}

/**
 * The cache's error as the answer of the server.
 * @param {unknown} error
 * @returns {unknown} a StatusError, unless it is no error of the cache
 */
export function toStatusError(error) {
  const { status } = /** @type {{ status?: import("watchcache").Status & { metadata?: Record<string, string> } }} */ (error);
  if (!status) return error;
  const { code = 500, reason = "", message = "", details, metadata } = status;
  return new StatusError(code, reason, message, details, metadata);
}

/** @param {Uint8Array} bytes */
export function bufferOf(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
