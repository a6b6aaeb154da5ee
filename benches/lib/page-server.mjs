// The benchmarks' page and nothing else. It is isolated from other origins, because only then other engines than Chromium let a page have a
// fine clock.
import { once } from "node:events";
import { createServer } from "node:http";
import { CONTENT_SECURITY_POLICY, servePage } from "../../www/server/static.mjs";

/** A visitor's page has each harness in a frame. */
const POLICY = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'");

/** @param {string} page the built page's folder @param {number} [port] 0 for a free one @param {string} [policy] */
export async function startPageServer(page, port = 0, policy = POLICY) {
  const files = servePage(page, policy);
  const server = createServer((request, response) => {
    response.setHeader("cross-origin-opener-policy", "same-origin");
    response.setHeader("cross-origin-embedder-policy", "require-corp");
    void files(request, response);
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The same, for a page that may ask this origin as well. @param {string} page @param {{ connect: string }} options */
export function servePageWith(page, { connect }) {
  return startPageServer(page, 0, POLICY.replace("connect-src 'self'", `connect-src 'self' ${connect}`));
}
