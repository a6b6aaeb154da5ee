import { got, transact, within } from "./database.js";

/** When a cache began, by the date, and how often its identity had been forgotten when it first asked: an epoch. */
export interface Beginning {
  readonly at: number;
  epoch?: number | undefined;
}

/** Whether an identity of that epoch has been forgotten since a cache of it began. That may have been before the cache has asked. */
export function isForgotten({ at, epoch }: Beginning, now: number | undefined): boolean {
  return epoch !== now || (now ?? 0) > at;
}

/** How long a storage may take to tell an epoch: a start waits for it. */
const MAX_READ_MS = 3_000;

/** A number that grows each time an identity is forgotten: the date of the last time. Undefined where there is no storage, or none that answers in time. */
export async function epochOf(identity: string): Promise<number | undefined> {
  if (globalThis.indexedDB === undefined) return undefined;
  const read = transact("readonly", async ({ epochs }) => (await got<number | undefined>(epochs.get(identity))) ?? 0);
  return within(MAX_READ_MS, read).catch(() => undefined);
}
