// Watches, fed from what is held. What a client does not take waits in the cache, which ends a watch that is too slow.
import type { KubeObject, Watcher, WatchEvent, WatchOptions } from "../node.js";
import { answerOf } from "./answers.js";
import type { Ask } from "./asks.js";
import type { Collection } from "./discovery.js";
import type { Held } from "./collections.js";
import { errorFrame, frameOf } from "./frames.js";
import type { Sink } from "./sinks.js";

/** A watch ends on its own after this time at least. The exact time is spread, so that clients do not return all at once. */
const MIN_TIMEOUT_SECONDS = 1_800;
/** A client that takes nothing for so long does not watch. */
const STALLED_MS = 30_000;

/** What the cache is asked for. The state that a watch begins with is what is held, as for lists. */
export function watchOptionsOf({ namespace, options }: Ask): WatchOptions {
  const { labelSelector, fieldSelector, resourceVersion, resourceVersionMatch, sendInitialEvents } = options;
  const { allowWatchBookmarks, timeoutSeconds } = options;
  return {
    namespace: namespace || undefined,
    labelSelector,
    fieldSelector,
    resourceVersion: resourceVersion ?? (sendInitialEvents ? "0" : undefined),
    resourceVersionMatch: resourceVersionMatch as "NotOlderThan" | undefined,
    sendInitialEvents,
    allowWatchBookmarks,
    timeoutSeconds: timeoutSeconds || Math.round(MIN_TIMEOUT_SECONDS * (1 + Math.random())),
    wait: false,
  };
}

/** A watch that the cache has not refused. */
export interface Opened {
  readonly watcher: Watcher<KubeObject>;
  readonly first: Promise<IteratorResult<readonly WatchEvent<KubeObject>[], undefined>>;
  readonly batches: AsyncIterator<readonly WatchEvent<KubeObject>[], undefined>;
}

/** @throws {WatchCacheError} where it is refused. What fails later is an event of it. */
export async function openWatch({ resource }: Held, options: WatchOptions): Promise<Opened> {
  const watcher = resource.watch(options);
  const batches = watcher.batches();
  const first = batches.next();
  first.catch(() => {});
  // A refusal is known at once: it comes with the first step.
  await Promise.race([first, new Promise((resolve) => setImmediate(resolve))]);
  return { watcher, first, batches };
}

/** A watch with its client. */
export class Watch {
  readonly collection: Collection;
  readonly #opened: Opened;
  readonly #sink: Sink;
  readonly #told: (events: number) => void;
  readonly #resource: Held["resource"];
  #over = false;
  #wake = () => {};

  constructor({ collection, resource }: Held, opened: Opened, sink: Sink, told: (events: number) => void) {
    this.collection = collection;
    this.#resource = resource;
    this.#opened = opened;
    this.#sink = sink;
    this.#told = told;
  }

  /** Resolves at its end, whoever ended it. */
  async run(): Promise<void> {
    const { first, batches } = this.#opened;
    this.#sink.onclose = () => this.end();
    this.#sink.ondrain = () => this.#wake();
    try {
      for (let next = await first; !next.done && !this.#over; next = await batches.next()) {
        for (const event of next.value) {
          while (!this.#sink.writable && !this.#over) await this.#drained();
          if (this.#over) return;
          if (this.#isIdle(event)) continue;
          this.#sink.send(frameOf(event, this.collection));
        }
        this.#told(next.value.length);
      }
    } catch (error) {
      this.#sink.send(errorFrame(answerOf(error).body));
    } finally {
      this.end();
    }
  }

  /** Whether it would say that all is well while the server is away: a client is to notice as it would without a relay. */
  #isIdle({ type, initialEventsEnd }: WatchEvent<KubeObject>): boolean {
    return type === "BOOKMARK" && initialEventsEnd !== true && this.#resource.status.phase !== "live";
  }

  /** Who takes nothing for long is let go: the cache cannot end a watch whose events it has given away. */
  async #drained(): Promise<void> {
    const stalled = setTimeout(() => this.end(), STALLED_MS);
    await new Promise<void>((resolve) => (this.#wake = resolve));
    clearTimeout(stalled);
  }

  /** Ends it in good order: its client goes on from the last version that it heard, wherever it is led to. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#opened.watcher.stop();
    this.#sink.end();
    this.#wake();
  }
}
