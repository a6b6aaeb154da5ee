// The watches that are open, and whose: for the limit of each client, and for their end.
import type { Collection } from "./discovery.js";
import type { Metrics } from "./metrics.js";

/** A watch, as far as it is ended from outside. */
export interface Ending {
  /** Undefined: the server serves it. */
  readonly collection?: Collection | undefined;
  end(): void;
}

export class Clients {
  readonly #max: number;
  readonly #metrics: Metrics;
  readonly #counts = new Map<string, number>();
  readonly #open = new Set<Ending>();

  /** @param max watches of one client */
  constructor(max: number, metrics: Metrics) {
    this.#max = max;
    this.#metrics = metrics;
  }

  /** Takes a place, if the client has one left. @returns gives it back */
  enter(id: string): (() => void) | undefined {
    const count = this.#counts.get(id) ?? 0;
    if (count >= this.#max) return undefined;
    this.#counts.set(id, count + 1);
    this.#metrics.set("clients", this.#counts.size);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const count = this.#counts.get(id)! - 1;
      if (count > 0) this.#counts.set(id, count);
      else this.#counts.delete(id);
      this.#metrics.set("clients", this.#counts.size);
    };
  }

  add(watch: Ending): () => void {
    this.#open.add(watch);
    return () => this.#open.delete(watch);
  }

  /** Ends the watches of a collection, because nothing more will come to them. */
  lost({ group, version, resource }: Collection): void {
    for (const watch of [...this.#open]) {
      const { collection } = watch;
      if (collection?.group === group && collection.version === version && collection.resource === resource) watch.end();
    }
  }

  /** Ends all, evenly spread over that time, so that no server has them all back at once. */
  async drain(ms: number): Promise<void> {
    const open = [...this.#open];
    const end = Date.now() + ms;
    for (const [at, watch] of open.entries()) {
      if (!this.#open.has(watch)) continue;
      const left = end - Date.now();
      const wait = left / (open.length - at);
      if (wait >= 1) await new Promise((resolve) => setTimeout(resolve, wait));
      watch.end();
    }
    for (const watch of [...this.#open]) watch.end();
  }
}
