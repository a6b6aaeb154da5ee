// Discovery documents, classic and aggregated, and probes.
import { createHash } from "node:crypto";
import { acceptsDocument } from "./accept.mjs";
import { encodeJson } from "./json.mjs";
import { RESOURCES } from "./resources.mjs";
import { REVIEWS } from "./reviews.mjs";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const PART_VERBS = ["get", "patch", "update"];
const PARTS = /** @type {Record<string, { group: string, version: string, kind: string, verbs: string[] }>} */ ({
  eviction: { group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] },
  scale: { group: "autoscaling", version: "v1", kind: "Scale", verbs: PART_VERBS },
});

/**
 * What discovery tells of a resource.
 * @typedef {object} Known
 * @property {string} group "" for the core group
 * @property {string} version
 * @property {string} resource
 * @property {string} singular
 * @property {string} kind
 * @property {boolean} namespaced
 * @property {string[]} verbs
 * @property {string[]} shortNames
 * @property {string[]} categories
 * @property {{ part: string, group?: string, version?: string, kind: string, verbs: string[] }[]} parts
 */

/** @type {Known[]} */
const KNOWN = [
  ...RESOURCES.map((definition) => {
    const { parts, status, kind, deletesAll } = definition;
    const own = parts.map((part) => ({ part, ...PARTS[part] }));
    return {
      ...definition,
      verbs: deletesAll ? VERBS : VERBS.filter((verb) => verb !== "deletecollection"),
      parts: [...own, ...(status ? [{ part: "status", kind, verbs: PART_VERBS }] : [])],
    };
  }),
  ...REVIEWS.map((review) => ({ ...review, namespaced: false, verbs: ["create"], shortNames: [], categories: [], parts: [] })),
];

/** The groups in the order in which a server names them, the core first. */
const GROUPS = [...new Set(KNOWN.map(({ group }) => group))];

/** @param {string} group @param {string} version */
const resourcesOf = (group, version) => KNOWN.filter((known) => known.group === group && known.version === version);

/** @param {string} group */
const versionsOf = (group) => [...new Set(KNOWN.filter((known) => known.group === group).map(({ version }) => version))];

/** @param {string[]} shortNames @param {string[]} categories */
const names = (shortNames, categories) => ({
  ...(shortNames.length > 0 ? { shortNames } : {}),
  ...(categories.length > 0 ? { categories } : {}),
});

/** @param {string} group @param {string} version */
function resourceList(group, version) {
  const resources = resourcesOf(group, version).flatMap(
    ({ resource, singular, namespaced, kind, verbs, shortNames, categories, parts }) => [
      { name: resource, singularName: singular, namespaced, kind, verbs, ...names(shortNames, categories) },
      ...parts.map(({ part, ...rest }) => ({ name: `${resource}/${part}`, singularName: "", namespaced, ...rest })),
    ],
  );
  return {
    kind: "APIResourceList",
    ...(group ? { apiVersion: "v1" } : {}),
    groupVersion: group ? `${group}/${version}` : version,
    resources,
  };
}

/** All of a group, as one document tells it. @param {string} group */
function groupDiscovery(group) {
  // Who reads it takes an empty group and version for those around it.
  const responseKind = (/** @type {{ group?: string, version?: string, kind: string }} */ { group = "", version = "", kind }) => ({
    group,
    version,
    kind,
  });
  const versions = versionsOf(group).map((version) => ({
    version,
    resources: resourcesOf(group, version).map(({ resource, singular, kind, namespaced, verbs, shortNames, categories, parts }) => ({
      resource,
      responseKind: responseKind({ kind }),
      scope: namespaced ? "Namespaced" : "Cluster",
      singularResource: singular,
      verbs,
      ...names(shortNames, categories),
      ...(parts.length > 0
        ? { subresources: parts.map(({ part, ...rest }) => ({ subresource: part, responseKind: responseKind(rest), verbs: rest.verbs })) }
        : {}),
    })),
    freshness: "Current",
  }));
  return { metadata: group ? { name: group } : {}, versions };
}

const named = GROUPS.filter(Boolean).map((name) => {
  const versions = versionsOf(name).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
});

const documents = new Map(
  Object.entries({
    "/api": { kind: "APIVersions", versions: versionsOf(""), serverAddressByClientCIDRs: [] },
    "/apis": { kind: "APIGroupList", apiVersion: "v1", groups: named },
    ...Object.fromEntries(versionsOf("").map((version) => [`/api/${version}`, resourceList("", version)])),
    ...Object.fromEntries(named.map((group) => [`/apis/${group.name}`, { kind: "APIGroup", apiVersion: "v1", ...group }])),
    ...Object.fromEntries(
      named.flatMap(({ name, versions }) => versions.map(({ version }) => [`/apis/${name}/${version}`, resourceList(name, version)])),
    ),
    "/version": {
      major: "1",
      minor: "36",
      gitVersion: "v1.36.0+watchcache",
      gitCommit: "",
      gitTreeState: "",
      buildDate: "",
      goVersion: "",
      compiler: "node",
      platform: `${process.platform}/${process.arch}`,
    },
  }),
);

const AGGREGATED = { as: "APIGroupDiscoveryList", g: "apidiscovery.k8s.io", v: "v2" };
const AGGREGATED_TYPE = `application/json;g=${AGGREGATED.g};v=${AGGREGATED.v};as=${AGGREGATED.as}`;

/** @param {string[]} groups */
function aggregated(groups) {
  const document = {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(groupDiscovery),
  };
  const etag = `"${createHash("sha512").update(encodeJson(document)).digest("hex").toUpperCase()}"`;
  return { document, type: AGGREGATED_TYPE, headers: { etag, vary: "Accept", "cache-control": "public" } };
}

const AGGREGATES = new Map([
  ["/api", aggregated([""])],
  ["/apis", aggregated(GROUPS.filter(Boolean))],
]);

/**
 * A document, and how it is sent.
 * @typedef {object} Discovered
 * @property {unknown} document
 * @property {string} [type] its media type, where it is not plain JSON
 * @property {Record<string, string>} [headers]
 */

/**
 * @param {string} pathname @param {import("node:http").IncomingMessage} request
 * @returns {Discovered | undefined} undefined when there is no such document
 * @throws {import("./status.mjs").StatusError} 406
 */
export function discoveryDocument(pathname, request) {
  const path = pathname.replace(/(.)\/$/, "$1");
  const document = documents.get(path);
  if (document === undefined || path === "/version") return document && { document };
  const isAggregated = acceptsDocument(request, AGGREGATES.has(path) ? AGGREGATED : { as: "", g: "", v: "" });
  return isAggregated ? AGGREGATES.get(path) : { document };
}

const PROBES = new Set(["/healthz", "/livez", "/readyz"]);

/** @param {string} pathname */
export const isProbe = (pathname) => PROBES.has(pathname);
/** Paths that tell nothing about the cluster and need no token. @param {string} pathname */
export const isPublic = (pathname) => isProbe(pathname) || pathname === "/version";

/** Whether a group is told of, whatever the rest of the path is. @param {string} group */
export const isKnownGroup = (group) => group !== "" && GROUPS.includes(group);
