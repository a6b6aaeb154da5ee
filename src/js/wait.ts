import { WatchCacheError } from "./errors.js";
import { read, syncing, WAIT } from "./options.js";
import type { Syncing, WaitOptions } from "./types.js";

/**
 * Waits until all of these have synced: informers, registrations, anything with `hasSynced` and `synced`.
 *
 * @param what by the names that messages call them by
 * @throws {WatchCacheError} `timeout` after `timeoutMs`, and `closed` when one of them was stopped before; the message names those that
 *   are missing, sorted.
 * @throws {DOMException} `AbortError` when the signal is aborted, with the same message, and the signal's reason as its `cause`.
 */
export async function waitForSync(what: Readonly<Record<string, Syncing>>, options?: WaitOptions): Promise<void> {
  const { timeoutMs, signal } = read(WAIT, "waitForSync", options);
  for (const [name, waited] of Object.entries(what ?? { what })) syncing(waited, name);
  const missing = () =>
    Object.entries(what)
      .filter(([, { hasSynced }]) => !hasSynced)
      .map(([name]) => name)
      .sort();
  const message = () => `not synced: ${missing().join(", ")}`;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let abort: (() => void) | undefined;
  const given = new Promise<never>((_, reject) => {
    abort = () => {
      const error = new DOMException(message(), "AbortError");
      Object.defineProperty(error, "cause", { value: signal?.reason as unknown, configurable: true, writable: true });
      reject(error);
    };
    if (signal?.aborted && missing().length > 0) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    if (timeoutMs === undefined) return;
    const late = () => reject(new WatchCacheError("timeout", message(), { retryable: true }));
    // Clamped: a longer timer would fire at once.
    timer = setTimeout(late, Math.min(timeoutMs, 0x7fff_ffff));
  });
  const all = Promise.all(Object.values(what).map(({ synced }) => synced)).catch((error: unknown) => {
    throw new WatchCacheError("closed", message(), { cause: error });
  });
  try {
    await Promise.race([all, given]);
  } finally {
    clearTimeout(timer);
    if (abort !== undefined) signal?.removeEventListener("abort", abort);
  }
}
