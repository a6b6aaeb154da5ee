import type { OpenApi, Schema } from "./openapi.js";

const PREFIX = "#/components/schemas/";
const LISTED = /^\/(?:api|apis\/([^/]+))\/(v[^/]+)\/(?:namespaces\/\{namespace\}\/)?([^/{]+)$/;

/** What a cluster's documents say, in one. */
export interface Resources {
  /** The name of the schema of a resource's objects, by `"v1/pods"` or `"apps/v1/deployments"`. */
  readonly resources: ReadonlyMap<string, string>;
  /** All schemas, by their names. */
  readonly schemas: ReadonlyMap<string, Schema>;
}

/** The resources that can be listed. */
export function resourcesOf(documents: readonly OpenApi[]): Resources {
  const resources = new Map<string, string>();
  const schemas = new Map<string, Schema>();
  for (const { paths = {}, components } of documents) {
    const own = components?.schemas ?? {};
    for (const [name, schema] of Object.entries(own)) schemas.set(name, schema);
    for (const [path, { get }] of Object.entries(paths)) {
      const [, group, version, resource] = LISTED.exec(path) ?? [];
      if (resource === undefined || get?.["x-kubernetes-action"] !== "list") continue;
      const list = refOf(get.responses?.["200"]?.content?.["application/json"]?.schema);
      const object = refOf(own[list ?? ""]?.properties?.["items"]?.items);
      if (object !== undefined) resources.set([group, version, resource].filter(Boolean).join("/"), object);
    }
  }
  return { resources: new Map([...resources].sort(([a], [b]) => (a < b ? -1 : 1))), schemas };
}

/** The schema that this one stands for. The API wraps references to give them a default. */
function refOf(schema: Schema | undefined): string | undefined {
  const ref = schema?.$ref ?? (schema?.allOf?.length === 1 ? schema.allOf[0]!.$ref : undefined);
  return ref?.startsWith(PREFIX) ? ref.slice(PREFIX.length) : undefined;
}

/**
 * One JSON Schema: an object with a member for each resource, and the schemas that they need under names of TypeScript. A resource of the
 * core group is a member by its plain name as well, as the cache understands it.
 */
export function asJsonSchema({ resources, schemas }: Resources, comments: boolean): object {
  const needed = new Set<string>();
  const take = (name: string) => {
    if (needed.has(name) || !schemas.has(name)) return;
    needed.add(name);
    for (const ref of refsIn(schemas.get(name)!)) take(ref);
  };
  for (const name of resources.values()) take(name);
  const names = typeNames([...needed].sort());
  const convert = converter(names, comments);
  const definitions: Record<string, object> = {};
  for (const [name, typeName] of names) definitions[typeName] = convert(schemas.get(name)!);
  const properties: Record<string, object> = {};
  for (const [resource, name] of resources) {
    const reference = { $ref: `#/definitions/${names.get(name)!}` };
    if (resource.startsWith("v1/")) properties[resource.slice("v1/".length)] = reference;
    properties[resource] = reference;
  }
  return { type: "object", additionalProperties: false, required: Object.keys(properties), properties, definitions };
}

function refsIn(schema: Schema): string[] {
  const found: string[] = [];
  const look = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    const { $ref } = value as Schema;
    if (typeof $ref === "string" && $ref.startsWith(PREFIX)) found.push($ref.slice(PREFIX.length));
    for (const child of Object.values(value)) look(child);
  };
  look(schema);
  return found;
}

/**
 * `io.k8s.api.core.v1.Pod` is `V1Pod`, `io.k8s.apimachinery.pkg.api.resource.Quantity` is `Quantity`. Of two that would be called so each
 * has what stands before it as well: `CoreV1Event`, `EventsV1Event`.
 */
function typeNames(names: readonly string[]): Map<string, string> {
  const chosen = new Map<string, string>();
  const taken = new Set<string>();
  let left = names;
  for (let parts = 2; left.length > 0; parts++) {
    const size = (name: string) => (/\.v\d[^.]*\.[^.]*$/.test(name) ? parts : parts - 1);
    const short = (name: string) => name.split(".").slice(-size(name)).map(pascal).join("");
    const counts = new Map<string, number>();
    for (const name of left) counts.set(short(name), (counts.get(short(name)) ?? 0) + 1);
    left = left.filter((name) => {
      const distinct = counts.get(short(name)) === 1 && !taken.has(short(name));
      // Where nothing is left to tell them apart, a number does.
      if (!distinct && size(name) < name.split(".").length) return true;
      chosen.set(name, unique(short(name), taken));
      return false;
    });
  }
  return chosen;
}

function unique(name: string, taken: Set<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name}${n}`;
  taken.add(free);
  return free;
}

function pascal(word: string): string {
  return word.replace(/(^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_all, _gap, letter: string) => letter.toUpperCase());
}

/** From the API's dialect to JSON Schema, as far as types go. */
function converter(names: ReadonlyMap<string, string>, comments: boolean): (schema: Schema) => object {
  const convert = (schema: Schema): object => {
    const about = comments && schema.description !== undefined ? { description: schema.description } : {};
    const ref = refOf(schema);
    if (ref !== undefined) {
      const reference = names.has(ref) ? { $ref: `#/definitions/${names.get(ref)!}` } : {};
      // What stands beside a reference would make it a type of its own.
      return schema.nullable ? { ...about, anyOf: [reference, { type: "null" }] } : { ...about, allOf: [reference] };
    }
    const nullable = (type: string | string[]) => (schema.nullable ? [type, "null"].flat() : type);
    if (schema["x-kubernetes-int-or-string"] || schema.format === "int-or-string")
      return { ...about, type: nullable(["integer", "string"]) };
    const alternatives = schema.oneOf ?? schema.anyOf;
    // Alternatives of an object only say which of its members go together: that is beyond its type.
    if (schema.type === undefined && alternatives?.every(({ type, $ref }) => type !== undefined || $ref !== undefined)) {
      return { ...about, anyOf: alternatives.map(convert) };
    }
    if (schema.enum !== undefined) return { ...about, enum: schema.nullable ? [...schema.enum, null] : schema.enum };
    if (schema.items !== undefined) return { ...about, type: nullable("array"), items: convert(schema.items) };
    const { properties, additionalProperties } = schema;
    if (properties === undefined && schema.type !== "object")
      return schema.type === undefined ? about : { ...about, type: nullable(schema.type) };
    const open = properties === undefined || schema["x-kubernetes-preserve-unknown-fields"] || schema["x-kubernetes-embedded-resource"];
    return {
      ...about,
      type: nullable("object"),
      ...(schema.required === undefined ? {} : { required: schema.required }),
      properties: Object.fromEntries(Object.entries(properties ?? {}).map(([name, property]) => [name, convert(property)])),
      additionalProperties: typeof additionalProperties === "object" ? convert(additionalProperties) : Boolean(open),
    };
  };
  return convert;
}
