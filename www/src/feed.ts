import type { Resource, WatchEvent } from "watchcache";
import { compareVersions } from "./format";
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
  #last = "0";
  #ticks: { at: number; events: number }[] = [];

  constructor(readonly pods: Resource<Pod>) {}

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
    if (event.type === "DELETED") this.changedAt.delete(event.key);
    else this.changedAt.set(event.key, Date.now());
  }
}
