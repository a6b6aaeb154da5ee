import { grammar, scope } from "../options/grammar.js";
import { flag, is, signal, text, whole, word } from "../options/kinds.js";
import { type Bag, bag } from "../options/read.js";
import type { DeleteOptions, GetOptions, ListOptions, WriteOptions } from "./types.js";

export const SIGNAL: Bag<WriteOptions> = { signal };
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
export const DELETE: Bag<DeleteOptions> = {
  signal,
  preconditions: bag({ uid: text, resourceVersion: text }),
  gracePeriodSeconds: whole(0),
  propagationPolicy: word("Orphan", "Background", "Foreground"),
};
