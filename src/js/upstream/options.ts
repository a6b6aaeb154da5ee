import { addressOf } from "../host/fetch.js";
import { scope } from "../options/grammar.js";
import { invalid, is, type Kind, list, number, text, word } from "../options/kinds.js";
import { type Bag, bag } from "../options/read.js";
import type { PolledSourceSpec, Source, SourceSpec } from "./source.js";
import type { PollOptions, ResourceSpec } from "./types.js";

/** The methods that a source may have, beside those that it must have. */
export const MAY_HAVE = [
  "get",
  "create",
  "update",
  "patch",
  "delete",
  "deleteCollection",
  "currentResourceVersion",
  "requestProgress",
  "compactedResourceVersion",
] as const satisfies readonly (keyof Source)[];

const poll = bag({ everyMs: number(1, 0x7fff_ffff) } satisfies Bag<PollOptions>, "everyMs");

export const NAMESPACES = list(text);

export const SPEC: Bag<ResourceSpec> = {
  ...scope,
  namespaces: NAMESPACES,
  group: text,
  version: text,
  resource: text,
  as: word("PartialObjectMetadata", "Table"),
  poll,
};
/** What every source has; one that is polled need not have `watch`. */
const isSource = (needed: string, what: string) =>
  is(`a Source: an object with ${what}`, (value) => {
    return (
      needed.split(" ").every((name) => typeof value?.[name] === "function") &&
      MAY_HAVE.every((name) => typeof value[name] === "function" || value[name] === undefined)
    );
  });
export const WATCHED = isSource("list watch", "the methods list and watch");
export const LISTED = isSource("list", "the method list");
/** The same, or the address of a module that exports one, which is made absolute. */
const named =
  (source: Kind): Kind =>
  (value, name) => {
    if (typeof value !== "string" && (typeof value?.list === "function" || typeof value?.href !== "string")) return source(value, name);
    const address = addressOf(value);
    if (!address) throw invalid(`${name} is no URL of a module: give its whole address, or a URL made with that of your script`);
    return address;
  };
export const SOURCE: Bag<SourceSpec> = { source: named(WATCHED), id: text, poll };
export const POLLED: Bag<PolledSourceSpec> = { ...SOURCE, source: named(LISTED) };
