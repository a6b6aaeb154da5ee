/**
 * The package as an application uses it. Its requests to the server are recorded, and the state that it holds is compared with
 * the server's, object by object.
 * @module
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { compareVersions } from "./wire.mjs";

/** @typedef {import("./wire.mjs").KubeObject} KubeObject */

/** Milliseconds after which a wait is given up as failed. */
const PATIENCE = 30_000;

/**
 * Waits until `condition` holds (returns something truthy), and returns that.
 * @template T
 * @param {() => T} condition @param {string | (() => string)} what for the message
 * @returns {Promise<T>}
 */
export async function eventually(condition, what) {
  for (const deadline = Date.now() + PATIENCE; ; await sleep(5)) {
    const value = condition();
    if (value) return value;
    if (Date.now() > deadline) assert.fail(`Waited in vain for ${typeof what === "string" ? what : what()}`);
  }
}

/** What a cache has asked its server for. */
export class Traffic {
  /** @type {{ url: URL, headers: Headers }[]} every fetch, in order */
  fetches = [];
  /** @type {{ url: URL, protocols: string[], socket: WebSocket }[]} every WebSocket, in order */
  sockets = [];
  /** Changes the URL of the next watches, for instance to shorten their timeout. @type {(url: URL) => void} */
  rewrite = () => {};

  /** @param {string} origin said by the sockets: the apiserver wants one, browsers always send theirs */
  constructor(origin) {
    const traffic = this;
    /** @type {typeof fetch} */
    this.fetch = (input, init) => {
      const request = new Request(input, init);
      traffic.fetches.push({ url: new URL(request.url), headers: request.headers });
      return fetch(input, init);
    };
    this.WebSocket = class extends WebSocket {
      /** @param {string | URL} address @param {string | string[]} [protocols] */
      constructor(address, protocols = []) {
        const url = new URL(address);
        traffic.rewrite(url);
        super(url, protocols, { origin });
        traffic.sockets.push({ url, protocols: [protocols].flat(), socket: this });
      }
    };
  }

  /** Fetches of lists, without the follow-up pages. */
  lists() {
    return this.fetches.filter(({ url }) => !url.searchParams.has("continue") && !url.searchParams.has("watch"));
  }
}

/**
 * Keeps every event of a watcher, decoded, until it ends.
 * @template {KubeObject} T
 */
export class Recorder {
  /** @type {{ type: string, key: string, resourceVersion: string, object: any, initialEventsEnd?: true }[]} */
  events = [];
  /** Set when the iteration rejected. @type {any} */
  error;
  ended = false;

  /** @param {AsyncIterable<any> & { stop(): void, ended: Promise<any> }} watcher */
  constructor(watcher) {
    this.watcher = watcher;
    this.done = (async () => {
      try {
        for await (const { type, key, resourceVersion, object, initialEventsEnd } of watcher) {
          this.events.push({ type, key, resourceVersion, object, ...(initialEventsEnd && { initialEventsEnd }) });
        }
      } catch (error) {
        this.error = error;
      }
      this.ended = true;
    })();
  }

  /** Resolves when at least `count` events have come. @param {number} count */
  async count(count) {
    await eventually(
      () => this.events.length >= count || this.ended,
      () => `${count} events; seen: ${this.summary()}`,
    );
    assert.ok(this.events.length >= count, `ended before ${count} events: ${this.error ?? ""} ${this.summary()}`);
  }

  summary() {
    return this.events.map((e) => `${e.type} ${e.key}@${e.resourceVersion}`).join(", ");
  }

  /** Versions grow strictly from event to event (initial events share the version of their state). @param {number} [from] */
  assertGrowing(from = 0) {
    for (let i = from + 1; i < this.events.length; i++) {
      const [a, b] = [this.events[i - 1], this.events[i]];
      assert.ok(
        compareVersions(a.resourceVersion, b.resourceVersion) < 0,
        `${b.type} ${b.key}@${b.resourceVersion} after ${a.resourceVersion}`,
      );
    }
  }

  async stop() {
    this.watcher.stop();
    await this.done;
  }
}

/**
 * An object as both a list and a watch show it: without the kind that lists leave out, and without what the cache strips.
 * @param {any} object
 */
export function bare(object) {
  const { kind, apiVersion, ...rest } = structuredClone(object);
  delete rest.metadata.managedFields;
  return rest;
}

/**
 * The cache's objects are the server's objects: the same keys in the same order, each the same to the last field.
 * @param {any} resource @param {import("./wire.mjs").Api} api @param {string} path collection
 * @param {import("./wire.mjs").Query} [query] selectors of the resource
 */
export async function assertIntegrity(resource, api, path, query) {
  const truth = await api.list(path, query);
  const newest = truth.items.reduce(
    (v, o) => (compareVersions(String(o.metadata.resourceVersion), v) > 0 ? String(o.metadata.resourceVersion) : v),
    "0",
  );
  await eventually(
    () => compareVersions(resource.resourceVersion ?? "0", newest) >= 0 && resource.size === truth.items.length,
    () =>
      `${truth.items.length} objects at ${newest}; the cache has ${resource.size} at ${resource.resourceVersion} (${resource.status.phase})`,
  );
  const held = (await resource.list({ resourceVersion: "0" })).items;
  const key = (/** @type {any} */ o) => `${o.metadata.namespace ? `${o.metadata.namespace}/` : ""}${o.metadata.name}`;
  assert.deepEqual(held.map(key), truth.items.map(key));
  for (const [i, object] of truth.items.entries()) {
    assert.deepEqual(bare(held[i]), bare(object));
    assert.equal(resource.peek(key(object)), held[i], "one decoded object for all readers");
  }
}
