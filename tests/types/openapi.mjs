/**
 * The OpenAPI documents of a small cluster, cut from those of a kube-apiserver with a custom resource: what `watchcache types` reads.
 * @module
 */
import { createServer } from "node:http";

const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
/** The API wraps references to give them a default. */
const wrapped = (name) => ({ default: {}, allOf: [ref(name)] });
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

const listed = (group, version, kind, list) => ({
  get: {
    "x-kubernetes-action": "list",
    "x-kubernetes-group-version-kind": { group, version, kind },
    responses: { 200: { description: "OK", content: { "application/json": { schema: ref(list) } } } },
  },
});
const object = (description, properties, more = {}) => ({ description, type: "object", properties, ...more });
const list = (item) =>
  object("A list.", { items: { type: "array", items: item }, metadata: wrapped(`${META}.ListMeta`) }, { required: ["items"] });
const metadata = { description: "Standard object's metadata.", ...wrapped(`${META}.ObjectMeta`) };

const shared = {
  [`${META}.ObjectMeta`]: object("ObjectMeta is metadata that all persisted resources must have.", {
    name: { description: "Name must be unique within a namespace.", type: "string" },
    creationTimestamp: wrapped(`${META}.Time`),
    labels: { type: "object", additionalProperties: { type: "string", default: "" } },
    finalizers: { type: "array", items: { type: "string", default: "" }, "x-kubernetes-list-type": "set" },
  }),
  [`${META}.Time`]: { type: "string", format: "date-time" },
  [`${META}.ListMeta`]: object("ListMeta describes metadata that synthetic resources must have.", { continue: { type: "string" } }),
};

export const documents = {
  "api/v1": {
    paths: {
      "/api/v1/": { get: { responses: {} } },
      "/api/v1/namespaces/{namespace}/pods": listed("", "v1", "Pod", "io.k8s.api.core.v1.PodList"),
      "/api/v1/namespaces/{namespace}/pods/{name}": { get: { "x-kubernetes-action": "get" } },
      "/api/v1/events": listed("", "v1", "Event", "io.k8s.api.core.v1.EventList"),
      "/api/v1/watch/events": { get: { "x-kubernetes-action": "watchlist" } },
    },
    components: {
      schemas: {
        ...shared,
        "io.k8s.api.core.v1.Pod": object("Pod is a collection of containers. */ declare const broken: never; /*", {
          metadata,
          spec: wrapped("io.k8s.api.core.v1.PodSpec"),
        }),
        "io.k8s.api.core.v1.PodSpec": object(
          "PodSpec is a description of a pod.",
          {
            containers: { type: "array", items: wrapped("io.k8s.api.core.v1.Container") },
            nodeSelector: { type: "object", additionalProperties: { type: "string", default: "" } },
            overhead: { type: "object", additionalProperties: wrapped("io.k8s.apimachinery.pkg.api.resource.Quantity") },
            restartPolicy: { type: "string", enum: ["Always", "Never", "OnFailure"] },
          },
          { required: ["containers"] },
        ),
        "io.k8s.api.core.v1.Container": object("A container.", {
          name: { type: "string", default: "" },
          port: wrapped("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
        }),
        "io.k8s.api.core.v1.PodList": list(wrapped("io.k8s.api.core.v1.Pod")),
        "io.k8s.api.core.v1.Event": object("Event is a report.", { metadata, count: { type: "integer", format: "int32" } }),
        "io.k8s.api.core.v1.EventList": list(wrapped("io.k8s.api.core.v1.Event")),
        "io.k8s.apimachinery.pkg.api.resource.Quantity": { oneOf: [{ type: "string" }, { type: "number" }] },
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
        "io.k8s.api.core.v1.NeverUsed": object("Of no resource.", {}),
      },
    },
  },
  "apis/events.k8s.io/v1": {
    paths: { "/apis/events.k8s.io/v1/events": listed("events.k8s.io", "v1", "Event", "io.k8s.api.events.v1.EventList") },
    components: {
      schemas: {
        ...shared,
        "io.k8s.api.events.v1.Event": object("Event is a report.", { metadata, note: { type: "string" } }),
        "io.k8s.api.events.v1.EventList": list(wrapped("io.k8s.api.events.v1.Event")),
      },
    },
  },
  "apis/example.com/v1": {
    paths: { "/apis/example.com/v1/widgets": listed("example.com", "v1", "Widget", "com.example.v1.WidgetList") },
    components: {
      schemas: {
        ...shared,
        "com.example.v1.Widget": object("A widget.", {
          metadata,
          spec: object(
            "What is asked for.",
            {
              size: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
              note: { type: "string", nullable: true },
              "kebab-case": { type: "boolean" },
              free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
              // What goes together is no matter of types.
              oneOf: { type: "string" },
            },
            { required: ["size"], oneOf: [{ required: ["note"] }, { required: ["free"] }] },
          ),
        }),
        "com.example.v1.WidgetList": list(ref("com.example.v1.Widget")),
      },
    },
  },
};

/** Serves them, to who has the token, if there is one. */
export async function serveDocuments({ token, refuse } = {}) {
  const server = createServer((request, response) => {
    const path = request.url.split("?")[0].replace("/openapi/v3", "").slice(1);
    response.setHeader("content-type", "application/json");
    if (refuse !== undefined) {
      response.writeHead(refuse.status, { "content-type": refuse.type ?? "application/json" }).end(refuse.body ?? "{}");
    } else if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end("{}");
    } else if (!request.url.startsWith("/openapi/v3")) {
      response.writeHead(404).end("{}");
    } else if (path === "") {
      const paths = Object.fromEntries(
        [...Object.keys(documents), "version", "apis"].map((name) => [name, { serverRelativeURL: `/openapi/v3/${name}?hash=1` }]),
      );
      response.end(JSON.stringify({ paths }));
    } else {
      const document = documents[path];
      response.writeHead(document === undefined ? 500 : 200).end(JSON.stringify(document ?? {}));
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => new Promise((resolve) => server.close(resolve)) };
}
