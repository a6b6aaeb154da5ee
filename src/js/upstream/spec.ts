import { selector } from "../options/grammar.js";
import { invalid, type Judge, text } from "../options/kinds.js";
import { read } from "../options/read.js";
import { POLLED, SOURCE, SPEC } from "./options.js";
import type { PolledSourceSpec, Source, SourceSpec } from "./source.js";
import type { ResourceSpec } from "./types.js";

/** What tells the metrics of resources apart, beside their names. */
export interface MetricLabels {
  readonly group: string;
  /** Empty for all of the resource. */
  readonly scope: string;
}

/** A resource spec, read: what it is called, what it is identified by, and where it is. */
export type Target = { readonly key: string; readonly name: string; readonly labels: MetricLabels; readonly pollMs: number | undefined } & (
  | {
      /** As it was given, or as its text says. */
      readonly spec: ResourceSpec;
      readonly path: string;
      readonly labelSelector: string | undefined;
      readonly fieldSelector: string | undefined;
      readonly as: ResourceSpec["as"];
      /** In their order, each once; undefined where the resource is not of several. */
      readonly namespaces: readonly string[] | undefined;
      readonly source?: undefined;
    }
  | {
      readonly spec?: undefined;
      /** Or the address of the module that exports it. */
      readonly source: GivenSource | string;
    }
);

/** One that is polled may have no `watch`. */
export type GivenSource = Omit<Source, "watch"> & Partial<Pick<Source, "watch">>;

const VERSION = /^v[0-9]+((alpha|beta)[0-9]+)?$/;
const GROUP = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** The longest DNS subdomain, which names and groups of the API are. */
const MAX_NAME_LENGTH = 253;

const sourceNumbers = new WeakMap<object, number>();
let sources = 0;

/**
 * Reads any form of spec. Equal specs have equal keys; a resource version is never part of one.
 *
 * @param judge judges the selectors, if its core is there
 * @throws {WatchCacheError} `invalid`.
 */
export function readSpec(spec: string | ResourceSpec | SourceSpec | PolledSourceSpec, judge?: Judge): Target {
  if (typeof spec === "string") return kubernetes(fromText(spec));
  if (typeof spec !== "object" || spec === null) throw invalid(`a resource is named by text or by an object, not by ${String(spec)}`);
  if (!("source" in spec)) return kubernetes(read(SPEC, "resource", spec, judge));
  return custom(read<SourceSpec | PolledSourceSpec>(spec.poll === undefined ? SOURCE : POLLED, "resource", spec, judge, "source"));
}

/** `pods`, `v1/pods` and `apps/v1/deployments`. */
export function fromText(text: string): ResourceSpec {
  const parts = text.split("/");
  const [first = "", second = "", third = ""] = parts;
  if (parts.length === 1) return { version: "v1", resource: first };
  if (parts.length === 2) {
    if (VERSION.test(first)) return { version: first, resource: second };
    throw invalid(`"${text}" lacks the version: name a resource as "pods", "v1/pods" or "apps/v1/deployments"`);
  }
  if (parts.length === 3) return { group: first, version: second, resource: third };
  throw invalid(`"${text}" is no resource: name one as "pods", "v1/pods" or "apps/v1/deployments", with { namespace } as an object`);
}

function kubernetes(spec: ResourceSpec): Target {
  const group = spec.group ?? "";
  if (group !== "" && !check(GROUP, group)) throw invalid(`"${String(group)}" is no API group`);
  if (spec.version === undefined) throw invalid("version is missing: it is that of the API, such as v1 or v1beta1");
  if (!check(VERSION, spec.version)) throw invalid(`"${String(spec.version)}" is no API version, such as v1 or v1beta1`);
  if (spec.resource === undefined) throw invalid("resource is missing: it is the plural name in lower case, such as pods");
  if (!check(NAME, spec.resource))
    throw invalid(`"${String(spec.resource)}" is no resource: it is the plural name in lower case, such as pods`);
  if (spec.namespace && !check(NAME, spec.namespace)) throw invalid(`"${String(spec.namespace)}" is no namespace`);
  if (spec.namespace && spec.namespaces) throw invalid("a resource has either a `namespace` or `namespaces`, not both");
  const namespaces = spec.namespaces && readNamespaces(spec.namespaces);
  const base = group === "" ? `/api/${spec.version}` : `/apis/${group}/${spec.version}`;
  const path = spec.namespace ? `${base}/namespaces/${spec.namespace}/${spec.resource}` : `${base}/${spec.resource}`;
  const labelSelector = selector(spec.labelSelector);
  const fieldSelector = selector(spec.fieldSelector);
  return {
    key: JSON.stringify([path, labelSelector ?? "", fieldSelector ?? "", spec.as ?? "", spec.poll?.everyMs, namespaces]),
    pollMs: spec.poll?.everyMs,
    name: spec.resource,
    labels: {
      group,
      scope: scopeOf(spec.namespace, {
        namespaces: namespaces?.join(),
        labelSelector: labelSelector || undefined,
        fieldSelector: fieldSelector || undefined,
        as: spec.as,
        everyMs: spec.poll?.everyMs,
      }),
    },
    spec,
    namespaces,
    path,
    labelSelector,
    fieldSelector,
    as: spec.as,
  };
}

/**
 * Namespaces in their order, each once.
 *
 * @throws {WatchCacheError} `invalid`.
 */
export function readNamespaces(given: readonly string[]): readonly string[] {
  for (const namespace of given) if (!check(NAME, namespace)) throw invalid(`namespaces: "${String(namespace)}" is no namespace`);
  return Object.freeze([...new Set(given)].sort());
}

function custom(given: SourceSpec | PolledSourceSpec): Target {
  const { id, poll } = given;
  if (!id) throw invalid("a source needs an id: the name that messages call it by");
  const source = given.source as GivenSource | string;
  let number: number | string | undefined = source as string;
  if (typeof source !== "string") {
    checkCollection(source);
    number = sourceNumbers.get(source);
    if (number === undefined) sourceNumbers.set(source, (number = ++sources));
  }
  const pollMs = poll?.everyMs;
  return {
    key: JSON.stringify(["source", number, id, pollMs]),
    name: id,
    labels: { group: "", scope: scopeOf(undefined, { everyMs: pollMs }) },
    pollMs,
    source,
  };
}

export function checkCollection({ collection }: GivenSource): void {
  read({ namespace: text }, "the source's collection", collection);
}

/** What tells a resource from others of its name, as it would stand in a request. Namespaces that are none narrow it, too. */
function scopeOf(namespace: string | undefined, terms: Readonly<Record<string, string | number | undefined>>): string {
  const query = Object.entries(terms).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return (namespace ? `namespaces/${namespace}` : "") + (query.length > 0 ? `?${query.join("&")}` : "");
}

function check(pattern: RegExp, text: unknown): boolean {
  return typeof text === "string" && text.length <= MAX_NAME_LENGTH && pattern.test(text);
}
