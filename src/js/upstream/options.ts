import { scope } from "../options/grammar.js";
import { is, text } from "../options/kinds.js";
import type { Bag } from "../options/read.js";
import type { SourceSpec } from "./source.js";
import type { ResourceSpec } from "./types.js";

export const SPEC: Bag<ResourceSpec> = { ...scope, group: text, version: text, resource: text };
export const SOURCE: Bag<SourceSpec> = {
  source: is("a Source: an object with the methods list and watch", (value) => {
    const methods = ["list", "watch", "get", "create", "update", "delete", "currentResourceVersion", "requestProgress"];
    return methods.every((name, i) => typeof value?.[name] === "function" || (i > 1 && value[name] === undefined));
  }),
  id: text,
};
