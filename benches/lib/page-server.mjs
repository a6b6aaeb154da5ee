// The benchmarks' page and nothing else. It is isolated from other origins, because only then other engines than Chromium let a page have a
// fine clock.
import { once } from "node:events";
import { createServer } from "node:http";
import { servePage } from "../../www/server/static.mjs";

/** @param {string} page the built page's folder */
export async function startPageServer(page) {
  const files = servePage(page);
  const server = createServer((request, response) => {
    response.setHeader("cross-origin-opener-policy", "same-origin");
    response.setHeader("cross-origin-embedder-policy", "require-corp");
    void files(request, response);
  });
  server.listen(0, "127.0.0.1");
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
