// What may be given: one table for each bag of options. The compiler compares it with the public types, tests/js/config.test.mjs with what
// the core reads.
import { DEFAULT_MIN_EVENTS, MAX_GROWTH, MAX_WAIT_MS, MIN_FRESH_MS } from "../wire/bounds.js";
import { toError, WatchCacheError } from "../error/errors.js";
import type { RawModule } from "../wire/raw.js";
import type {
  Credentials,
  DeleteOptions,
  GetOptions,
  HandlerOptions,
  InformerFactoryOptions,
  InformerOptions,
  ListOptions,
  ResourceSpec,
  SourceSpec,
  ViewSpec,
  WaitOptions,
  WatchCacheOptions,
  WatchOptions,
  WriteOptions,
} from "../types.js";
import { NAMESPACE_INDEX, ORDERS } from "../wire/numbers.js";

/** Who can have the core judge the grammar of a selector or path, once the core is there. */
export interface Judge {
  /** The resource's name, for errors. */
  readonly name?: string;
  loaded(): Pick<RawModule, "checkGrammar"> | undefined;
}

/** Takes a value as it was given, or throws `invalid`. */
export type Kind = (value: any, name: string, judge?: Judge) => any;

/** A kind for each option. */
export type Bag<O> = { readonly [K in keyof Required<O>]: Kind };

/** Options without those that are undefined. */
export type Given<O> = { [K in keyof O]: Exclude<O[K], undefined> };

export function invalid(message: string): WatchCacheError {
  return new WatchCacheError("invalid", message);
}

/** What was given, in a word: it may be a secret. */
function shown(value: unknown): string {
  if (typeof value === "string") return value === "" ? "empty text" : "text";
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : "an object";
}

export function is(what: string, holds: (value: any) => boolean, show = shown): Kind {
  return (value, name) => {
    if (!holds(value)) throw invalid(`${name} is ${what}, not ${show(value)}`);
    return value;
  };
}

/** @throws {WatchCacheError} `invalid`. Nothing else may cross to the core as text: the boundary would read whatever memory there is. */
export const text = is("text", (value) => typeof value === "string") as (value: unknown, name: string) => string;
export function texts(given: Readonly<Record<string, unknown>>): void {
  for (const name in given) text(given[name], name);
}
export const callback = is("a function", (value) => typeof value === "function");
export const object = is("an object", (value) => typeof value === "object" && value !== null && !Array.isArray(value));
export const flag = is("true or false", (value) => typeof value === "boolean");
const signal = is("an AbortSignal", (value) => typeof value?.aborted === "boolean" && typeof value.addEventListener === "function");
/** Without a `most` it may be `Infinity`: a duration that never ends, or no bound. */
export const number = (least: number, most = Infinity) =>
  is(
    most === Infinity ? `a number from ${least} up` : `a number from ${least} to ${most}`,
    (value) => typeof value === "number" && value >= least && value <= most,
  );
const whole = (least: number) =>
  is(`a whole number from ${least} up`, (value) => Number.isInteger(value) && value >= least && value <= 0xffff_ffff);
export const word = (...words: string[]) =>
  is(
    `one of ${words.join(", ")}`,
    (value) => words.includes(value),
    (value) => (typeof value === "string" ? JSON.stringify(value) : shown(value)),
  );
export const list =
  (kind: Kind, show = shown): Kind =>
  (value, name, judge) => {
    if (!Array.isArray(value)) throw invalid(`${name} is an array, not ${show(value)}`);
    return value.map((item, i) => kind(item, `${name}[${i}]`, judge));
  };
const bag =
  (members: Bag<any>, needed = ""): Kind =>
  (value, name, judge) =>
    read(members, name, value, judge, needed, `${name}.`);

/** What the core has to judge: a selector, a path, or the name of an index that a function makes. */
const judged: Kind = (value, name, judge) => {
  try {
    judge?.loaded()?.checkGrammar(name, typeof value === "string" ? value : undefined);
  } catch (error) {
    const mistake = toError(error, judge?.name);
    // Of a panic whoever uses the core is told.
    if (mistake.code === "invalid") throw mistake;
  }
  return value;
};

/** A selector or a path. */
const grammar: Kind = (value, name, judge) => judged(text(value, name), name, judge);

/** Indexes by name, each by a path or by a function. */
export const indexes: Kind = (value, name, judge) => {
  object(value, name);
  const read: [index: string, by: unknown][] = [];
  for (const [index, by] of Object.entries(value)) {
    // At the call, whether the core is there or not: what it refused later would end an informer, or a resource. It has the same rule.
    if (index === "" || index === NAMESPACE_INDEX)
      throw invalid(`${name} ${index ? `lists "${index}", which always exists` : "have names"}`);
    if (by === undefined) continue;
    if (typeof by !== "string" && typeof by !== "function") throw invalid(`${name}.${index} is a path or a function, not ${shown(by)}`);
    read.push([index, judged(by, `${name}.${index}`, judge)]);
  }
  // Any name may be that of an index, `__proto__` as well.
  return Object.fromEntries(read);
};

const selectors = { labelSelector: grammar, fieldSelector: grammar };
const scope = { namespace: text, ...selectors };
/** A duration in milliseconds, or a number of what may be without end. */
const period = number(0);
/** The wait between two tries: no wait makes a loop, and one without end is no try. */
const pause = number(1, MAX_WAIT_MS);
const window = bag({ offset: whole(0), limit: whole(0) }, "offset limit");
const sizes = bag({ minMs: number(MIN_FRESH_MS), minEvents: whole(1), maxEvents: whole(1), maxBytes: period });
/** The bounds of the event window. The core has the same rules, in the same words, but a cache is made before the core is there. */
const history: Kind = (value, name) => {
  const bounds = sizes(value, name);
  const { minEvents = DEFAULT_MIN_EVENTS, maxEvents = minEvents } = bounds;
  if (maxEvents < minEvents) throw invalid(`${name}.maxEvents, ${maxEvents}, is below minEvents, ${minEvents}`);
  return bounds;
};

export const SIGNAL: Bag<WriteOptions> = { signal };
export const REFRESH = { reset: flag };
export const GET: Bag<GetOptions> = { resourceVersion: text, signal };
export const LIST: Bag<ListOptions> = {
  ...scope,
  ...GET,
  shardSelector: grammar,
  resourceVersionMatch: text,
  // Less than 1 is no limit, as for the apiserver.
  limit: is("a whole number", Number.isSafeInteger),
  continue: text,
  wait: flag,
};
export const WATCH: Bag<WatchOptions> = {
  ...scope,
  ...GET,
  name: text,
  shardSelector: grammar,
  resourceVersionMatch: text,
  sendInitialEvents: flag,
  allowWatchBookmarks: flag,
  timeoutSeconds: whole(0),
  bufferSize: whole(0),
  onOverflow: word("terminate", "resync", "coalesce"),
  wait: flag,
};
export const DELETE: Bag<DeleteOptions> = {
  signal,
  preconditions: bag({ uid: text, resourceVersion: text }),
  gracePeriodSeconds: whole(0),
  propagationPolicy: word("Orphan", "Background", "Foreground"),
};
export const VIEW: Bag<ViewSpec<any>> = {
  namespaces: list(text),
  ...selectors,
  where: callback,
  orderBy: list(bag({ path: grammar, descending: flag, as: word(...ORDERS) }, "path")),
  window,
  groupBy: grammar,
};
export const INFORMER: Bag<InformerOptions<any>> = {
  resyncPeriod: period,
  transform: callback,
  indexers: indexes,
  relistUpdates: flag,
  readYourWrites: flag,
  onWatchError: callback,
  start: flag,
};
export const HANDLER: Bag<HandlerOptions<any>> = {
  ...scope,
  resyncPeriod: period,
  coalesce: flag,
  bufferSize: period,
  timeSlice: period,
  filter: callback,
};
export const FACTORY: Bag<InformerFactoryOptions> = { ...scope, resyncPeriod: period, transform: callback, onWatchError: callback };
export const WAIT: Bag<WaitOptions> = { timeoutMs: period, signal };
export const SPEC: Bag<ResourceSpec> = { ...scope, group: text, version: text, resource: text };
export const SOURCE: Bag<SourceSpec> = {
  source: is("a Source: an object with the methods list and watch", (value) => {
    const methods = ["list", "watch", "get", "create", "update", "delete", "currentResourceVersion", "requestProgress"];
    return methods.every((name, i) => typeof value?.[name] === "function" || (i > 1 && value[name] === undefined));
  }),
  id: text,
};
export const CACHE: Bag<WatchCacheOptions> = {
  server: is("a URL or its text", (value) => value !== "" && (typeof value === "string" || typeof value?.href === "string")),
  transport: word("websocket", "fetch"),
  auth: callback,
  fetch: callback,
  WebSocket: callback,
  credentials: word("omit", "same-origin", "include"),
  strip: list(grammar),
  trigger: grammar,
  indexes,
  history,
  memory: bag({ maxBytes: period }),
  pageSize: whole(1),
  watchList: flag,
  linger: period,
  idleTimeout: number(1),
  retry: bag({ initialMs: pause, factor: number(1, MAX_GROWTH), capMs: pause, jitter: number(0, MAX_GROWTH), resetAfterMs: period }),
  flush: word("frame", "microtask"),
  debug: flag,
  checkConsistency: flag,
  logger: is("an object with the methods of console", (value) => [value?.warn, value?.error].every((log) => typeof log === "function")),
  signal,
};

/** What may be a secret is told by its type alone. */
function hidden(value: unknown): string {
  return value === "" || value === null || value === undefined ? shown(value) : `a value of type ${typeof value}`;
}
const secret = is("text", (value) => typeof value === "string", hidden);
const plain = is("an object", (value) => typeof value === "object" && value !== null, hidden);
/** Texts by name. */
const named: Kind = (value, name) => {
  const given = Object.entries(plain(value, name)).filter(([, text]) => text !== undefined);
  return Object.fromEntries(given.map(([key, text]) => [key, secret(text, `${name}.${key}`)]));
};
const AUTH: Bag<Credentials> = {
  // What lists its members by itself is the host's to read.
  headers: (value, name) =>
    typeof plain(value, name)[Symbol.iterator] === "function" || typeof value.forEach === "function" ? value : named(value, name),
  token: is("text, and left out where there is none", (value) => typeof value === "string" && value !== "", hidden),
  subprotocols: list(secret, hidden),
  query: named,
};

/**
 * What `auth` gave, read once and checked. Nothing at all is no way to say that there are no credentials: most often it is a `return` that was
 * forgotten.
 */
export function readCredentials(given: unknown): Given<Credentials> {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalid(`auth gives an object such as { token }, and {} to connect without credentials, not ${hidden(given)}`);
  const known = Object.keys(AUTH);
  // Beside credentials other names do no harm: many give their whole session. Alone, or misspelled, they would ask as somebody else, in silence.
  const session = given as Record<string, unknown>;
  const isMeant = (name: string) => nearest(name, known) !== undefined;
  const names = known.some((name) => session[name] !== undefined)
    ? [...known, ...Object.keys(session).filter(isMeant)]
    : Object.keys(session);
  return read<Credentials>(AUTH, "auth", Object.fromEntries(names.map((name) => [name, session[name]])), undefined, "", "auth: ");
}

/**
 * What was given, read once and checked: a plain object without what is undefined.
 *
 * @param what what messages call the bag by
 * @param judge judges grammar; without it, or while its core is not there, only types are checked
 * @param needed names of what may not be missing
 * @throws {WatchCacheError} `invalid`, naming the option.
 */
export function read<O extends object>(
  members: Bag<NoInfer<O>>,
  what: string,
  given: O | undefined = {} as O,
  judge?: Judge,
  needed = "",
  prefix = "",
): Given<O> {
  object(given, prefix ? what : `what ${what} is given`);
  const options: Record<string, unknown> = {};
  const from = given as Readonly<Record<string, unknown>>;
  const known = Object.keys(members);
  for (const name of known) {
    const value = from[name];
    if (value !== undefined) options[name] = (members as Record<string, Kind>)[name]!(value, prefix + name, judge);
    else if (needed.includes(name)) throw invalid(`${prefix}${name} is missing`);
  }
  for (const name in from) {
    if (from[name] === undefined || Object.hasOwn(options, name)) continue;
    const like = nearest(name, known);
    throw invalid(`${prefix}${name} is no option of ${what}: ${like ? `did you mean ${like}?` : `there are ${known.join(", ")}`}`);
  }
  return options as Given<O>;
}

/** The name that shares the most pairs of letters with it, if there is one that shares half of them. */
function nearest(name: string, known: readonly string[]): string | undefined {
  let best = (name.length - 1) / 2;
  let like: string | undefined;
  const given = name.toLowerCase();
  for (const other of known) {
    let score = -Math.abs(name.length - other.length) / 8;
    for (let i = 1; i < given.length; i++) if (other.toLowerCase().includes(given.slice(i - 1, i + 1))) score++;
    if (score > best) [best, like] = [score, other];
  }
  return like;
}

/** A handler's functions are such. */
export function checkHandler(handler: any): void {
  if (typeof handler === "function") return;
  object(handler, "what is no function as a handler");
  for (const name of ["onAdd", "onUpdate", "onDelete", "onOverflow"]) if (handler[name] !== undefined) callback(handler[name], name);
}

/** What can be waited for. */
export const syncing = is("an informer or a registration", (value) => typeof value?.hasSynced === "boolean");
export const cache = is("a WatchCache", (value) => typeof value?.resource === "function");

/** What a view shows, checked and copied. */
export function checkView<S extends ViewSpec<any>>(spec: S | undefined, judge?: Judge): Given<S> {
  return read<ViewSpec<any>>(VIEW, "view", spec, judge) as Given<S>;
}

/** A window, checked and copied. */
export function checkWindow(given: unknown): { offset: number; limit: number } {
  return window(given, "window");
}

/** A subscription: its callback is a function, and its options are checked and copied. */
export function checkSubscription(onChange: () => void, options?: WriteOptions): Given<WriteOptions> {
  callback(onChange, "onChange");
  return read(SIGNAL, "subscribe", options);
}
