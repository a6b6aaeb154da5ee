import type { InformerSession } from "../informer/informer.js";
import type { WatchSession } from "../watch/watcher.js";
import type { FrameEncoder } from "../wire/frame-encoder.js";
import type { Delivery } from "./delivery.js";

/** A session as its resource holds it: with the delivery that splits a flush, and what became of its stream. */
export interface ResourceSession extends WatchSession, InformerSession {
  readonly delivery: Delivery;
  /** Encodes the frames of its sockets. */
  readonly frames: FrameEncoder;
  /** Its stream: never started, wanted, or let go because nobody uses it. */
  stream: "new" | "wanted" | "idle";
}
