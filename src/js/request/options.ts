import { grammar, scope } from "../options/grammar.js";
import { flag, invalid, is, signal, text, whole, word } from "../options/kinds.js";
import { type Bag, bag } from "../options/read.js";
import type {
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  SignalOptions,
  Subresource,
  WriteOptions,
} from "./types.js";

export const SIGNAL: Bag<SignalOptions> = { signal };
// One segment of a path: a dot alone, or two, would name another address.
const subresource = is("the name of a subresource", (value) => typeof value === "string" && !/^\.{0,2}$/.test(value));
/** What every read of objects says. */
export const READING: Bag<GetOptions> = { resourceVersion: text, signal };
export const GET: Bag<GetOptions & Partial<Subresource>> = { ...READING, subresource };
export const LIST: Bag<ListOptions> = {
  ...scope,
  ...READING,
  shardSelector: grammar,
  resourceVersionMatch: text,
  // Less than 1 is no limit, as for the apiserver.
  limit: is("a whole number", Number.isSafeInteger),
  continue: text,
  wait: flag,
};
export const WRITE: Bag<WriteOptions & Partial<Subresource>> = {
  signal,
  dryRun: flag,
  fieldManager: text,
  fieldValidation: word("Ignore", "Warn", "Strict"),
  subresource,
};
export const PATCH: Bag<PatchOptions & Partial<Subresource>> = {
  ...WRITE,
  type: word("merge", "strategic", "json", "apply"),
  force: flag,
};
const DELETION: Bag<Omit<DeleteOptions, "preconditions">> = {
  signal,
  dryRun: flag,
  gracePeriodSeconds: whole(0),
  propagationPolicy: word("Orphan", "Background", "Foreground"),
};
export const DELETE: Bag<DeleteOptions> = { ...DELETION, preconditions: bag({ uid: text, resourceVersion: text }) };
export const DELETE_COLLECTION: Bag<DeleteCollectionOptions> = { ...scope, ...DELETION };

/**
 * What narrows a deletion is said, or not there at all: a slip that left it undefined would delete everything.
 *
 * @throws {WatchCacheError} `invalid`.
 */
export function checkPart(given: DeleteCollectionOptions = {}): void {
  for (const name of Object.keys(scope) as (keyof typeof scope)[])
    if (name in given && !given[name]?.trim())
      throw invalid(`${name} is ${given[name] === undefined ? "undefined" : "empty"}: leave it out to delete whatever it would narrow`);
}
