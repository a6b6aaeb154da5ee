// An API server that answers one list in three forms: whole objects, rows of a table, metadata alone. The embedded server writes the pages
// beforehand, so that only the reader is measured. Its watches stay open and say nothing.
import { createServer } from "node:http";
import { startServer } from "../../www/server/index.mjs";
import { servePage } from "../../www/server/static.mjs";
import { PARTS } from "./parts.js";

const PODS = "/api/v1/pods";

/** Which of them a request is for. @param {string} [accept] */
const partOf = (accept = "") => Object.keys(PARTS).find((part) => accept.includes(`as=${part}`)) ?? "Object";

/** The pages of a list, by what `continue` says. @param {string} url @param {string} accept @param {number} pageSize */
async function record(url, accept, pageSize) {
  const pages = new Map();
  let bytes = 0;
  for (let next = ""; next !== undefined;) {
    const query = new URLSearchParams({ limit: String(pageSize), ...(next && { continue: next }) });
    const body = Buffer.from(await (await fetch(`${url}${PODS}?${query}`, { headers: { accept } })).arrayBuffer());
    pages.set(next, body);
    bytes += body.length;
    next = JSON.parse(body.toString()).metadata.continue || undefined;
  }
  return { pages, bytes };
}

/** @param {{ page: string, pods: number, pageSize: number }} options `page`: the built page's folder */
export async function startPartsServer({ page, pods, pageSize }) {
  const embedded = await startServer({ port: 0, pods, rate: 0 });
  /** @type {Record<string, Awaited<ReturnType<typeof record>>>} */
  const parts = {};
  try {
    for (const [part, accept] of Object.entries(PARTS)) parts[part] = await record(embedded.url, accept, pageSize);
  } finally {
    await embedded.close();
  }
  const files = servePage(page);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://server");
    if (url.pathname !== PODS) return void files(request, response);
    const body = parts[partOf(request.headers.accept)].pages.get(url.searchParams.get("continue") ?? "");
    const isWatch = url.searchParams.has("watch");
    response.writeHead(isWatch || body ? 200 : 410, { "content-type": "application/json", "cache-control": "no-store" });
    if (isWatch) response.flushHeaders();
    else response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  return {
    url: `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`,
    bytes: Object.fromEntries(Object.entries(parts).map(([part, { bytes }]) => [part, bytes])),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
