import type { Resource, ResourceEventMap } from "../resource/types.js";

/** What happened to a resource, and when. */
export interface Happening {
  readonly at: Date;
  readonly text: string;
}

const EVENTS: readonly (keyof ResourceEventMap)[] = ["status", "sync", "relist", "overflow", "error"];
/** So many are kept, the newest. */
const MOST = 100;

/** Listens to resources, and keeps what they tell. */
export class Log {
  /** The newest first. */
  readonly entries: Happening[] = [];
  readonly #followed = new Map<Resource<any>, () => void>();

  /** Listens to these, and to no other any more. */
  follow(resources: ReadonlyMap<Resource<any>, string>): void {
    for (const [resource, stop] of this.#followed) {
      if (resources.has(resource)) continue;
      stop();
      this.#followed.delete(resource);
    }
    for (const [resource, name] of resources) {
      if (!this.#followed.has(resource)) this.#followed.set(resource, this.#listen(resource, name));
    }
  }

  #listen(resource: Resource<any>, name: string): () => void {
    let { phase } = resource.status;
    const hear = (event: { type: string; detail?: { error?: Error } }) => {
      if (event.type === "status") {
        // A status changes more often than its phase: pages arrive.
        if (resource.status.phase === phase) return;
        ({ phase } = resource.status);
      }
      const what = event.type === "status" ? phase : event.type === "sync" ? "first list is whole" : event.type;
      const { error } = event.type === "error" ? (event.detail ?? {}) : event.type === "status" ? resource.status : {};
      this.entries.unshift({ at: new Date(), text: `${name}: ${what}${error ? `: ${error.message}` : ""}` });
      this.entries.length = Math.min(this.entries.length, MOST);
    };
    for (const type of EVENTS) resource.addEventListener(type, hear as () => void);
    return () => {
      for (const type of EVENTS) resource.removeEventListener(type, hear as () => void);
    };
  }
}
