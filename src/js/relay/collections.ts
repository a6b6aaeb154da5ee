// What is held: one resource of a cache for each collection that somebody asked for, whoever asks.
import { createWatchCache, type KubeObject, type Resource, type WatchCache } from "../node.js";
import type { Collection } from "./discovery.js";
import type { Upstream } from "./upstream.js";

/** A first list may be long. Who waits longer is told to come back. */
const WAIT_MS = 30_000;
/** What the server refused the relay is asked for again after that. */
const REFUSED_MS = 30_000;

/** A collection with what is held of it. */
export interface Held {
  readonly collection: Collection;
  readonly resource: Resource<KubeObject>;
}

export interface CollectionsOptions {
  /** How long a stream outlives who asked for it. */
  readonly lingerMs: number;
  readonly maxBytes: number;
  /** Called for each request of the relay's own. */
  counted(verb: "list" | "watch"): void;
  /** Nothing comes any more: who watches is to ask anew. */
  lost(collection: Collection): void;
}

export class Collections {
  readonly #cache: WatchCache;
  readonly #lost: (collection: Collection) => void;
  readonly #known = new Map<string, Held & { refusedAt?: number | undefined }>();

  constructor(server: URL, upstream: Upstream, { lingerMs, maxBytes, counted, lost }: CollectionsOptions) {
    this.#lost = lost;
    this.#cache = createWatchCache({
      server,
      // What was sent is what is passed on.
      strip: [],
      linger: lingerMs,
      flush: "microtask",
      memory: { maxBytes },
      credentials: "omit",
      auth: async () => {
        const headers = await upstream.own();
        return headers.length === 0 ? {} : { headers: { [headers[0]!]: headers[1]! } };
      },
      fetch: (address, init) => {
        counted(/[?&]watch=/.test(String(address)) ? "watch" : "list");
        return fetch(address, init);
      },
      logger: { debug() {}, info() {}, warn: console.warn, error: console.error },
    }) as WatchCache;
  }

  /** As Prometheus reads it. */
  metrics(): string {
    return this.#cache.metrics();
  }

  /** @returns what is held; why it is not: the server refused it to the relay, or it takes longer */
  async open(collection: Collection): Promise<Held | "refused" | "late"> {
    const held = this.#held(collection);
    const { resource } = held;
    if (isRefused(resource)) {
      if (Date.now() - (held.refusedAt ??= Date.now()) < REFUSED_MS) return "refused";
      held.refusedAt = undefined;
      resource.resume();
    }
    if (resource.hasSynced) return held;
    const late = AbortSignal.timeout(WAIT_MS);
    try {
      await resource.synced({ signal: late });
      return held;
    } catch {
      return late.aborted ? "late" : "refused";
    }
  }

  #held(collection: Collection): Held & { refusedAt?: number | undefined } {
    const { group, version, resource: name } = collection;
    const key = `${group}/${version}/${name}`;
    let held = this.#known.get(key);
    // One that was let go in the meantime is another one now.
    const resource = this.#cache.resource({ group, version, resource: name });
    if (held?.resource !== resource) {
      held = { collection, resource };
      this.#known.set(key, held);
      resource.addEventListener("status", () => {
        if (isRefused(resource)) this.#lost(collection);
      });
    }
    return held;
  }

  close(): Promise<void> {
    return this.#cache.close();
  }
}

/** The server has said no to the relay itself, or there is no room: then its callers are no worse off with the server. */
function isRefused({ status: { phase } }: Resource<KubeObject>): boolean {
  return phase === "failed" || phase === "needs-auth" || phase === "closed";
}
