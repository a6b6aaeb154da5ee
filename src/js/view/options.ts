import { grammar, selectors } from "../options/grammar.js";
import { callback, flag, type Judge, list, text, whole, word } from "../options/kinds.js";
import { type Bag, bag, type Given, read } from "../options/read.js";
import { SIGNAL } from "../request/options.js";
import type { WriteOptions } from "../request/types.js";
import { ORDERS } from "../wire/numbers.js";
import type { ViewSpec } from "./types.js";

const window = bag({ offset: whole(0), limit: whole(0) }, "offset limit");
export const VIEW: Bag<ViewSpec<any>> = {
  namespaces: list(text),
  ...selectors,
  where: callback,
  orderBy: list(bag({ path: grammar, descending: flag, as: word(...ORDERS) }, "path")),
  window,
  groupBy: grammar,
};

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
