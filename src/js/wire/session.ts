import type { Delivery } from "../watch/dispatcher.js";
import type { ObjectTable } from "./objects.js";
import type { RawResource } from "./raw.js";

/** A resource's half in the core. */
export interface Session {
  readonly raw: RawResource;
  readonly delivery: Delivery;
  readonly objects: ObjectTable;
  /** Its stream: never started, wanted, or let go because nobody uses it. */
  stream: "new" | "wanted" | "idle";
}
