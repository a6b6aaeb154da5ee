import { WatchCacheError } from "../error/errors.js";
import { timer, unheld } from "../host/timer.js";
import { invalid } from "../options/kinds.js";
import { got, type Stores, transact, under } from "./database.js";

/**
 * Deletes all that was kept of an identity: what a logout calls. Caches of that identity that are open, in any page or worker of this origin, write
 * nothing more.
 *
 * @param identity as it was given to `createWatchCache`
 * @throws {WatchCacheError} `invalid` for what is no identity, and `timeout` where the storage has not answered for ten seconds. What the storage says where
 * it cannot delete.
 */
export async function forgetPersisted(identity: string): Promise<void> {
  if (typeof identity !== "string" || identity === "") throw invalid("forgetPersisted takes an identity: text that is not empty");
  if (globalThis.indexedDB === undefined) return;
  const work = async ({ states, blocks, epochs }: Stores) => {
    const epoch = (await got<number | undefined>(epochs.get(identity))) ?? 0;
    // Later than any cache of it that is open.
    epochs.put(Math.max(epoch + 1, Date.now()), identity);
    states.delete(under(identity));
    blocks.delete(under(identity));
  };
  // On the disk when this resolves, not only on its way there.
  await within(MAX_DELETE_MS, transact("readwrite", work, "strict"));
}

/** When a cache began, by the date, and how often its identity had been forgotten when it first asked: an epoch. */
export interface Beginning {
  readonly at: number;
  epoch?: number | undefined;
}

/** Whether an identity of that epoch has been forgotten since a cache of it began. That may have been before the cache has asked. */
export function isForgotten({ at, epoch }: Beginning, now: number | undefined): boolean {
  return epoch !== now || (now ?? 0) > at;
}

/** How long a storage may take. Some are asked and never answer. */
const MAX_READ_MS = 3_000;
const MAX_DELETE_MS = 10_000;

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const why = `the storage has not answered for ${ms / 1_000} seconds, and may still have what was kept`;
  let late: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    late = unheld(timer(() => reject(new WatchCacheError("timeout", why, { retryable: true })), ms));
  });
  return Promise.race([work, over]).finally(() => clearTimeout(late));
}

/** A number that grows each time an identity is forgotten: the date of the last time. Undefined where there is no storage, or none that answers in time. */
export async function epochOf(identity: string): Promise<number | undefined> {
  if (globalThis.indexedDB === undefined) return undefined;
  const read = transact("readonly", async ({ epochs }) => (await got<number | undefined>(epochs.get(identity))) ?? 0);
  return within(MAX_READ_MS, read).catch(() => undefined);
}
