import type { ObjectTable } from "./objects.js";
import type { RawResource } from "./raw.js";

/** A resource's half in the core, as its views, watchers and informers know it. */
export interface Session {
  readonly raw: RawResource;
  readonly objects: ObjectTable;
}
