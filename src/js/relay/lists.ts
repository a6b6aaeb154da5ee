// Lists, answered from what is held.
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import type { KubeObject, List, ListOptions } from "../node.js";
import { type Ask, takesGzip } from "./asks.js";
import type { Held } from "./collections.js";
import { listDocument } from "./frames.js";

/** Less is not worth packing. The API server packs from here on, too. */
const GZIP_BYTES = 128 << 10;

/**
 * What the cache is asked for. A list that names no version is of what is held, while changes arrive: so one list upstream is enough for all. `undefined`:
 * it is not certain to be new, and the server is to answer.
 */
export function listOptionsOf({ namespace, options }: Ask, { resource }: Held): ListOptions | undefined {
  const { resourceVersion, resourceVersionMatch, limit, labelSelector, fieldSelector } = options;
  const asked: ListOptions = {
    namespace,
    labelSelector,
    fieldSelector,
    limit: limit || undefined,
    continue: options.continue,
    wait: false,
  };
  if (resourceVersion !== undefined || options.continue !== undefined) {
    return { ...asked, resourceVersion, resourceVersionMatch: resourceVersionMatch as "Exact" | undefined };
  }
  // A rule without a version is a mistake, which the server tells in its own words.
  if (resourceVersionMatch !== undefined || resource.status.phase !== "live") return undefined;
  // At "0" there are no pages.
  return { ...asked, resourceVersion: limit ? resource.resourceVersion : "0" };
}

/** Sends a page. @throws {WatchCacheError} what the cache says, before anything was sent */
export async function sendList(
  page: Promise<List<KubeObject>>,
  { collection }: Held,
  request: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const parts = listDocument(await page, collection);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length < GZIP_BYTES || !takesGzip(request.headers["accept-encoding"])) {
    response.writeHead(200, { ...headers, "content-length": String(length) });
    for (const part of parts) response.write(part);
    response.end();
    return length;
  }
  response.writeHead(200, {
    ...headers,
    "content-encoding": "gzip",
    vary: [headers["vary"], "Accept-Encoding"].filter(Boolean).join(", "),
  });
  // Who is gone takes no more: nobody is to be told.
  await pipeline(parts, createGzip({ level: constants.Z_BEST_SPEED }), response).catch(() => {});
  return length;
}
