// The built page, on the API's own origin.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { extname, join, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { PAGE_NOT_FOUND } from "./status.mjs";

const TYPES = /** @type {Record<string, string>} */ ({
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
});

export const CONTENT_SECURITY_POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; connect-src 'self' ws: wss:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const NOT_BUILT =
  "The page is not built: there is no index.html in the directory that is served. Build it with `npm run build`, or use the API under /api and /apis.\n";

/** @param {string} root directory of the built page @param {string} [policy] its content security policy */
export function servePage(root, policy = CONTENT_SECURITY_POLICY) {
  const base = resolve(root);
  return async (/** @type {import("node:http").IncomingMessage} */ request, /** @type {import("node:http").ServerResponse} */ response) => {
    const headers = {
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    };
    if (request.method !== "GET" && request.method !== "HEAD")
      return answer(response, 405, "Only GET and HEAD.\n", { ...headers, allow: "GET, HEAD" });
    const file = await find(base, new URL(request.url ?? "/", "http://server").pathname);
    if (!file) {
      const isRoot = request.url === "/" || request.url === "/index.html";
      return answer(response, 404, isRoot ? NOT_BUILT : PAGE_NOT_FOUND, headers);
    }
    response.writeHead(200, {
      ...headers,
      "content-type": TYPES[extname(file.path)] ?? "application/octet-stream",
      "content-length": String(file.size),
      // Bundled files carry a hash in their name; the page that names them does not.
      "cache-control": file.path.includes(`${sep}assets${sep}`) ? "public, max-age=31536000, immutable" : "no-cache",
    });
    if (request.method === "HEAD") return response.end();
    try {
      await pipeline(createReadStream(file.path), response);
    } catch {
      response.destroy();
    }
  };
}

/** @param {string} base @param {string} pathname @returns {Promise<{ path: string, size: number } | undefined>} */
async function find(base, pathname) {
  try {
    const path = resolve(join(base, decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname)));
    if (path !== base && !path.startsWith(base + sep)) return undefined;
    const found = await stat(path);
    return found.isFile() ? { path, size: found.size } : undefined;
  } catch {
    return undefined;
  }
}

/** @param {import("node:http").ServerResponse} response @param {number} code @param {string} body @param {Record<string, string>} headers */
function answer(response, code, body, headers) {
  response.writeHead(code, { ...headers, "content-type": "text/plain; charset=utf-8" });
  response.end(body);
}
