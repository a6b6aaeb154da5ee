// What belongs to an object, as the namespaces and selectors that find it. So the core evaluates relations on the stored bytes, and equal ones share
// their view.
import { type Kind, invalid, shown } from "../options/kinds.js";
import type { ObjectLike } from "../object/metadata.js";
import type { RelationOptions } from "./types.js";

/** What a relation asks of an object. */
interface Terms {
  /** The one namespace that it can lie in. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}
/** Nothing can be found. */
const NOTHING = "nothing";

interface Narrowed {
  namespaces?: readonly string[] | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

/** A spec without relations, which finds what they find. `group` is that of the resource, whose events are named so. @throws {WatchCacheError} `invalid`. */
export function related<S extends Narrowed & RelationOptions>(spec: S, group: string): Omit<S, keyof RelationOptions> {
  const { childrenOf, selectedBy, eventsOf, ...rest } = spec;
  const all = [
    childrenOf === undefined ? {} : childrenOf === null ? NOTHING : children(childrenOf),
    selectedBy === undefined ? {} : selectedBy === null ? NOTHING : selected(selectedBy),
    eventsOf === undefined ? {} : eventsOf === null ? NOTHING : events(eventsOf, group),
  ] as const;
  return all.reduce<Omit<S, keyof RelationOptions>>(narrow, rest);
}

function narrow<S extends Narrowed>(spec: S, terms: Terms | typeof NOTHING): S {
  if (terms === NOTHING) return { ...spec, namespaces: [] };
  const { namespace, labelSelector, fieldSelector } = terms;
  const { namespaces = namespace === undefined ? undefined : [namespace] } = spec;
  const both = (one: string | undefined, other: string | undefined) => [one, other].filter((text) => text?.trim()).join() || undefined;
  return {
    ...spec,
    namespaces: namespace === undefined ? namespaces : namespaces!.filter((name) => name === namespace),
    labelSelector: both(spec.labelSelector, labelSelector),
    fieldSelector: both(spec.fieldSelector, fieldSelector),
  };
}

/** What a method was not given is a mistake, while an option may be left out. @throws {WatchCacheError} `invalid`. */
export function missing(name: string, given: null | undefined): null {
  if (given === null) return given;
  throw invalid(`${name} is missing: give null while there is none, which finds nothing`);
}

/** A relation that is given: `null` while what it is about is not known yet. */
const maybe =
  (read: (value: unknown) => unknown): Kind =>
  (value) => {
    if (value !== null) read(value);
    return value as unknown;
  };

export const RELATIONS = {
  childrenOf: maybe((owner) => children(owner as string)),
  selectedBy: maybe((selecting) => selected(selecting as object)),
  eventsOf: maybe((object) => events(object as string, "")),
};

// ------------------------------------------------------------------------------------------------ owners, events

function children(owner: string | ObjectLike): Terms {
  const uid = uidOf(owner, "childrenOf");
  // An owner of one namespace owns nothing in another. One of the cluster may own anything.
  const namespace = typeof owner === "string" ? undefined : namespaceOf(owner.metadata, "childrenOf");
  return { namespace, fieldSelector: `metadata.ownerReferences[?(@.uid=='${uid.replace(/['\\]/g, "\\$&")}')].uid=${escaped(uid)}` };
}

function events(object: string | ObjectLike, group: string): Terms {
  const about = group === "events.k8s.io" ? "regarding" : "involvedObject";
  // Kubelets tell of a node by its name, and leave its uid to others.
  if (typeof object === "object" && isNode(object))
    return { fieldSelector: `${about}.kind=Node,${about}.name=${escaped(object.metadata?.name ?? "")}` };
  return { fieldSelector: `${about}.uid=${escaped(uidOf(object, "eventsOf"))}` };
}

/** Items of lists lack their kind. */
function isNode(object: ObjectLike): boolean {
  const { kind, status, metadata } = object as ObjectLike & { status?: { nodeInfo?: unknown } };
  return Boolean(metadata?.name) && (kind ? kind === "Node" : status?.nodeInfo !== undefined);
}

function uidOf(object: unknown, name: string): string {
  const uid: unknown = typeof object === "string" ? object : (object as ObjectLike | undefined)?.metadata?.uid;
  if (typeof uid === "string" && uid !== "") return uid;
  throw invalid(`${name} is a uid, or an object with metadata.uid, or null while there is none, not ${shown(object)}`);
}

/** Where an object lies, as it says; undefined for one of the cluster. */
function namespaceOf(metadata: ObjectLike["metadata"] | undefined, name: string): string | undefined {
  const namespace: unknown = metadata?.namespace ?? undefined;
  if (namespace === undefined || typeof namespace === "string") return namespace;
  throw invalid(`${name}: metadata.namespace is text, not ${shown(namespace)}`);
}

/** A value in a field selector. */
const escaped = (value: string): string => value.replace(/[\\,=]/g, "\\$&");

// ------------------------------------------------------------------------------------------------ selectors

type Bag = Readonly<Record<string, unknown>>;
const isBag = (value: unknown): value is Bag => typeof value === "object" && value !== null && !Array.isArray(value);

function selected(given: object): Terms | typeof NOTHING {
  if (!isBag(given))
    throw invalid(`selectedBy is an object with a selector, or a LabelSelector, not ${shown(given)}: text is for labelSelector`);
  if (!("metadata" in given) && !("spec" in given)) return { labelSelector: labelSelector(given) };
  const { spec, metadata } = given as { spec?: unknown; metadata?: ObjectLike["metadata"] };
  const { selector, podSelector } = isBag(spec) ? spec : ({} as Bag);
  const wanted = selector ?? podSelector;
  const namespace = namespaceOf(metadata, "selectedBy");
  // A selector that is not there selects nothing, an empty one everything.
  if (wanted === undefined || wanted === null) return NOTHING;
  if (!isBag(wanted)) throw invalid(`selectedBy: spec.selector is an object, not ${shown(wanted)}`);
  if (isLabelSelector(wanted)) {
    const isService = given["kind"] === "Service" || (isBag(spec) && "ports" in spec);
    return Object.keys(wanted).length === 0 && isService ? NOTHING : { namespace, labelSelector: labelSelector(wanted) };
  }
  return { namespace, labelSelector: equalities(wanted).join() };
}

/** Whether it is one of `metav1.LabelSelector`, and no map of labels, of which one could be called so. */
const isLabelSelector = (selector: Bag): boolean =>
  Object.entries(selector).every(([name, value]) => (name === "matchLabels" || name === "matchExpressions") && typeof value !== "string");

function labelSelector(selector: Bag): string {
  const { matchLabels, matchExpressions, ...others } = selector;
  const [stranger] = Object.keys(others);
  if (stranger !== undefined)
    throw invalid(
      `selectedBy: a LabelSelector has matchLabels and matchExpressions, and no ${stranger}: name an object by its metadata and spec`,
    );
  const labels = matchLabels ?? {};
  const expressions = matchExpressions ?? [];
  if (!isBag(labels)) throw invalid(`selectedBy: matchLabels is an object, not ${shown(labels)}`);
  if (!Array.isArray(expressions)) throw invalid(`selectedBy: matchExpressions is an array, not ${shown(expressions)}`);
  return [...equalities(labels), ...expressions.map(requirement)].join();
}

function equalities(labels: Bag): string[] {
  return Object.entries(labels).map(([key, value]) => `${labelKey(key)}=${labelValue(value)}`);
}

function requirement(expression: unknown): string {
  if (!isBag(expression)) throw invalid(`selectedBy: each of matchExpressions is an object, not ${shown(expression)}`);
  const { key, operator, values } = expression;
  const name = labelKey(key);
  const given: unknown[] = Array.isArray(values) ? values : [];
  const set = () => {
    if (given.length === 0) throw invalid(`selectedBy: ${String(operator)} of matchExpressions needs values`);
    return `(${given.map(labelValue).join()})`;
  };
  const none = () => {
    if (given.length > 0) throw invalid(`selectedBy: ${String(operator)} of matchExpressions has no values`);
  };
  switch (operator) {
    case "In":
      return `${name} in ${set()}`;
    case "NotIn":
      return `${name} notin ${set()}`;
    case "Exists":
      return (none(), name);
    case "DoesNotExist":
      return (none(), `!${name}`);
    default:
      throw invalid("selectedBy: the operator of matchExpressions is one of In, NotIn, Exists, DoesNotExist");
  }
}

const KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-\w.]*[A-Za-z0-9])?)?$/;

/** What is no label's would mean something else in the text of a selector. */
function labelKey(key: unknown): string {
  if (typeof key === "string" && KEY.test(key)) return key;
  throw invalid(`selectedBy: ${typeof key === "string" ? JSON.stringify(key) : shown(key)} is no key of a label`);
}

function labelValue(value: unknown): string {
  if (typeof value === "string" && VALUE.test(value)) return value;
  throw invalid(`selectedBy: ${typeof value === "string" ? JSON.stringify(value) : shown(value)} is no value of a label`);
}
