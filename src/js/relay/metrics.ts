// Counters, as Prometheus reads them.
import type { Collection } from "./discovery.js";

/** What the relay counts, with what is said of it. */
const HELP = {
  requests: ["counter", "Requests, by who answered: the relay from what it holds, the server, or the relay with a refusal"],
  reviews: ["counter", "Access reviews that the server was asked for, by what came of them"],
  upstream_requests: ["counter", "Lists and watches of the relay's own"],
  events: ["counter", "Events sent to watches"],
  list_bytes: ["counter", "Bytes of lists that were served from what is held, before they were packed"],
  refused: ["counter", "Requests that the relay refused, by why"],
  watches: ["gauge", "Watches that are open, of those served from what is held"],
  clients: ["gauge", "Different credentials that have a watch open"],
  draining: ["gauge", "1 while watches are ended because the relay is to stop"],
} as const;

export type Counted = keyof typeof HELP;
type Labels = Readonly<Record<string, string>>;

export class Metrics {
  readonly #values = new Map<Counted, Map<string, number>>();

  count(name: Counted, labels: Labels = {}, by = 1): void {
    const series = this.#values.get(name) ?? new Map<string, number>();
    this.#values.set(name, series);
    const key = render(labels);
    series.set(key, (series.get(key) ?? 0) + by);
  }

  set(name: Counted, value: number): void {
    this.#values.set(name, new Map([["", value]]));
  }

  /** @param cache what the cache tells itself */
  text(cache: string): string {
    let text = "";
    for (const [name, [type, help]] of Object.entries(HELP)) {
      const full = `watchcache_relay_${name}${type === "counter" ? "_total" : ""}`;
      text += `# HELP ${full} ${help}.\n# TYPE ${full} ${type}\n`;
      for (const [labels, value] of this.#values.get(name as Counted) ?? [["", 0]]) text += `${full}${labels} ${value}\n`;
    }
    return text + cache;
  }
}

export const labelsOf = ({ group, resource }: Collection): Labels => ({ group, resource });

function render(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}
