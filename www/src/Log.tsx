import { useSyncExternalStore } from "react";
import { clock, seconds } from "./format";
import type { Journal } from "./journal";

/** What happened, newest first. */
export function Log({ journal }: { journal: Journal }) {
  const entries = useSyncExternalStore(journal.subscribe, () => journal.entries);
  return (
    <section className="log" aria-label="What happened">
      <h2>what happened</h2>
      <ol tabIndex={0} aria-label="What happened, newest first">
        {entries.map(({ id, at, title, steps, tookMs, open }) => (
          <li key={id} data-testid="log-entry" data-open={open}>
            <time>{clock(at)}</time>
            <span>
              {[title, ...steps].join(" → ")}
              {tookMs !== undefined && <b> in {seconds(tookMs)}</b>}
              {open && " …"}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
