import type { Resource, WatchCache } from "watchcache";
import { compareVersions } from "./format";
import type { Pod } from "./pod";

/** A change, and when this page heard of it, in ms since the epoch. */
export interface Moment {
  version: string;
  at: number;
}

/**
 * The changes that the event window holds: of each of their versions there can be a list without the server. The feed tells them. What the
 * window drops is dropped here, too.
 */
export class PodHistory {
  #moments: Moment[] = [];

  constructor(
    readonly cache: WatchCache,
    readonly pods: Resource<Pod>,
  ) {}

  add(version: string): void {
    const last = this.#moments.at(-1);
    if (!last || compareVersions(version, last.version) > 0) this.#moments.push({ version, at: Date.now() });
  }

  /** Those that the window holds now, the oldest first. */
  get held(): readonly Moment[] {
    const from = this.from;
    const dropped =
      from === undefined ? this.#moments.length : this.#moments.findIndex(({ version }) => compareVersions(version, from) > 0);
    if (dropped !== 0) this.#moments = dropped < 0 ? [] : this.#moments.slice(dropped);
    return this.#moments;
  }

  /** The oldest version that a watch can begin at. The first change comes after it. */
  get from(): string | undefined {
    return statsOf(this.cache)?.historyFrom;
  }

  /** Where the change of a version stands among those that are held, or the first later one. */
  indexOf(version: string): number {
    const { held } = this;
    let [low, high] = [0, held.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareVersions(held[middle]!.version, version) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** When a version came: now, where it is newer than all that was heard of. Undefined where it left the window, or never was in it. */
  timeOf(version: string): number | undefined {
    const index = this.indexOf(version);
    const moment = this.#moments[index];
    if (!moment) return Date.now();
    return index === 0 && moment.version !== version ? undefined : moment.at;
  }
}

/** The counters of the pods' own stream. */
export const statsOf = (cache: WatchCache) => cache.stats().resources.find(({ name }) => name === "pods");
