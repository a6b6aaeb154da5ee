import { hostLocks } from "../host/locks.js";
import { unique } from "../language/unique.js";

/**
 * Holds a lock of a name that nobody else has. It goes with its holder, however that ends: ports tell nothing of it.
 *
 * @returns its name, once it is held; undefined where the host has no locks. And how to let go of it.
 */
export async function holdLock(prefix: string): Promise<{ name: string | undefined; release: () => void }> {
  const locks = hostLocks();
  if (locks === undefined) return { name: undefined, release: () => {} };
  const name = `${prefix}:${unique()}`;
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  const held = await new Promise<boolean>((resolve) => {
    const asked = locks.request(name, {}, () => {
      resolve(true);
      return released;
    });
    asked.catch(() => resolve(false));
  });
  return { name: held ? name : undefined, release };
}

/** What follows this beginning in the names of locks that anybody holds. */
export async function heldLocks(beginning: string): Promise<string[]> {
  const found = await hostLocks()
    ?.query()
    .catch(() => undefined);
  return (found?.held ?? []).flatMap(({ name }) => (name.startsWith(beginning) ? name.slice(beginning.length) : []));
}

/**
 * Calls back once whoever holds the lock has gone. The returned function takes that back. Those who wait are called at once, and together: a frozen
 * tab that came first would hold the others up.
 */
export function onReleased(name: string | undefined, gone: () => void): () => void {
  const abort = new AbortController();
  if (name !== undefined) {
    hostLocks()
      ?.request(name, { signal: abort.signal, mode: "shared" }, async () => gone())
      .catch(() => {});
  }
  return () => abort.abort();
}
