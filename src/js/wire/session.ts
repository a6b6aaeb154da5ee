import type { ObjectTable } from "./objects.js";
import type { RawResource } from "./raw.js";

/** What views, watchers and informers need of their resource's half in the core. */
export interface Session {
  readonly raw: RawResource;
  readonly objects: ObjectTable;
}
