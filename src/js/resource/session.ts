import type { InformerSession } from "../informer/informer.js";
import type { WatchSession } from "../watch/watcher.js";
import type { Delivery } from "./delivery.js";

/** A resource's half in the core, as the resource itself holds it. */
export interface ResourceSession extends WatchSession, InformerSession {
  readonly delivery: Delivery;
  /** Its stream: never started, wanted, or let go because nobody uses it. */
  stream: "new" | "wanted" | "idle";
}
