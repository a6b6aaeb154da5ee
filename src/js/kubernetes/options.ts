import { flag, invalid, is, signal, text } from "../options/kinds.js";
import type { Bag } from "../options/read.js";
import { SPEC } from "../upstream/options.js";
import type { AccessQuestion, DiscoverOptions, KindSpec } from "./types.js";

const written = is("text, and not empty", (value) => typeof value === "string" && value !== "");
const apiVersion = is("group and version, such as apps/v1", (value) => typeof value === "string" && /^([^/]+\/)?v[^/]+$/.test(value));
const { namespace, namespaces, labelSelector, fieldSelector, as, poll } = SPEC;

export const KIND: Bag<KindSpec> = {
  kind: written,
  group: text,
  version: written,
  apiVersion,
  namespace,
  namespaces,
  labelSelector,
  fieldSelector,
  as,
  poll,
};
/** What `find` reads of an object: any object of the API says these of itself. */
export const KIND_NAME: Bag<Pick<KindSpec, "kind" | "group" | "version" | "apiVersion">> = {
  kind: written,
  group: text,
  version: written,
  apiVersion,
};
export const DISCOVER: Bag<DiscoverOptions> = { refresh: flag, signal };
export const ACCESS: Bag<AccessQuestion> = {
  verb: written,
  resource: (value, name) => {
    if ((typeof value === "string" && value !== "") || (typeof value === "object" && value !== null && !Array.isArray(value))) return value;
    throw invalid(`${name} is a resource, named by text or by an object`);
  },
  namespace: text,
  name: text,
  subresource: written,
  path: is("a path that begins with /", (value) => typeof value === "string" && value.startsWith("/")),
  signal,
};
