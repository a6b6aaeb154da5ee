/**
 * What the package-level scenarios have in common.
 * @module
 */
import { createWatchCache } from "watchcache";
import { Traffic } from "../cache.mjs";
import { Place } from "../target.mjs";

/** @typedef {import("../target.mjs").Target} Target */

/** @param {number} i */
export const numbered = (i) => `pod-${String(i).padStart(3, "0")}`;

/** Retries come soon, so that a scenario spends its time on the server and not on waiting. */
export const RETRY = { initialMs: 50, factor: 2, capMs: 500, jitter: 0.5 };

/**
 * Runs `body` with a cache on a namespace of its own, and closes the cache whatever happens.
 * @param {Target} target
 * @param {(it: { place: Place, traffic: Traffic, pods: any, cache: any, open: (options?: object) => any, spec: object }) => Promise<void>} body
 * @param {{ options?: object, spec?: object, seed?: (place: Place) => Promise<unknown> }} [setup] `seed` writes before the cache looks
 */
export async function withCache(target, body, { options, spec: extra, seed } = {}) {
  const place = await Place.create(target);
  await seed?.(place);
  const traffic = target.keys?.traffic() ?? new Traffic(target.url);
  const open = (/** @type {object | undefined} */ more = undefined) => {
    const settings = {
      server: target.url,
      auth: () => ({ token: target.token }),
      fetch: traffic.fetch,
      WebSocket: /** @type {any} */ (traffic.WebSocket),
      retry: RETRY,
      // A scenario mostly looks at a resource without using it, and an unused resource closes its stream after five seconds.
      linger: 60_000,
      ...options,
      ...more,
    };
    return (target.open ?? target.keys?.open ?? createWatchCache)(settings);
  };
  const cache = open();
  const spec = { version: "v1", resource: "pods", namespace: place.namespace, ...extra };
  try {
    await body({ place, traffic, cache, pods: cache.resource(spec), open, spec });
  } finally {
    await cache.close();
    await target.refuse(undefined);
  }
}

/**
 * Follows the keys and versions of a resource through every change of a view: the rows a user would see.
 * @param {any} resource
 */
export function follow(resource) {
  const view = resource.view();
  /** @type {Map<string, string>[]} */
  const states = [];
  const note = () => states.push(new Map(view.rows.map((/** @type {any} */ o) => [o.metadata.name, o.metadata.resourceVersion])));
  const stop = view.subscribe(note);
  note();
  return {
    states,
    stop() {
      stop();
      view.close();
    },
  };
}
