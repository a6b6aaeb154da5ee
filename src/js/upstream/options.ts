import { scope } from "../options/grammar.js";
import { is, text } from "../options/kinds.js";
import type { Bag } from "../options/read.js";
import type { Source, SourceSpec } from "./source.js";
import type { ResourceSpec } from "./types.js";

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
] as const satisfies readonly (keyof Source)[];

export const SPEC: Bag<ResourceSpec> = { ...scope, group: text, version: text, resource: text };
export const SOURCE: Bag<SourceSpec> = {
  source: is("a Source: an object with the methods list and watch", (value) => {
    return (
      ["list", "watch"].every((name) => typeof value?.[name] === "function") &&
      MAY_HAVE.every((name) => typeof value[name] === "function" || value[name] === undefined)
    );
  }),
  id: text,
};
