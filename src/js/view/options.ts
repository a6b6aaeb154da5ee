import { grammar, selectors } from "../options/grammar.js";
import { callback, flag, invalid, type Judge, type Kind, list, named, shown, text, whole, word } from "../options/kinds.js";
import { type Bag, bag, type Given, read } from "../options/read.js";
import { SIGNAL } from "../request/options.js";
import type { SignalOptions } from "../request/types.js";
import { ORDERS } from "../wire/numbers.js";
import { RELATIONS } from "./relations.js";
import type { SelectedViewSpec, ViewSearch } from "./types.js";

const window = bag({ offset: whole(0), limit: whole(0) }, "offset limit");
const searched = bag({ text, paths: list(grammar) }, "text");
/** What a filter box says: its text alone, or a bag. Read, it is a bag, or `undefined` where there is none. */
const search: Kind = (value, name, judge) => {
  if (value === null || value === undefined) return undefined;
  if (typeof value === "string") return { text: value };
  if (typeof value !== "object" || Array.isArray(value))
    throw invalid(`${name} is text, or an object with text and paths, not ${shown(value)}`);
  return searched(value, name, judge);
};
/** A path for each field, by the field's name. */
const select: Kind = (value, name, judge) => {
  const names = Object.keys(named(value, name));
  if (names.length === 0) throw invalid(`${name} names no field: give a path for each, or leave it out for whole objects`);
  if (names.includes("key")) throw invalid(`${name}.key: every row has its object's key under this name: call the field something else`);
  return Object.fromEntries(names.map((field) => [field, grammar(value[field], `${name}.${field}`, judge)]));
};
const column = bag({ paths: list(grammar), value: callback }, "paths value");
/** Derived columns by name. */
const derive: Kind = (value, name, judge) =>
  Object.fromEntries(
    Object.keys(named(value, name) as object).map((field) => {
      const what = `${name}.${field}`;
      if (!/^[\w-]+$/.test(field))
        throw invalid(`${what}: the name of a column has letters, digits, _ and - alone, because it stands where a path may`);
      const read = column(value[field], what, judge);
      if (read.paths.length === 0) throw invalid(`${what}.paths names no field: the function is called where one of these is another`);
      return [field, read];
    }),
  );
export const VIEW: Bag<SelectedViewSpec<any, any>> = {
  namespaces: list(text),
  ...selectors,
  ...RELATIONS,
  search,
  where: callback,
  orderBy: list(bag({ path: grammar, descending: flag, as: word(...ORDERS) }, "path")),
  window,
  groupBy: grammar,
  select,
  derive,
};

/** What a view shows, checked and copied. */
export function checkView<S extends Partial<SelectedViewSpec<any, any>>>(spec: S | undefined, judge?: Judge): Given<S> {
  return read<Partial<SelectedViewSpec<any, any>>>(VIEW, "view", spec, judge) as Given<S>;
}

/** A window, checked and copied. */
export function checkWindow(given: unknown): { offset: number; limit: number } {
  return window(given, "window");
}

/** What a filter box says, checked and copied. */
export function checkSearch(given: unknown, judge?: Judge): ViewSearch | undefined {
  return search(given, "search", judge);
}

/** Options that are a signal alone, checked and copied. */
export function checkSignal(what: string, options?: SignalOptions): Given<SignalOptions> {
  return read(SIGNAL, what, options);
}

/** A subscription: its callback is a function, and its options are checked and copied. */
export function checkSubscription(onChange: () => void, options?: SignalOptions): Given<SignalOptions> {
  callback(onChange, "onChange");
  return read(SIGNAL, "subscribe", options);
}
