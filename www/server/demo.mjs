// /demo/...: the switches and the instruments of the demo page.
import { digest, digestOf } from "./digest.mjs";
import { FAULTS } from "./faults.mjs";
import { asStatusError, badRequest } from "./status.mjs";

/**
 * @typedef {object} DemoParts
 * @property {import("./faults.mjs").Faults} faults
 * @property {import("./store.mjs").Store} [store] absent before a proxied cluster
 * @property {import("./traffic.mjs").Traffic} [traffic]
 * @property {import("./api.mjs").Api} [api]
 * @property {URL} [proxy]
 * @property {string} [proxyToken]
 */

/** @param {import("fastify").FastifyInstance} app @param {DemoParts} parts */
export function registerDemo(app, parts) {
  app.post("/demo/faults/:name", async (request) => parts.faults.trigger(/** @type {any} */ (request.params).name, bodyOf(request)));
  app.post("/demo/rate", async (request) => {
    const { eventsPerSecond } = /** @type {any} */ (bodyOf(request));
    if (!parts.traffic) throw badRequest("there is no traffic of ours before a proxied cluster");
    parts.traffic.setRate(eventsPerSecond);
    return { eventsPerSecond: parts.traffic.rate };
  });
  app.get("/demo/status", async () => demoStatus(parts));
  app.get("/demo/digest", async (request) => {
    const { resource = "pods", resourceVersion = "" } = /** @type {Record<string, string>} */ (request.query);
    return parts.store
      ? digest(parts.store, resource, resourceVersion)
      : digestOf(/** @type {URL} */ (parts.proxy), resource, resourceVersion, parts.proxyToken);
  });
  app.setErrorHandler((error, _request, reply) => {
    const status = asStatusError(error);
    reply.code(status.code).headers(status.headers()).send(status.toStatus());
  });
}

/** @param {DemoParts} parts */
export function demoStatus({ faults, store, traffic, api, proxy }) {
  /** @type {Record<string, number>} */
  const objects = {};
  for (const table of store?.tables.values() ?? []) objects[table.definition.resource] = table.size;
  const usable = Object.keys(FAULTS).filter((name) => store || FAULTS[name].proxied);
  return {
    mode: proxy ? "proxy" : "embedded",
    ...(proxy ? { proxy: proxy.origin } : {}),
    resourceVersion: store ? String(store.revision) : "",
    objects,
    eventsPerSecond: traffic?.rate ?? 0,
    streams: [...faults.streams].map(({ transport, resource, namespace }) => ({ transport, resource, namespace })),
    counts: api?.counts ?? {},
    faults: { usable: [...usable, "clear"], ...faults.report() },
  };
}

/** @param {import("fastify").FastifyRequest} request */
function bodyOf(request) {
  const body = /** @type {Buffer | undefined} */ (request.body);
  if (!body || body.length === 0) return {};
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    throw badRequest(`the body is no JSON: ${/** @type {Error} */ (error).message}`);
  }
}
