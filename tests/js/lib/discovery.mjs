// A server that tells what it has, for the tests of discovery.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createWatchCache } from "watchcache";

export const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
export const VERBS = ["get", "list", "watch"];

export const resource = (plural, kind, { scope = "Namespaced", shortNames, subresources } = {}) => ({
  resource: plural,
  responseKind: { group: "", version: "", kind },
  scope,
  singularResource: kind.toLowerCase(),
  verbs: VERBS,
  ...(shortNames && { shortNames }),
  ...(subresources && { subresources }),
});
export const version = (name, resources, more = {}) => ({ version: name, resources, freshness: "Current", ...more });
export const group = (name, ...versions) => ({ metadata: name ? { name } : {}, versions });
export const groups = (...items) => ({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items });

const CORE = group(
  "",
  version("v1", [
    resource("pods", "Pod", {
      shortNames: ["po"],
      subresources: [{ subresource: "log", responseKind: { group: "", version: "", kind: "Pod" }, verbs: ["get"] }],
    }),
    resource("nodes", "Node", { scope: "Cluster", shortNames: ["no"] }),
    resource("events", "Event", { shortNames: ["ev"] }),
    resource("services", "Service", { shortNames: ["svc"] }),
  ]),
);
export const APPS = group("apps", version("v1", [resource("deployments", "Deployment", { shortNames: ["deploy"] })]));
const SCALING = group(
  "autoscaling",
  version("v2", [resource("horizontalpodautoscalers", "HorizontalPodAutoscaler", { shortNames: ["hpa"] })]),
  version("v1", [resource("horizontalpodautoscalers", "HorizontalPodAutoscaler"), resource("oldies", "Oldie")]),
);
const EVENTS = group("events.k8s.io", version("v1", [resource("events", "Event", { shortNames: ["ev"] })]));
const CLUSTERS = ["a.example.com", "b.example.com"].map((name) =>
  group(name, version("v1", [resource("clusters", "Cluster", { shortNames: ["cl"] }), resource("pods", "Pad")])),
);
const METRICS = group("metrics.k8s.io", version("v1beta1", [], { freshness: "Stale" }));
export const ALL = { "/api": groups(CORE), "/apis": groups(APPS, SCALING, EVENTS, ...CLUSTERS, METRICS) };

/** A server whose answers stand in `answers`: a document, or `{ code, type, body }`, by path. */
export async function serving(t, answers, options = {}) {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const { pathname, search } = new URL(request.url, "http://h");
    const { authorization, accept } = request.headers;
    asked.push({ path: pathname, search, method: request.method, accept, authorization, ...(body && { body: JSON.parse(body) }) });
    const answer = typeof answers === "function" ? answers(pathname, request, asked.at(-1)) : answers[pathname];
    const { code, type, headers, raw } = answer?.code
      ? answer
      : answer
        ? { code: 200, raw: JSON.stringify(answer) }
        : { code: 404, raw: "404 page not found" };
    const isAggregated = answer?.kind === "APIGroupDiscoveryList";
    response.writeHead(code, {
      "content-type": type ?? (isAggregated ? AGGREGATED : code === 404 ? "text/plain" : "application/json"),
      ...headers,
    });
    response.end(raw ?? "");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => (server.closeAllConnections(), server.close()));
  const url = `http://127.0.0.1:${server.address().port}`;
  const cache = createWatchCache({ server: url, ...options });
  t.after(() => cache.close());
  return { asked, cache, url };
}

export const pathOf = (resource) => resource.name;
export const coded = (code, pattern) => (error) => {
  assert.equal(error.name, "WatchCacheError");
  assert.equal(error.code, code, error.message);
  assert.match(error.message, pattern);
  return true;
};
