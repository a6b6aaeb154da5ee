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
/**
 * A server that answers with older versions for so long was restored. One that is only behind has caught up by then: an API server itself waits no longer for a
 * version that it has not reached.
 */
const BEHIND_MS = 3_000;
/** How the cache says that a list was older than what it holds. It has no code of its own. */
const OLDER = /^the server answered with (version \d+, which is older than version \d+ seen before)/;

/** A collection with what is held of it. */
export interface Held {
  readonly collection: Collection;
  readonly resource: Resource<KubeObject>;
}

/** The same, with what was heard of it. */
interface Known extends Held {
  refusedAt?: number | undefined;
  /** Since when the server answers with older versions than what is held. */
  olderSince?: number | undefined;
  /** Who waits for what is held: they are let go when it will not come soon. */
  readonly waiting: Set<AbortController>;
}

export interface CollectionsOptions {
  /** How long a stream outlives who asked for it. */
  readonly lingerMs: number;
  readonly maxBytes: number;
  /** Called for each request of the relay's own. */
  counted(verb: "list" | "watch"): void;
  /** Nothing comes any more: who watches is to ask anew. */
  lost(collection: Collection): void;
  /** What the server says from now on may have lower versions than what it said before. */
  restored(collection: Collection): void;
  /** Told why something is not held, which an operator can change. */
  warn(message: string): void;
}

export class Collections {
  readonly #cache: WatchCache;
  readonly #lost: (collection: Collection) => void;
  readonly #restored: (collection: Collection) => void;
  readonly #warn: (message: string) => void;
  readonly #known = new Map<string, Known>();

  constructor(server: URL, upstream: Upstream, { lingerMs, maxBytes, counted, lost, restored, warn }: CollectionsOptions) {
    this.#lost = lost;
    this.#restored = restored;
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
    // What is held is of the past, or of a server that is no more. Nobody knows yet which.
    if (held.olderSince !== undefined) return "behind";
    // As an API server asks its storage while its own cache is not ready.
    if (least !== undefined && resource.hasSynced && resource.status.phase !== "live") return "behind";
    const waiting = new AbortController();
    let isLate = false;
    const late = setTimeout(() => waiting.abort((isLate = true)), resource.hasSynced ? WAIT_AGAIN_MS : WAIT_MS);
    held.waiting.add(waiting);
    const { signal } = waiting;
    try {
      await resource.synced({ signal });
      // The state is there, and yet it may be none while it is listed anew. A list of nothing waits for it.
      await resource.list({ namespace: "-", resourceVersion: least?.version ?? "0", resourceVersionMatch: "NotOlderThan", signal });
      return held;
    } catch {
      if (isRefused(resource)) return "refused";
      if (held.olderSince !== undefined) return "behind";
      return least === undefined || isLate ? "late" : "behind";
    } finally {
      clearTimeout(late);
      held.waiting.delete(waiting);
    }
  }

  #held(collection: Collection): Known {
    const { group, version, resource: name } = collection;
    const key = keyOf(collection);
    const known = this.#known.get(key);
    // One that was let go in the meantime is another one now.
    const resource = this.#cache.resource({ group, version, resource: name });
    if (known?.resource === resource) return known;
    const held: Known = { collection, resource, waiting: new Set() };
    this.#known.set(key, held);
    resource.addEventListener("status", () => {
      this.#noteOlder(held);
      if (!isRefused(resource)) return;
      const { error } = resource.status;
      if (error !== undefined) this.#warn(`${nameOf(collection)} is not held, and served by the server: ${error.message}`);
      this.#lost(collection);
    });
    return held;
  }

  /** The relay's lists name no version. So a list that is older comes from a replica that is behind, or from a server that was restored. */
  #noteOlder(held: Known): void {
    const { phase, error } = held.resource.status;
    // Until the next list is whole the last one counts.
    if (phase === "relisting") return;
    const older = error?.code === "protocol" ? OLDER.exec(error.message)?.[1] : undefined;
    if (older === undefined) {
      // It has caught up, or something else is wrong, which says nothing of versions.
      held.olderSince = undefined;
      return;
    }
    if (held.olderSince === undefined) {
      held.olderSince = performance.now();
      for (const waiting of held.waiting) waiting.abort();
      // The waits between lists grow: what time decides does not wait for the next one. A timer may come a moment early.
      setTimeout(() => this.#noteOlder(held), BEHIND_MS + 20).unref();
    } else if (performance.now() - held.olderSince >= BEHIND_MS) this.#reset(held, older);
  }

  /** Takes what the server has, although it is older. Should it have caught up in this moment, that is a list as any. */
  #reset(held: Known, older: string): void {
    const { collection, resource } = held;
    const seconds = BEHIND_MS / 1000;
    this.#warn(
      `${nameOf(collection)} is listed anew, as of a server that was restored: for ${seconds} seconds it has answered with ${older}`,
    );
    // Not twice for one reason, and yet again should it have come to nothing.
    held.olderSince = performance.now();
    // What is written from now on counts by the new versions, and what was written before is in the list.
    this.#restored(collection);
    // Why it failed the status tells.
    resource.refresh({ reset: true }).catch(() => {});
  }

  close(): Promise<void> {
    return this.#cache.close();
  }
}

const keyOf = ({ group, version, resource }: Pick<Collection, "group" | "version" | "resource">): string =>
  `${group}/${version}/${resource}`;

const nameOf = (collection: Collection): string => keyOf(collection).replace(/^\//, "");

/** The server has said no to the relay itself, or there is no room: then its callers are no worse off with the server. */
function isRefused({ status: { phase } }: Resource<KubeObject>): boolean {
  return phase === "failed" || phase === "needs-auth" || phase === "closed";
}
