// The store as a source of the package's cache: what etcd is to an API server's watch cache.
import { Readable } from "node:stream";
import { readPage, renderPage } from "./list.mjs";
import { decodeListOptions } from "./query.mjs";
import { asStatusError, expired } from "./status.mjs";

/** @typedef {import("./store.mjs").Table} Table */
/** @typedef {import("watchcache").Source} Source */
/** @typedef {Parameters<import("watchcache").Source["list"]>[0] & Record<string, string | number | undefined>} ListRequest */

/**
 * A quiet stream tells its version this often, as etcd does for an API server. So nobody takes it for dead, and the bookmarks of watches
 * have news.
 */
const PROGRESS_MS = 5_000;

/**
 * One table. Objects go without kind and apiVersion, the same for all of them: lists carry them so, and watches put them back.
 * @implements {Source}
 */
export class StoreSource {
  /** @param {Table} table */
  constructor(table) {
    this.table = table;
    /** Its lists and tokens are those of the API. */
    this.collection = {};
    /** Called to have the open streams tell how far they are. @type {Set<() => void>} */
    this.streams = new Set();
  }

  /** @param {ListRequest} request */
  async list({ namespace = "", ...request }) {
    const { store, definition } = this.table;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(request)) if (value !== undefined) query.set(name, String(value));
    return refusing(async () => {
      const page = await readPage(this.table, decodeListOptions(query, definition), namespace, () => store.revision);
      return { body: /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(Readable.from(renderPage(page, definition)))) };
    });
  }

  /** @param {{ resourceVersion: string }} request @param {AbortSignal} signal */
  async *watch({ resourceVersion }, signal) {
    const { window, listeners, store } = this.table;
    let position = await refusing(() => window.after(Number(resourceVersion)));
    let isProgressAsked = false;
    /** @type {() => void} */
    let wake = () => {};
    const changed = () => wake();
    const progress = () => {
      isProgressAsked = true;
      wake();
    };
    const timer = setInterval(progress, PROGRESS_MS);
    timer.unref();
    listeners.add(changed);
    this.streams.add(progress);
    signal.addEventListener("abort", changed);
    try {
      while (!signal.aborted) {
        if (position < window.first) throw refusal(expired(`too old resource version: ${resourceVersion} (${window.oldest})`));
        if (position < window.end) {
          const event = window.at(position);
          position += 1;
          yield frameOf(event);
        } else if (isProgressAsked) {
          isProgressAsked = false;
          yield `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${store.revision}"}}}`;
        } else {
          await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      clearInterval(timer);
      listeners.delete(changed);
      this.streams.delete(progress);
      signal.removeEventListener("abort", changed);
    }
  }

  async currentResourceVersion() {
    // Whoever asks is about to wait for it.
    await this.requestProgress();
    return String(this.table.store.revision);
  }

  async requestProgress() {
    for (const tell of this.streams) tell();
  }
}

/** @param {import("./window.mjs").StoreEvent} event */
function frameOf({ current, previous, last }) {
  const [type, object] = current ? [previous ? "MODIFIED" : "ADDED", current] : ["DELETED", last];
  const body = /** @type {import("./object-version.mjs").ObjectVersion} */ (object).body();
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":{`), body, CLOSING]);
}

const CLOSING = Buffer.from("}");

/** @template T @param {() => T | Promise<T>} read @returns {Promise<T>} */
async function refusing(read) {
  try {
    return await read();
  } catch (error) {
    throw refusal(asStatusError(error));
  }
}

/** An error that the cache takes for the answer of its upstream. @param {import("./status.mjs").StatusError} error */
function refusal(error) {
  return Object.assign(new Error(error.message), { status: error.toStatus() });
}
