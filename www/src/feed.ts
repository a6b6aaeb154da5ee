import type { Resource, WatchEvent } from "watchcache";
import { compareVersions } from "./format";
import type { PodHistory } from "./history";
import type { Pod } from "./pod";

/**
 * A watch of its own beside the table's view. It counts, remembers when each pod changed, and checks what a watch promises: that versions
 * only grow. No object is decoded for it.
 */
export class Feed {
  events = 0;
  outOfOrder = 0;
  duplicated = 0;
  /** When this page saw a pod change, by key, in ms since the epoch. */
  readonly changedAt = new Map<string, number>();
  /** Updates that reached a row on the page: one for each row and frame, however many came. */
  reached = 0;
  /** Those who show a pod, by its key. */
  readonly #shown = new Map<string, Set<() => void>>();
  #touched = new Map<string, boolean>();
  #frame: number | undefined;
  #last = "0";
  #ticks: { at: number; events: number }[] = [];

  constructor(
    readonly pods: Resource<Pod>,
    readonly history: PodHistory,
  ) {}

  /** Watches for ever. A watch may end (a relist, an overflow, a time limit); the next one starts at the version where it ended. */
  async run(): Promise<void> {
    await this.pods.synced().catch(() => undefined);
    let from = this.pods.resourceVersion;
    for (;;) {
      const watcher = this.pods.watch({ resourceVersion: from });
      try {
        for await (const batch of watcher.batches()) for (const event of batch) this.#take(event);
        const { reason, lastResourceVersion } = await watcher.ended;
        if (reason === "closed") return;
        from = reason === "error" ? this.pods.resourceVersion : (lastResourceVersion ?? from);
      } catch {
        // Refused, because that version is no longer kept: go on from the present. The table is not touched by this.
        from = this.pods.resourceVersion;
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    }
  }

  /** Calls back with the next frame after each change of this pod: of `changedAt`. */
  subscribe(key: string, changed: () => void): () => void {
    const shown = this.#shown.get(key) ?? new Set();
    this.#shown.set(key, shown.add(changed));
    return () => {
      shown.delete(changed);
      if (shown.size === 0 && this.#shown.get(key) === shown) this.#shown.delete(key);
    };
  }

  /** Events a second, over the last three seconds. */
  rate(): number {
    const now = Date.now();
    this.#ticks.push({ at: now, events: this.events });
    this.#ticks = this.#ticks.filter((tick) => now - tick.at <= 3000);
    const first = this.#ticks[0]!;
    return now === first.at ? 0 : ((this.events - first.events) * 1000) / (now - first.at);
  }

  #take(event: WatchEvent<Pod>) {
    if (event.type === "BOOKMARK" || event.type === "ERROR") return;
    const order = compareVersions(event.resourceVersion, this.#last);
    if (order === 0) this.duplicated++;
    if (order < 0) this.outOfOrder++;
    this.#last = event.resourceVersion;
    this.events++;
    this.history.add(event.resourceVersion);
    if (event.type === "DELETED") this.changedAt.delete(event.key);
    else this.changedAt.set(event.key, Date.now());
    if (!this.#shown.has(event.key)) return;
    this.#touched.set(event.key, event.type === "MODIFIED");
    this.#frame ??= requestAnimationFrame(() => this.#tell());
  }

  #tell() {
    const touched = this.#touched;
    this.#touched = new Map();
    this.#frame = undefined;
    for (const [key, updated] of touched) {
      const shown = this.#shown.get(key);
      if (shown === undefined) continue;
      if (updated) this.reached++;
      for (const changed of [...shown]) changed();
    }
  }
}
