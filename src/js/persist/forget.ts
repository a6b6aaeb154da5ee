import { invalid } from "../options/kinds.js";
import { got, type Stores, transact, under, within } from "./database.js";

/** How long a storage may take to delete something. */
const MAX_DELETE_MS = 10_000;

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
