import { invalid } from "../options/kinds.js";
import { got, type Stores, transact, under } from "./database.js";

/**
 * Deletes all that was kept of an identity: what a logout calls. Caches of that identity that are open, in any page or worker of this origin, write
 * nothing more.
 *
 * @param identity as it was given to `createWatchCache`
 * @throws {WatchCacheError} `invalid` for what is no identity. What the storage says where it cannot delete.
 */
export async function forgetPersisted(identity: string): Promise<void> {
  if (typeof identity !== "string" || identity === "") throw invalid("forgetPersisted takes an identity: text that is not empty");
  if (globalThis.indexedDB === undefined) return;
  const work = async ({ states, blocks, epochs }: Stores) => {
    const epoch = (await got<number | undefined>(epochs.get(identity))) ?? 0;
    epochs.put(epoch + 1, identity);
    states.delete(under(identity));
    blocks.delete(under(identity));
  };
  // On the disk when this resolves, not only on its way there.
  await transact("readwrite", work, "strict");
}

/** How often an identity was forgotten. Undefined where there is no storage. */
export async function epochOf(identity: string): Promise<number | undefined> {
  if (globalThis.indexedDB === undefined) return undefined;
  return transact("readonly", async ({ epochs }) => (await got<number | undefined>(epochs.get(identity))) ?? 0).catch(() => undefined);
}
