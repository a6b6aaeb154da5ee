import type { Watcher } from "watchcache";
import { grouped, plural } from "./format";
import { statsOf } from "./history";
import type { Pod } from "./pod";
import type { Session } from "./session";

/** Events that may wait for the slow subscriber, and how long it takes for each. */
const BUFFER = 10;
const READS_MS = 250;
/** Where so few events come that it keeps up, it is let go. */
const PATIENCE_MS = 20_000;

/**
 * Opens a watch that is read too slowly, beside one that keeps up. The cache ends the first with reason `overflow`, and tells the version up to
 * which it is complete. A watch from there brings the rest. What both heard together is then compared with what the quick one heard.
 */
export async function subscribeSlowly({ cache, pods, journal }: Session): Promise<void> {
  const entry = journal.begin(`a subscriber takes ${READS_MS} ms for an event, and ${BUFFER} may wait for it`);
  const say = (text: string, done = false) => journal.step(text, done, entry);
  say("reading");

  const abort = new AbortController();
  const { signal } = abort;
  const patience = setTimeout(() => abort.abort(), PATIENCE_MS);
  const resourceVersion = pods.resourceVersion;
  const endedBefore = statsOf(cache)?.terminated ?? 0;
  try {
    const expected: string[] = [];
    void collect(pods.watch({ resourceVersion, signal }), expected);

    const heard: string[] = [];
    const slow = pods.watch({ resourceVersion, bufferSize: BUFFER, onOverflow: "terminate", signal });
    await slow.forEach(async (event) => {
      heard.push(event.resourceVersion);
      await sleep(READS_MS);
    });
    const { reason, lastResourceVersion } = await slow.ended;
    if (reason === "stopped") return say("it kept up: too few events came", true);
    if (reason !== "overflow") return say(`its watch ended with ${reason}`, true);

    const { terminated = 0, watchers = 0 } = statsOf(cache) ?? {};
    const others = terminated - endedBefore - 1;
    say(
      `ended with overflow at ${grouped(lastResourceVersion ?? "")}, ` +
        (others > 0 ? `and with it ${plural(others, "other")}` : `nobody else was: ${plural(watchers, "watcher")} went on`),
    );
    if (lastResourceVersion === undefined) return say("no version to resume from", true);

    const goal = expected.at(-1)!;
    await collect(pods.watch({ resourceVersion: lastResourceVersion, signal }), heard, goal);
    const got = new Set(heard);
    const due = expected.slice(0, expected.indexOf(goal) + 1);
    const lost = due.filter((version) => !got.has(version)).length;
    say(`resumed from there: ${lost} of ${plural(due.length, "event")} lost`, true);
  } finally {
    clearTimeout(patience);
    abort.abort();
  }
}

/** Keeps the versions that a watch tells, up to one of them or until it ends. */
async function collect(watcher: Watcher<Pod>, versions: string[], last?: string): Promise<void> {
  for await (const batch of watcher.batches()) {
    for (const { resourceVersion } of batch) versions.push(resourceVersion);
    if (last !== undefined && versions.includes(last)) return;
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
