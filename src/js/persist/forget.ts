import { timer, unheld } from "../host/timer.js";
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

/** How long a storage may take to say that. Some are asked and never answer. */
const MAX_READ_MS = 3_000;

/** How often an identity was forgotten. Undefined where there is no storage, or none that answers in time. */
export async function epochOf(identity: string): Promise<number | undefined> {
  if (globalThis.indexedDB === undefined) return undefined;
  const read = transact("readonly", async ({ epochs }) => (await got<number | undefined>(epochs.get(identity))) ?? 0);
  return new Promise((resolve) => {
    const late = unheld(timer(() => resolve(undefined), MAX_READ_MS));
    read.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(late));
  });
}
