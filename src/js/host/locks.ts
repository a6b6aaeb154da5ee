/** The part of the Web Locks that is used. */
export interface Locks {
  /** @param held hears of the lock, or null where it is not free and was not to be waited for. It is held until what it returns has ended. */
  request(
    name: string,
    options: { readonly mode?: "shared"; readonly ifAvailable?: true; readonly signal?: AbortSignal },
    held: (lock: unknown) => Promise<void> | undefined,
  ): Promise<void>;
  query(): Promise<{ held?: { name: string }[] }>;
}

/** Undefined where the host has none. A page without storage may have the functions, and each of them fails. */
export function hostLocks(): Locks | undefined {
  return (globalThis.navigator as { locks?: Locks } | undefined)?.locks;
}
