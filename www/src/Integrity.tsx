import { useEffect, useState } from "react";
import { grouped } from "./format";
import { check, type Verdict } from "./integrity";
import type { Session } from "./session";
import { useNow } from "./useNow";

const EVERY_MS = 2_000;
const CALM_MS = 250;

const FORMULA = `The cache's state is read at its version; the server tells what it held at that same version; both are compared object by object.
lost = objects of the server that the cache lacks, or holds in another version
duplicated = objects the cache holds twice or though the server deleted them, and events delivered twice
out of order = events of this page's own watch whose version was not above the one before`;

/** Compares the cache with its server, again and again, and says what it found. */
export function Integrity({ pods, feed, journal }: Session) {
  const [verdict, setVerdict] = useState<Verdict>();
  useNow(1000);

  useEffect(() => {
    const abort = new AbortController();
    void repeat(abort.signal, async () => {
      // In the midst of trouble the server may already have forgotten the version that the cache is at.
      if (!journal.calm) return CALM_MS;
      const found = await check(pods, abort.signal).catch(() => undefined);
      if (found) setVerdict(found);
      return EVERY_MS;
    });
    return () => abort.abort();
  }, [pods, journal]);

  const figures: [name: string, value: number, id: string][] = [
    ["lost", verdict?.lost ?? 0, "lost"],
    ["duplicated", (verdict?.duplicated ?? 0) + feed.duplicated, "duplicated"],
    ["out of order", feed.outOfOrder, "out-of-order"],
  ];
  return (
    <section className="integrity" aria-label="Integrity">
      <h2>
        integrity{" "}
        {verdict && (
          <>
            at version{" "}
            <span data-testid="integrity-version" data-version={verdict.resourceVersion}>
              {grouped(verdict.resourceVersion)}
            </span>
          </>
        )}
      </h2>
      {verdict ? (
        <div title={FORMULA}>
          <p data-wrong={verdict.held !== verdict.expected}>
            objects{" "}
            <b data-testid="integrity-objects">{`${grouped(verdict.held)} ${verdict.held === verdict.expected ? "=" : "≠"} ${grouped(verdict.expected)}`}</b>{" "}
            on the server
          </p>
          <dl>
            {figures.map(([name, value, id]) => (
              <div key={id} data-wrong={value > 0}>
                <dd data-testid={`integrity-${id}`}>{grouped(value)}</dd>
                <dt>{name}</dt>
              </div>
            ))}
          </dl>
        </div>
      ) : (
        <p className="none">waiting for the first list, then comparing with the server</p>
      )}
    </section>
  );
}

/** Runs a task, waits as long as it says, runs it again; never two at once. */
async function repeat(signal: AbortSignal, task: () => Promise<number>) {
  while (!signal.aborted) {
    const pause = await task();
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
