// Events and lists of the cache as the server would send them.
import type { KubeObject, List, WatchEvent } from "../node.js";
import type { Collection } from "./discovery.js";
import { apiVersionOf, kindPrefix } from "./kinds.js";

const CLOSING = Buffer.from("}\n");

/** An event is one object for all watches that it goes to, and so is its frame. */
const frames = new WeakMap<WatchEvent<KubeObject>, Buffer>();

export function frameOf(event: WatchEvent<KubeObject>, collection: Collection): Buffer {
  let frame = frames.get(event);
  if (frame === undefined) frames.set(event, (frame = makeFrame(event, collection)));
  return frame;
}

function makeFrame(event: WatchEvent<KubeObject>, collection: Collection): Buffer {
  const { type } = event;
  if (type === "BOOKMARK") {
    const { kind } = collection;
    const annotations = event.initialEventsEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
    const object = { kind, apiVersion: apiVersionOf(collection), metadata: { resourceVersion: event.resourceVersion, ...annotations } };
    return Buffer.from(`${JSON.stringify({ type, object })}\n`);
  }
  const raw = bufferOf(event.raw);
  const start = `{"type":"${type}","object":`;
  // As it came: objects that are held have none, unless their list has it, too.
  if (type === "ERROR" || event.get("kind") !== undefined) return Buffer.concat([Buffer.from(start), raw, CLOSING]);
  return Buffer.concat([Buffer.from(start + kindPrefix(collection)), raw.subarray(1), CLOSING]);
}

/** An error as the last event of a watch. @param status the document */
export const errorFrame = (status: Buffer): Buffer =>
  Buffer.concat([Buffer.from('{"type":"ERROR","object":'), status.subarray(0, status.lastIndexOf("}") + 1), CLOSING]);

/** A page of a list, in parts. */
export function listDocument(list: List<KubeObject>, collection: Collection): Buffer[] {
  const metadata = {
    resourceVersion: list.resourceVersion,
    ...(list.continue === undefined ? {} : { continue: list.continue }),
    ...(list.remainingItemCount === undefined ? {} : { remainingItemCount: list.remainingItemCount }),
  };
  const head = JSON.stringify({ kind: `${collection.kind}List`, apiVersion: apiVersionOf(collection), metadata });
  return [Buffer.from(`${head.slice(0, -1)},"items":`), bufferOf(list.raw), CLOSING];
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
