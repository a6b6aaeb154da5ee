// What a console gives to its plugins: `@console/shared/src/utils/console-fetch`, which the package from npm requires and does not have. The
// errors are the package's own.
import { HttpError } from "@openshift-console/dynamic-plugin-sdk/lib/utils/error/http-error.js";

export async function coFetch(url, options) {
  const response = await fetch(url, options);
  if (response.ok) return response;
  const json = await response.json().catch(() => undefined);
  throw new HttpError(json?.message ?? response.statusText, response.status, response, json);
}

export const coFetchText = async (...request) => (await coFetch(...request)).text();
export const coFetchJSON = async (url, method = "GET", options = {}) => (await coFetch(url, { ...options, method })).json();

const sending =
  (method, type) =>
  (url, body, options = {}) =>
    coFetchJSON(url, method, { ...options, ...(body && { body: JSON.stringify(body), headers: { "content-type": type } }) });
Object.assign(coFetchJSON, {
  post: sending("POST", "application/json"),
  put: sending("PUT", "application/json"),
  patch: sending("PATCH", "application/json-patch+json"),
  delete: sending("DELETE", "application/json"),
});
