// What a console gives to its plugins as `@console/shared/src/utils/console-fetch`: the package from npm requires it and does not have it.
export async function coFetch(url, options) {
  const response = await fetch(url, { cache: "no-store", ...options });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response;
}
export const coFetchText = async (...request) => (await coFetch(...request)).text();
export const coFetchJSON = async (url, method = "GET", options = {}) => (await coFetch(url, { ...options, method })).json();
