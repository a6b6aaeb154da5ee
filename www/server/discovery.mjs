// Discovery documents and probes.
import { RESOURCES } from "./resources.mjs";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const PARTS = {
  eviction: { group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] },
  scale: { group: "autoscaling", version: "v1", kind: "Scale", verbs: ["get", "patch", "update"] },
};

/** @param {string} group @param {string} version */
function resourceList(group, version) {
  const resources = RESOURCES.filter((definition) => definition.group === group && definition.version === version).flatMap((definition) => {
    const { kind, namespaced, resource, singular, shortNames, categories } = definition;
    const own = {
      name: resource,
      singularName: singular,
      namespaced,
      kind,
      verbs: VERBS,
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
    };
    const parts = definition.parts.map((part) => ({
      name: `${resource}/${part}`,
      singularName: "",
      namespaced,
      .../** @type {Record<string, object>} */ (PARTS)[part],
    }));
    const status = { name: `${resource}/status`, singularName: "", namespaced, kind, verbs: ["get", "patch", "update"] };
    return [own, ...parts, ...(definition.status ? [status] : [])];
  });
  return {
    kind: "APIResourceList",
    ...(group ? { apiVersion: "v1" } : {}),
    groupVersion: group ? `${group}/${version}` : version,
    resources,
  };
}

const groups = [...new Set(RESOURCES.map((definition) => definition.group))].filter(Boolean).map((name) => {
  const version = { groupVersion: `${name}/v1`, version: "v1" };
  return { name, versions: [version], preferredVersion: version };
});

const documents = new Map(
  Object.entries({
    "/api": { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] },
    "/apis": { kind: "APIGroupList", apiVersion: "v1", groups },
    "/api/v1": resourceList("", "v1"),
    ...Object.fromEntries(groups.map((group) => [`/apis/${group.name}`, { kind: "APIGroup", apiVersion: "v1", ...group }])),
    ...Object.fromEntries(groups.map((group) => [`/apis/${group.name}/v1`, resourceList(group.name, "v1")])),
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

/** @param {string} pathname @returns {unknown} undefined when there is no such document */
export function discoveryDocument(pathname) {
  return documents.get(pathname.replace(/(.)\/$/, "$1"));
}

const PROBES = new Set(["/healthz", "/livez", "/readyz"]);

/** @param {string} pathname */
export const isProbe = (pathname) => PROBES.has(pathname);
/** Paths that tell nothing about the cluster and need no token. @param {string} pathname */
export const isPublic = (pathname) => isProbe(pathname) || pathname === "/version";
