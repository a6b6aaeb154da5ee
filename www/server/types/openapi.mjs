// The OpenAPI documents of the objects: what kubectl asks for before it sends one, and what types are generated from. Without descriptions.
import { apiVersion, RESOURCES } from "../resources.mjs";
import { typeNamed, typeNames, typeOf } from "./types.mjs";

/** @typedef {import("./types.mjs").Field} Field */
/** @typedef {Record<string, any>} Schema */

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
/** Types with a form of their own: where they are defined, and what they are. @type {Record<string, [name: string, schema: Schema]>} */
const SPECIAL = {
  Time: [`${META}.Time`, { type: "string", format: "date-time" }],
  MicroTime: [`${META}.MicroTime`, { type: "string", format: "date-time" }],
  Raw: [`${META}.FieldsV1`, { type: "object" }],
  Quantity: ["io.k8s.apimachinery.pkg.api.resource.Quantity", { oneOf: [{ type: "string" }, { type: "number" }] }],
  IntOrString: [
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  ],
};
/** @type {Record<string, Schema>} */
const SCALARS = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer", format: "int32" },
  int64: { type: "integer", format: "int64" },
  bytes: { type: "string", format: "byte" },
};

/** "core/v1.Pod" as documents call it. @param {string} type */
function schemaName(type) {
  const [group, rest] = type.split("/");
  return group === "meta" ? `io.k8s.apimachinery.pkg.apis.meta.${rest}` : `io.k8s.api.${group}.${rest}`;
}

/** @param {string} name */
const reference = (name) => ({ $ref: `#/components/schemas/${name}` });

/** @param {string} type @returns {Schema} */
function schemaOfValue(type) {
  if (type.startsWith("[]")) return { type: "array", items: schemaOfValue(type.slice(2)) };
  if (SCALARS[type]) return SCALARS[type];
  const name = SPECIAL[type]?.[0] ?? schemaName(type);
  return { allOf: [reference(name)] };
}

/** @param {Field} field @returns {Schema} */
function schemaOfField({ many, type, strategy, key }) {
  const one = schemaOfValue(type);
  const whole = many === "[]" ? { type: "array", items: one } : many === "{}" ? { type: "object", additionalProperties: one } : one;
  return {
    ...whole,
    ...(strategy.length > 0 ? { "x-kubernetes-patch-strategy": strategy.join(",") } : {}),
    ...(key ? { "x-kubernetes-patch-merge-key": key } : {}),
  };
}

/** @type {Schema} */
const TYPE_META = { apiVersion: SCALARS.string, kind: SCALARS.string };

/** Schemas of all types, by the names that documents have for them. */
function allSchemas() {
  /** @type {Record<string, Schema>} */
  const schemas = Object.fromEntries(Object.values(SPECIAL));
  for (const type of typeNames()) {
    const properties = [...typeNamed(type).byName.values()].map((field) => [field.name, schemaOfField(field)]);
    schemas[schemaName(type)] = { type: "object", properties: Object.fromEntries(properties) };
  }
  schemas[`${META}.ListMeta`] = {
    type: "object",
    properties: { continue: SCALARS.string, remainingItemCount: SCALARS.int64, resourceVersion: SCALARS.string },
  };
  for (const definition of RESOURCES) {
    const { group, version, kind } = definition;
    const name = schemaName(/** @type {string} */ (typeOf(apiVersion(definition), kind)));
    const kinds = (/** @type {string} */ itself) => ({ "x-kubernetes-group-version-kind": [{ group, kind: itself, version }] });
    const own = schemas[name];
    schemas[name] = { ...own, properties: { ...TYPE_META, ...own.properties }, ...kinds(kind) };
    schemas[`${name}List`] = {
      type: "object",
      properties: {
        ...TYPE_META,
        items: { type: "array", items: { allOf: [reference(name)] } },
        metadata: { allOf: [reference(`${META}.ListMeta`)] },
      },
      required: ["items"],
      ...kinds(`${kind}List`),
    };
  }
  return schemas;
}

/** @type {Record<string, Schema> | undefined} */
let made;
const schemas = () => (made ??= allSchemas());

/** @param {string} name */
const queried = (name) => ({ name, in: "query", schema: { type: "string" } });
const WRITES = ["dryRun", "fieldManager", "fieldValidation"].map(queried);

/** @param {import("../resources.mjs").ResourceDefinition} definition */
function pathsOf(definition) {
  const { group, version, kind, resource, namespaced } = definition;
  const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
  const type = schemaName(/** @type {string} */ (typeOf(apiVersion(definition), kind)));
  const collection = `${root}/${namespaced ? "namespaces/{namespace}/" : ""}${resource}`;
  /** @param {string} action @param {string} answer @param {object[]} [parameters] */
  const operation = (action, answer, parameters = []) => ({
    parameters,
    responses: { 200: { description: "OK", content: { "application/json": { schema: reference(answer) } } } },
    "x-kubernetes-action": action,
    "x-kubernetes-group-version-kind": { group, kind, version },
  });
  const list = { get: operation("list", `${type}List`) };
  return {
    ...(namespaced ? { [`${root}/${resource}`]: list } : {}),
    [collection]: { ...list, post: operation("post", type, WRITES) },
    [`${collection}/{name}`]: {
      get: operation("get", type),
      put: operation("put", type, WRITES),
      patch: operation("patch", type, [...WRITES, queried("force")]),
      delete: operation("delete", type, [queried("dryRun")]),
    },
  };
}

const INFO = { title: "Kubernetes", version: "1.36" };

/** Schemas that a schema names, and those that they name. @param {string[]} names */
function reached(names) {
  /** @type {Record<string, Schema>} */
  const found = {};
  const visit = (/** @type {string} */ name) => {
    if (found[name]) return;
    found[name] = schemas()[name];
    for (const [, inner] of JSON.stringify(found[name]).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) visit(inner);
  };
  names.forEach(visit);
  return found;
}

/** The paths of the documents of version 3, by group and version, such as "apis/apps/v1". */
const GROUP_VERSIONS = new Map(
  RESOURCES.map((definition) => [
    definition.group ? `apis/${apiVersion(definition)}` : `api/${definition.version}`,
    apiVersion(definition),
  ]),
);

/**
 * @param {string} pathname
 * @returns {unknown} a document of version 3 or their index, undefined for what there is not
 */
export function openApiDocument(pathname) {
  if (pathname === "/openapi/v3") {
    const paths = [...GROUP_VERSIONS.keys()].map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}` }]);
    return { paths: Object.fromEntries(paths) };
  }
  const wanted = GROUP_VERSIONS.get(pathname.replace(/^\/openapi\/v3\//, ""));
  if (!wanted) return undefined;
  const definitions = RESOURCES.filter((definition) => apiVersion(definition) === wanted);
  const names = definitions.map((definition) => `${schemaName(/** @type {string} */ (typeOf(wanted, definition.kind)))}List`);
  return {
    openapi: "3.0.0",
    info: INFO,
    paths: Object.assign({}, ...definitions.map(pathsOf)),
    components: { schemas: reached(names) },
  };
}

/** The document of version 2, as JSON: one for all groups. */
export function openApiV2() {
  const paths = Object.assign({}, ...RESOURCES.map(pathsOf));
  const text = JSON.stringify({ swagger: "2.0", info: INFO, paths, definitions: schemas() });
  // Version 2 has one place for schemas, no choice of types, and the schema of an answer beside its description.
  const document = JSON.parse(text.replaceAll("#/components/schemas/", "#/definitions/"));
  for (const [name, [, schema]] of Object.entries(SPECIAL))
    if (schema.oneOf) document.definitions[SPECIAL[name][0]] = { type: "string", ...(schema.format ? { format: schema.format } : {}) };
  for (const operations of Object.values(document.paths)) {
    for (const operation of Object.values(/** @type {Record<string, any>} */ (operations))) {
      operation.parameters = operation.parameters.map((/** @type {any} */ { schema, ...rest }) => ({ ...rest, type: schema.type }));
      const answer = operation.responses[200];
      operation.responses = { 200: { description: answer.description, schema: answer.content["application/json"].schema } };
    }
  }
  return document;
}
