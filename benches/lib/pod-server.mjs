// An API server of many different pods, with only what a load of them needs. Its pages are written beforehand, so that only the reader is
// measured. The watch brings what the benchmark sends. It serves the benchmarks' page from the same origin.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { WebSocketServer } from "ws";
import { servePage } from "../../www/server/static.mjs";
import { differentPods } from "../page/different-pods.js";

/** The list's version. */
export const VERSION = 1000;

export const readRealPod = (root) => JSON.parse(readFileSync(join(root, "tests/data/pod.json"), "utf8"));

/** Every page of the list, as bytes, by what its `continue` says; and what the objects' texts take without managedFields. */
function writePages(text, pods, pageSize) {
  const pages = new Map();
  let bytes = 0;
  let strippedBytes = 0;
  for (let from = 0; from < pods; from += pageSize) {
    const to = Math.min(from + pageSize, pods);
    const items = Array.from({ length: to - from }, (_, i) => text(from + i, VERSION));
    const more = to < pods ? { continue: String(to), remainingItemCount: pods - to } : {};
    const list = { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: String(VERSION), ...more } };
    pages.set(String(from), Buffer.from(`${JSON.stringify(list).slice(0, -1)},"items":[${items.join(",")}]}`));
    for (const item of items) {
      bytes += Buffer.byteLength(item);
      strippedBytes += Buffer.byteLength(withoutManagedFields(item));
    }
  }
  return { pages, bytes, strippedBytes };
}

function withoutManagedFields(text) {
  const object = JSON.parse(text);
  delete object.metadata.managedFields;
  return JSON.stringify(object);
}

/**
 * @param {{ root: string, page: string, pods: number, pageSize: number, item?: (number: number, version: number) => string }} options
 * `root`: the checkout; `page`: the built page's folder; `item`: JSON of a pod, by default of one of {@link differentPods}
 */
export async function startPodServer({ root, page, pods, pageSize, item = differentPods(readRealPod(root)) }) {
  const { pages, bytes, strippedBytes } = writePages(item, pods, pageSize);
  const files = servePage(page);
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://server");
    if (url.pathname !== "/api/v1/pods") return void files(request, response);
    const body = pages.get(url.searchParams.get("continue") ?? "0");
    response.writeHead(body ? 200 : 410, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(body);
  });
  const sockets = new WebSocketServer({ server, handleProtocols: (offered) => [...offered][0] ?? false });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    pods,
    bytes,
    strippedBytes,
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
