// What a resource holds at one version, small enough to compare object by object: [[key, resourceVersion], ...] in key order.
import { badRequest, expired, StatusError } from "./status.mjs";
import { findResourceByName } from "./resources.mjs";
import { parseVersion } from "./version.mjs";

/** @typedef {{ resourceVersion: string, count: number, items: [string, string][] }} Digest */

/** @param {string} resource */
export function digestResource(resource) {
  const definition = findResourceByName(resource);
  if (!definition) throw badRequest(`there is no resource "${resource}"`);
  return definition;
}

/**
 * @param {import("./store.mjs").Store} store
 * @param {string} resource
 * @param {string} resourceVersion "" for the current one
 * @returns {Digest} keys are "namespace/name", or "name" for what has no namespace
 * @throws {import("./status.mjs").StatusError} 410 when the version is out of the window or still to come
 */
export function digest(store, resource, resourceVersion) {
  const table = store.table(digestResource(resource));
  let version = store.revision;
  try {
    if (resourceVersion) version = parseVersion(resourceVersion).number;
  } catch (error) {
    throw badRequest(/** @type {Error} */ (error).message);
  }
  if (!table.window.covers(version) || version > store.revision)
    throw expired(`version ${version} is not kept: ${table.window.oldest} to ${store.revision} are`);
  /** @type {[string, string][]} */
  const items = [];
  for (const object of table.snapshot(version).range("/")) items.push([object.key.slice(1), String(object.version)]);
  return { resourceVersion: String(version), count: items.length, items };
}

/**
 * The same from another API server: an exact list of which only the metadata travels.
 * @param {URL} server
 * @param {string} resource @param {string} resourceVersion @param {string} [token]
 * @returns {Promise<Digest>}
 * @throws {import("./status.mjs").StatusError} what the server answered
 */
export async function digestOf(server, resource, resourceVersion, token) {
  const { group, version } = digestResource(resource);
  const url = new URL(`${server.pathname.replace(/\/$/, "")}/${group ? `apis/${group}` : "api"}/${version}/${resource}`, server);
  if (resourceVersion) url.search = new URLSearchParams({ resourceVersion, resourceVersionMatch: "Exact" }).toString();
  const response = await fetch(url, {
    headers: {
      accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
  });
  const text = await response.text();
  const list = parseAnswer(text);
  if (!response.ok)
    throw new StatusError(
      response.status,
      list?.reason ?? "",
      list?.message ?? `the server answered ${response.status}: ${text.slice(0, 200)}`,
    );
  if (!list?.metadata?.resourceVersion) throw new StatusError(502, "", "the server's answer is no list");
  /** @type {[string, string][]} */
  const items = (list.items ?? []).map((/** @type {any} */ { metadata }) => [
    metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name,
    metadata.resourceVersion,
  ]);
  items.sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return { resourceVersion: list.metadata.resourceVersion, count: items.length, items };
}

/** @param {string} text @returns {any} undefined when it is no JSON */
function parseAnswer(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
