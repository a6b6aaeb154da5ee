import type { CollectionConfig, Transaction } from "@tanstack/db";
import { WatchCacheError } from "../error/errors.js";
import type { ObjectLike } from "../object/metadata.js";
import type { Resource } from "../resource/types.js";
import { rebase } from "./rebase.js";
import { reaches, type Rows, versionOf } from "./rows.js";

/** How long, in milliseconds, a write waits for the flush that shows it. The stream has brought it by then. */
const FLUSH_MS = 500;

/**
 * Writes of whole objects. A transaction is no transaction of the server: its writes go one by one, and end with the first that is refused.
 *
 * Transactions over one object go in turn, because each is made upon the one before it.
 *
 * @param rows those of the last sync
 */
export function writes(
  resource: Resource<any, any, any>,
  rows: () => Rows<any> | undefined,
): Pick<CollectionConfig<any, string>, "onInsert" | "onUpdate" | "onDelete"> {
  const inTurn = turns();
  const shown = async (key: string, written: unknown) => {
    const version = versionOf(written);
    await rows()?.until(() => reaches(versionOf(rows()?.get(key)), version), FLUSH_MS);
  };
  return {
    onInsert: ({ transaction }) =>
      inTurn(transaction, async ({ key, modified }) => {
        await shown(key, await resource.create(modified));
        rows()?.disown(key);
      }),
    onUpdate: ({ transaction }) =>
      inTurn(transaction, async ({ key, original, modified }) => {
        await shown(key, await resource.update(key, (current) => rebase(original as ObjectLike, modified, current, key)));
      }),
    onDelete: ({ transaction }) =>
      inTurn(transaction, async ({ key, original }) => {
        const before = rows()?.get(key);
        // That which the user has seen, and no other of its name.
        const uid = (original as ObjectLike).metadata?.uid ?? undefined;
        await resource.delete(key, { preconditions: { uid } });
        await rows()?.until(() => rows()?.get(key) !== before, FLUSH_MS);
      }),
  };
}

type Pending = Pick<Transaction<any>, "mutations" | "state" | "isPersisted">;
type Write = (mutation: { readonly key: string; readonly original: object; readonly modified: any }) => Promise<void>;

/** Runs the writes of a transaction once all earlier transactions over the same objects are settled. */
function turns(): (transaction: Pending, write: Write) => Promise<void> {
  const last = new Map<string, Promise<unknown>>();
  return async (transaction, write) => {
    const { mutations, isPersisted } = transaction;
    const keys = mutations.map(({ key }) => String(key));
    const before = keys.map((key) => last.get(key));
    const settled = isPersisted.promise.catch(() => {}).then(() => keys.forEach((key) => last.get(key) === settled && last.delete(key)));
    // All keys at once: two transactions never wait for each other.
    for (const key of keys) last.set(key, settled);
    await Promise.all(before);
    // It changes while this waits.
    if ((transaction.state as string) === "failed")
      throw new WatchCacheError("conflict", `a write of ${keys.join(", ")} was rolled back before it was sent`);
    for (const { key, original, modified } of mutations) await write({ key: String(key), original, modified });
  };
}
