import type { Resource, ResourceStatus } from "watchcache";
import { grouped, plural } from "./format";
import type { Pod } from "./pod";

export interface Entry {
  id: number;
  at: number;
  title: string;
  steps: string[];
  /** From the first sign of trouble to live again. */
  tookMs?: number;
  open: boolean;
}

/** What happened to the connection and how long recovery took, told from the resource's status alone. */
export class Journal {
  entries: readonly Entry[] = [];
  #listeners = new Set<() => void>();
  #before: ResourceStatus;

  constructor(readonly pods: Resource<Pod>) {
    this.#before = pods.status;
    this.#begin("listing pods");
    pods.addEventListener("status", () => this.#follow(pods.status));
    setInterval(() => this.#look(), 1_000);
  }

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** A visitor broke something: what the cache does next is told under this entry, which is named by its id. */
  begin(title: string): number {
    this.#begin(title);
    return this.latest!.id;
  }

  /** Adds to an entry, the latest where none is named, and, with `done`, closes it. */
  step(text: string, done = false, id = this.latest?.id): void {
    this.#change(id, (entry) => ({
      ...entry,
      steps: entry.steps.at(-1) === text ? entry.steps : [...entry.steps, text],
      ...(done ? { open: false, tookMs: Date.now() - entry.at } : {}),
    }));
  }

  get latest(): Entry | undefined {
    return this.entries[0];
  }

  /** Live, and the last trouble over for a second: the server still knows the version that the cache is at. */
  get calm(): boolean {
    return this.pods.status.phase === "live" && this.latest?.open === false && Date.now() - this.#closedAt() > 1_000;
  }

  #closedAt(): number {
    const { latest } = this;
    return latest?.tookMs === undefined ? 0 : latest.at + latest.tookMs;
  }

  #follow(status: ResourceStatus) {
    const before = this.#before;
    this.#before = status;
    if (status.phase === before.phase && status.error === before.error) return;
    if (status.phase === "live") {
      const what = before.phase === "listing" ? plural(this.pods.size, "pod") : `live again, ${plural(this.pods.size, "row")} held`;
      this.step(`${what} at ${grouped(this.pods.resourceVersion ?? "")}`, true);
      return;
    }
    const text = describe(status, before);
    if (!text) return;
    if (!this.latest?.open) this.#resume();
    this.step(text);
  }

  /** Frames kept coming for three seconds after something was broken: it did not concern the stream. */
  #look() {
    const { latest, pods } = this;
    const live = pods.status.phase === "live" && latest?.open && latest.steps.length === 0;
    if (live && (pods.lastEventAt ?? 0) > latest.at + 3_000) this.step("the stream went on", true);
  }

  /** Trouble right after "live again" is the same trouble: a socket opens before the server says what it thinks of the version. */
  #resume() {
    if (Date.now() - this.#closedAt() > 1_500) this.#begin("the connection broke");
    else this.#change(this.latest?.id, ({ steps, ...entry }) => ({ ...entry, steps: steps.slice(0, -1), tookMs: undefined, open: true }));
  }

  #begin(title: string) {
    const earlier = this.entries.map((entry) => ({ ...entry, open: false }));
    this.entries = [{ id: (this.latest?.id ?? 0) + 1, at: Date.now(), title, steps: [], open: true }, ...earlier].slice(0, 50);
    this.#tell();
  }

  #change(id: number | undefined, change: (entry: Entry) => Entry) {
    this.entries = this.entries.map((entry) => (entry.id === id ? change(entry) : entry));
    this.#tell();
  }

  #tell() {
    for (const listener of this.#listeners) listener();
  }
}

function describe(status: ResourceStatus, before: ResourceStatus): string | undefined {
  const { phase } = status;
  const error = status.error;
  const why = error ? `: ${error.message}` : "";
  switch (phase) {
    case "reconnecting":
      if (!before.stale && status.stale && before.phase === "loading") return "rows of the last visit, from the disk";
      return before.phase === "reconnecting" ? error && `refused${why}` : `stream lost${why}`;
    case "relisting":
      return `listing again, only differences will show${why}`;
    case "needs-auth":
      return `signed out${why}`;
    case "failed":
      return `the server says no${why}`;
    case "paused":
      return "paused";
    default:
      return undefined;
  }
}
