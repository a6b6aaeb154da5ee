import type { Mutable } from "../object/readonly.js";
import { NO_COUNTS } from "./counts.js";
import type { ViewSnapshot } from "./types.js";

/** Of a view that nothing is known of. */
export const EMPTY: ViewSnapshot<never, Mutable> = Object.freeze({
  rows: Object.freeze([]),
  keys: Object.freeze([]),
  offset: 0,
  total: 0,
  counts: NO_COUNTS,
  loaded: false,
  stale: false,
});
