// What a request asks for, where that is a list or a watch of a collection. Whatever else it is the API server answers itself.

/** The rest of the package calls them ListOptions and WatchOptions: as they stand in a query. */
export interface AskOptions {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly continue?: string;
  readonly limit?: number;
  readonly timeoutSeconds?: number;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
}

/** A list or a watch. */
export interface Ask {
  readonly verb: "list" | "watch";
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty for all of them, and where there are none. */
  readonly namespace: string;
  readonly options: AskOptions;
}

const NAME = "[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?";
const VERSION = "v[0-9]+(?:(?:alpha|beta)[0-9]+)?";
const COLLECTION = new RegExp(`^/(?:api|apis/(${NAME}))/(${VERSION})/(?:namespaces/(${NAME})/)?(${NAME})$`);

const TEXTS = ["labelSelector", "fieldSelector", "resourceVersion", "resourceVersionMatch", "continue"] as const;
const NUMBERS = ["limit", "timeoutSeconds"] as const;
const FLAGS = ["watch", "allowWatchBookmarks", "sendInitialEvents", "pretty"] as const;
/** client-go says by it how long it waits itself. */
const IGNORED = "timeout";
const KNOWN = new Set<string>([...TEXTS, ...NUMBERS, ...FLAGS, IGNORED]);

/**
 * Reads a request. What is not understood to the last parameter is no ask: the server knows what it means.
 *
 * @param url path and query, as they came
 */
export function readAsk(method: string | undefined, url: string | undefined): Ask | undefined {
  if (method !== "GET" || url === undefined) return undefined;
  const [path = "", query = ""] = url.split(/\?(.*)/s, 2);
  const [, group = "", version, namespace = "", resource] = COLLECTION.exec(path) ?? [];
  if (version === undefined || resource === undefined) return undefined;
  const given = new URLSearchParams(query);
  const options: Record<string, string | number | boolean> = {};
  for (const name of new Set(given.keys())) {
    const values = given.getAll(name);
    const value = values[0]!;
    if (values.length > 1 || !KNOWN.has(name)) return undefined;
    if (name === IGNORED || (value === "" && name !== "watch")) continue;
    const read = readValue(name, value);
    if (read === undefined) return undefined;
    options[name] = read;
  }
  const { watch = false, pretty = false, ...rest } = options;
  // What is held goes out as it came.
  if (pretty === true) return undefined;
  // What goes with a watch alone is a mistake elsewhere, and what no rule is called by is one everywhere: the server says so.
  if (watch !== true && rest["sendInitialEvents"] !== undefined) return undefined;
  if (!["Exact", "NotOlderThan", undefined].includes(rest["resourceVersionMatch"] as string | undefined)) return undefined;
  return { verb: watch === true ? "watch" : "list", group, version, resource, namespace, options: rest as AskOptions };
}

/** The old paths of watches, such as `/api/v1/watch/pods`. */
const WATCH_PATH = /^\/+(?:api|apis\/+[^/]+)\/+[^/]+\/+watch\//;

/** Whether the server would take a request for a watch, also where {@link readAsk} leaves it to the server. Then it stays open as any watch. */
export function asksToWatch(method: string | undefined, url: string | undefined): boolean {
  if (method !== "GET" || url === undefined) return false;
  const [path = "", query = ""] = url.split(/\?(.*)/s, 2);
  const [watch] = new URLSearchParams(query).getAll("watch");
  // By the server's rule it is enough that the parameter is there.
  if (watch !== undefined && !["0", "false"].includes(watch.toLowerCase())) return true;
  try {
    return WATCH_PATH.test(decodeURIComponent(path));
  } catch {
    return false;
  }
}

/** Undefined: not as clients write it. */
function readValue(name: string, value: string): string | number | boolean | undefined {
  if ((NUMBERS as readonly string[]).includes(name)) return /^[0-9]{1,9}$/.test(value) ? Number(value) : undefined;
  if (!(FLAGS as readonly string[]).includes(name)) return value;
  return { true: true, "1": true, false: false, "0": false }[value.toLowerCase()];
}

/** Fields of which a server tells what stands in the object, by resource. Others it computes, or does not know at all. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/pods": [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.phase",
    "status.nominatedNodeName",
  ],
  "/events": [
    ...["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map((name) => `involvedObject.${name}`),
    "reason",
    "type",
  ],
  "/namespaces": ["status.phase"],
  "/secrets": ["type"],
};

/** One term: a field, an operator, and a value without anything escaped. */
const TERM = /^([A-Za-z0-9._/-]+)(!=|==|=)([A-Za-z0-9._:/{}-]*)$/;

/** Whether the fields that are selected by stand in the object as the server tells them, so that the cache tells the same. */
export function selectsWhatStands({ group, resource, options: { fieldSelector } }: Ask, namespaced: boolean): boolean {
  if (fieldSelector === undefined) return true;
  const always = namespaced ? ["metadata.name", "metadata.namespace"] : ["metadata.name"];
  const known = [...always, ...(FIELDS[`${group}/${resource}`] ?? [])];
  return fieldSelector.split(",").every((term) => {
    const field = TERM.exec(term)?.[1];
    return field !== undefined && known.includes(field);
  });
}

/** The one name that is selected. Who may see that object alone may ask for it so. */
export function selectedName({ options: { fieldSelector } }: Ask): string | undefined {
  for (const term of fieldSelector?.split(",") ?? []) {
    const [, field, operator, value] = TERM.exec(term) ?? [];
    if (field === "metadata.name" && operator !== "!=" && value) return value;
  }
  return undefined;
}

/**
 * Whether plain JSON will do. Who asks for a form that the server makes, such as a Table, is answered by the server. Who would take protobuf and JSON gets
 * JSON.
 */
export function takesJson(accept: string | undefined): boolean {
  const clauses = (accept ?? "*/*").split(",").map((clause) => clause.trim().toLowerCase());
  const types = clauses.filter((clause) => !/;\s*q=0(\.0*)?\s*(;|$)/.test(clause)).map((clause) => clause.split(";")[0]!.trim());
  if (clauses.some((clause) => /;\s*as=/.test(clause)) || types[0] === "application/yaml") return false;
  return types.some((type) => ["application/json", "application/*", "*/*", ""].includes(type));
}

export const takesGzip = (encoding: string | string[] | undefined): boolean =>
  String(encoding ?? "")
    .split(",")
    .some((clause) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$)|$)/i.test(clause));
