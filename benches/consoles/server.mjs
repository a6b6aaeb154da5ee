// An API server of many different pods for consoles. Each asks in its own way, by pages or for all at once, and below a path of its own.
// The watch brings what the benchmark sends. The page of the consoles comes from the same origin.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";
import { servePage } from "../../www/server/static.mjs";
import { VERSION } from "../lib/pod-server.mjs";

const PODS = /\/api\/v1\/pods$/;
const COMMA = Buffer.from(",");

/** A page of the list as bytes. */
function pageOf(items, from, to) {
  const more = to < items.length ? { continue: String(to), remainingItemCount: items.length - to } : {};
  const list = { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: String(VERSION), ...more } };
  const parts = [Buffer.from(`${JSON.stringify(list).slice(0, -1)},"items":[`)];
  for (let i = from; i < to; i++) parts.push(...(i > from ? [COMMA] : []), items[i]);
  return Buffer.concat([...parts, Buffer.from("]}")]);
}

/** @param {{ page: string, items: Buffer[] }} options `page`: the built page's folder; `items`: JSON of all pods, at {@link VERSION} */
export async function startConsoleServer({ page, items }) {
  const files = servePage(page);
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://server");
    if (!PODS.test(pathname)) return void files(request, response);
    const from = Number(searchParams.get("continue") ?? 0);
    const limit = Number(searchParams.get("limit") ?? items.length);
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(pageOf(items, from, Math.min(from + limit, items.length)));
  });
  const sockets = new WebSocketServer({ server, handleProtocols: (offered) => [...offered][0] ?? false });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    watches: () => sockets.clients.size,
    /** Sends a frame to all watches. */
    send(frame) {
      for (const socket of sockets.clients) socket.send(frame);
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
