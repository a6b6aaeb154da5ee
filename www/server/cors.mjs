// Cross-origin answers, as of an API server that was started with --cors-allowed-origins for this machine's own pages.

const LOCAL_ORIGIN = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 * @returns {boolean} true when this was a preflight and is answered
 */
export function allowLocalOrigins(request, response) {
  const { origin } = request.headers;
  if (!origin || !LOCAL_ORIGIN.test(origin)) return false;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-allow-methods", "POST, GET, OPTIONS, PUT, DELETE, PATCH");
  response.setHeader(
    "access-control-allow-headers",
    "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since",
  );
  response.setHeader("access-control-expose-headers", "Date");
  response.setHeader("access-control-allow-credentials", "true");
  response.setHeader("vary", "Origin");
  if (request.method !== "OPTIONS") return false;
  response.writeHead(204);
  response.end();
  return true;
}
