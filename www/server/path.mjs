// API paths: /api/v1/... and /apis/GROUP/VERSION/..., with or without a namespace, a name, a subresource, and the old /watch/ prefix.
import { isKnownGroup } from "./discovery.mjs";
import { findResource } from "./resources.mjs";

/**
 * @typedef {object} ResourcePath
 * @property {import("./resources.mjs").ResourceDefinition} definition
 * @property {string} namespace "" for none
 * @property {string} name "" for a collection
 * @property {string} subresource "" for none
 * @property {boolean} watch the deprecated prefix was used
 */

/**
 * @param {string} pathname
 * @returns {ResourcePath | undefined} undefined when the path names no resource
 */
export function parseResourcePath(pathname) {
  /** @type {string[]} */
  let parts;
  try {
    parts = pathname.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return undefined;
  }
  const root = parts.shift();
  const group = root === "apis" ? parts.shift() : root === "api" ? "" : undefined;
  const version = parts.shift();
  if (group === undefined || version === undefined) return undefined;
  const watch = parts[0] === "watch";
  if (watch) parts.shift();
  let namespace = "";
  // /namespaces/x alone is the object x; followed by a resource it is a scope.
  if (parts[0] === "namespaces" && parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2])) {
    namespace = parts[1];
    parts.splice(0, 2);
  }
  const [resource, name = "", subresource = "", ...rest] = parts;
  if (resource === undefined || rest.length > 0) return undefined;
  const definition = findResource(group, version, resource);
  if (!definition || (namespace && !definition.namespaced)) return undefined;
  if (subresource && !(subresource === "status" && definition.status) && !definition.parts.includes(subresource)) return undefined;
  return { definition, namespace, name, subresource, watch };
}

/**
 * Whether a path lies below a group that exists, whatever the rest of it is.
 * @param {string} pathname
 */
export function isInKnownGroup(pathname) {
  const [root, group] = pathname.split("/").filter(Boolean);
  return root === "api" || (root === "apis" && isKnownGroup(group ?? ""));
}

const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);
