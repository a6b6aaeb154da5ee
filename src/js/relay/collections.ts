// What is held: one resource of a cache for each collection that somebody asked for, whoever asks.
import { createWatchCache, type KubeObject, type Resource, type WatchCache } from "../node.js";
import { readAsk } from "./asks.js";
import type { Collection } from "./discovery.js";
import { withoutKinds } from "./kinds.js";
import type { Upstream } from "./upstream.js";

/** A first list may be long. Who waits longer is told to come back. */
const WAIT_MS = 30_000;
/** A later one comes to be when the server has forgotten the version that the relay had reached. */
const WAIT_AGAIN_MS = 5_000;
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
  /** Told why something is not held, which an operator can change. */
  warn(message: string): void;
}

export class Collections {
  readonly #cache: WatchCache;
  readonly #lost: (collection: Collection) => void;
  readonly #warn: (message: string) => void;
  readonly #known = new Map<string, Held & { refusedAt?: number | undefined }>();

  constructor(server: URL, upstream: Upstream, { lingerMs, maxBytes, counted, lost, warn }: CollectionsOptions) {
    this.#lost = lost;
    this.#warn = warn;
    this.#cache = createWatchCache({
      server,
      // What was sent is what is passed on.
      strip: [],
      linger: lingerMs,
      flush: "microtask",
      memory: { maxBytes },
      // One client that many wait for.
      retry: { initialMs: 250, capMs: 5_000 },
      credentials: "omit",
      auth: async () => {
        const headers = await upstream.own();
        return headers.length === 0 ? {} : { headers: { [headers[0]!]: headers[1]! } };
      },
      fetch: async (address, init) => {
        const ask = readAsk("GET", String(address).slice(upstream.name.length));
        counted(ask?.verb ?? "list");
        const answer = await fetch(address, init);
        const held = ask?.verb === "watch" ? this.#known.get(keyOf(ask)) : undefined;
        return held === undefined ? answer : withoutKinds(answer, held.collection);
      },
      logger: { debug() {}, info() {}, warn, error: console.error },
    }) as WatchCache;
  }

  /** As Prometheus reads it. */
  metrics(): string {
    return this.#cache.metrics();
  }

  /**
   * @param least changes must arrive, so that what is held is what the server has but for what is on its way. Where a version is named it must be reached.
   * @returns what is held; or why it is not: the server refused it to the relay, changes do not arrive, or it takes longer
   */
  async open(collection: Collection, least?: { readonly version: string | undefined }): Promise<Held | "refused" | "behind" | "late"> {
    const held = this.#held(collection);
    const { resource } = held;
    if (isRefused(resource)) {
      if (Date.now() - (held.refusedAt ??= Date.now()) < REFUSED_MS) return "refused";
      held.refusedAt = undefined;
      resource.resume();
    }
    // As an API server asks its storage while its own cache is not ready.
    if (least !== undefined && resource.hasSynced && resource.status.phase !== "live") return "behind";
    const late = AbortSignal.timeout(resource.hasSynced ? WAIT_AGAIN_MS : WAIT_MS);
    try {
      await resource.synced({ signal: late });
      // The state is there, and yet it may be none while it is listed anew. A list of nothing waits for it.
      await resource.list({ namespace: "-", resourceVersion: least?.version ?? "0", resourceVersionMatch: "NotOlderThan", signal: late });
      return held;
    } catch {
      if (isRefused(resource)) return "refused";
      return least === undefined || late.aborted ? "late" : "behind";
    }
  }

  #held(collection: Collection): Held & { refusedAt?: number | undefined } {
    const { group, version, resource: name } = collection;
    const key = keyOf(collection);
    let held = this.#known.get(key);
    // One that was let go in the meantime is another one now.
    const resource = this.#cache.resource({ group, version, resource: name });
    if (held?.resource !== resource) {
      held = { collection, resource };
      this.#known.set(key, held);
      resource.addEventListener("status", () => {
        if (!isRefused(resource)) return;
        const { error } = resource.status;
        if (error !== undefined)
          this.#warn(`${keyOf(collection).replace(/^\//, "")} is not held, and served by the server: ${error.message}`);
        this.#lost(collection);
      });
    }
    return held;
  }

  close(): Promise<void> {
    return this.#cache.close();
  }
}

const keyOf = ({ group, version, resource }: Pick<Collection, "group" | "version" | "resource">): string =>
  `${group}/${version}/${resource}`;

/** The server has said no to the relay itself, or there is no room: then its callers are no worse off with the server. */
function isRefused({ status: { phase } }: Resource<KubeObject>): boolean {
  return phase === "failed" || phase === "needs-auth" || phase === "closed";
}
