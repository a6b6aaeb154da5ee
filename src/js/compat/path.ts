import { WatchCacheError } from "../error/errors.js";
import type { ResourceSpec } from "../types.js";
import { readSpec } from "../upstream/spec.js";

const FORMS = 'such as "/api/v1/namespaces/default/pods" or "/apis/apps/v1/deployments"';

/**
 * The resource that an API path names. Its query may hold selectors.
 *
 * @throws {WatchCacheError} `invalid` for anything but the collection of a resource.
 */
export function specOfPath(path: string, labelSelector?: string, fieldSelector?: string): ResourceSpec {
  if (typeof path !== "string") throw invalid(`a path is text, ${FORMS}, not ${String(path)}`);
  const [pathname = "", search = ""] = path.split("?", 2);
  const [empty, api, ...parts] = pathname.split("/");
  if (empty !== "" || (api !== "api" && api !== "apis")) {
    throw invalid(
      `"${path}" is no path of the API: it begins with /api/ or /apis/, ${FORMS}; what stands before that belongs to the option server`,
    );
  }
  const group = api === "apis" ? parts.shift() : undefined;
  const version = parts.shift() ?? "";
  const namespace = parts.length >= 3 && parts[0] === "namespaces" ? parts.splice(0, 2)[1] : undefined;
  const [resource = "", ...rest] = parts;
  if (resource === "watch") throw invalid(`"${path}" is of the API's old form for watches: leave out "watch/"`);
  if (rest.length > 0) {
    throw invalid(`"${path}" names no collection, ${FORMS}; one object is the field selector metadata.name=${rest[0]} on its collection`);
  }
  const query = new URLSearchParams(search);
  const narrow = (name: string, given: string | undefined) => {
    const inPath = query.get(name) ?? undefined;
    query.delete(name);
    if (given !== undefined && inPath !== undefined) throw invalid(`the ${name} is given twice: in "${path}" and beside it`);
    const selector = given ?? inPath;
    return selector === undefined ? {} : { [name]: selector };
  };
  const narrowed = { ...narrow("labelSelector", labelSelector), ...narrow("fieldSelector", fieldSelector) };
  for (const name of query.keys()) throw invalid(`"${name}" in the query of "${path}" means nothing here`);
  const spec = {
    ...(group === undefined ? {} : { group }),
    version,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...narrowed,
  };
  readSpec(spec);
  return spec;
}

export function invalid(message: string): WatchCacheError {
  return new WatchCacheError("invalid", message);
}
