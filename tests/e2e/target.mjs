/**
 * What the end-to-end suite needs to know about a server, so that the same scenarios run against the embedded server and
 * against kube-apiserver.
 * @module
 */
import { Api } from "./wire.mjs";

/**
 * Answers of a server, or of something before it, that is in no state to serve:
 * - `unavailable`: 503 with Retry-After 1
 * - `too-many-requests`: 429 with Retry-After 1, in plain text, as the apiserver's overload protection says it
 * - `html`: 200 and a page, as a portal that wants a sign-in
 * @typedef {"unavailable" | "too-many-requests" | "html"} Refusal
 */

/**
 * A server under test. Its disruptions are real: sockets are cut, processes die, history is gone.
 * @typedef {object} Target
 * @property {string} name for the titles
 * @property {string} url plain-HTTP origin, for requests and for WebSockets
 * @property {string} side another plain-HTTP origin of the same server, for the client whose connections are not disturbed
 * @property {string} token bearer token that may do everything
 * @property {string} [powerless] bearer token of a user who is known and may do nothing; undefined when the server has no rights
 * @property {() => Promise<void>} drop cuts every open connection without a close frame
 * @property {() => Promise<void>} freeze every open watch stays open and says nothing any more
 * @property {(how: Refusal | undefined) => Promise<void>} refuse answers every new list and watch with this, until called with undefined
 * @property {() => Promise<void>} crash the server dies without a goodbye and comes back at the same address with its objects
 * @property {() => Promise<void>} expire all history is forgotten: every version and continue token given out before is too old
 * @property {() => Promise<void>} stop ends the server
 * @property {(options: any) => any} [open] opens the caches of the scenarios; undefined: `createWatchCache`
 * @property {Keys} [keys] where objects are keys of etcd, and no API is spoken
 */

/**
 * Objects that are keys: who writes them, who sees what is asked, and how a cache is opened over them.
 * @typedef {object} Keys
 * @property {Api} api does with keys what paths of the Kubernetes API say
 * @property {() => import("./cache.mjs").Traffic} traffic
 * @property {(options: any) => { resource(spec: any): any, close(): Promise<void> }} open takes the options of a cache, `server` the endpoint
 */

let counter = 0;

/** A namespace of its own for one scenario, so that scenarios do not see each other. */
export class Place {
  /** @param {Target} target @param {string} namespace */
  constructor(target, namespace) {
    this.target = target;
    this.namespace = namespace;
    this.api = target.keys?.api ?? new Api(target.url, target.token);
    this.pods = `/api/v1/namespaces/${namespace}/pods`;
  }

  /** The same place, seen by a client that no disruption touches. */
  aside() {
    const place = new Place(this.target, this.namespace);
    place.api = this.target.keys?.api ?? new Api(this.target.side, this.target.token);
    return place;
  }

  /** @param {Target} target */
  static async create(target) {
    const namespace = `e2e-${process.pid}-${counter++}`;
    const place = new Place(target, namespace);
    await place.api.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    return place;
  }

  /**
   * A pod that a scheduler has placed and no kubelet runs: only data.
   * @param {string} name @param {{ labels?: Record<string, string>, node?: string, annotations?: Record<string, string> }} [options]
   */
  pod(name, { labels, node, annotations } = {}) {
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: this.namespace, labels, annotations },
      spec: { ...(node && { nodeName: node }), containers: [{ name: "main", image: "registry.invalid/app:1" }] },
    };
  }

  /** @param {string} name @param {Parameters<Place["pod"]>[1]} [options] */
  create(name, options) {
    return this.api.create(this.pods, this.pod(name, options));
  }

  /** @param {string} name @param {unknown} patch merge patch of the pod */
  patch(name, patch) {
    return this.api.patch(`${this.pods}/${name}`, patch);
  }

  /** @param {string} name @param {Record<string, string | null>} labels null removes one */
  label(name, labels) {
    return this.patch(name, { metadata: { labels } });
  }

  /** As a kubelet reports it. @param {string} name @param {string} phase */
  setPhase(name, phase) {
    return this.api.patch(`${this.pods}/${name}/status`, { status: { phase } });
  }

  /** @param {string} name */
  delete(name) {
    return this.api.delete(`${this.pods}/${name}`);
  }
}
