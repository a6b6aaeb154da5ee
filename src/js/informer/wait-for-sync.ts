import { abortError, WatchCacheError } from "../error/errors.js";
import { timer } from "../host/timer.js";
import { read } from "../options/read.js";
import { syncing, WAIT } from "./options.js";
import type { Syncing, WaitOptions } from "./types.js";

/**
 * Waits until all of these have synced: informers, registrations, anything with `hasSynced` and `synced`.
 *
 * @param what by the names that messages call them by
 * @throws {WatchCacheError} `timeout` after `timeoutMs`, and `closed` when one of them was stopped before; the message names those that
 *   are missing, sorted.
 * @throws {DOMException} when the signal is aborted: its reason, where that is an `AbortError` or a `TimeoutError`. Else an `AbortError`
 *   with the same message, and the reason as its `cause`.
 * @returns the names in the order in which they were done; those that were done before come first, as they were given
 */
export async function waitForSync<N extends string>(what: Readonly<Record<N, Syncing>>, options?: WaitOptions): Promise<readonly N[]> {
  const { timeoutMs, signal } = read(WAIT, "waitForSync", options);
  const entries = Object.entries(what ?? { what }) as [N, Syncing][];
  for (const [name, waited] of entries) syncing(waited, name);
  const done: N[] = [];
  const missing = () =>
    entries
      .filter(([, { hasSynced }]) => !hasSynced)
      .map(([name]) => name)
      .sort();
  const message = () => `not synced: ${missing().join(", ")}`;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let abort: (() => void) | undefined;
  const given = new Promise<never>((_, reject) => {
    abort = () => reject(abortError(signal!, message()));
    if (signal?.aborted && missing().length > 0) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    if (timeoutMs === undefined) return;
    const late = () => reject(new WatchCacheError("timeout", message(), { retryable: true }));
    waiting = timer(late, timeoutMs);
  });
  const all = Promise.all(entries.map(([name, { synced }]) => synced.then(() => done.push(name)))).catch((error: unknown) => {
    throw new WatchCacheError("closed", message(), { cause: error });
  });
  try {
    await Promise.race([all, given]);
    return done;
  } finally {
    clearTimeout(waiting);
    if (abort !== undefined) signal?.removeEventListener("abort", abort);
  }
}
