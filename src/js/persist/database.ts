/*
 * The database of all that is kept. Its few calls are wrapped here, and by no library: a worker's script is a file beside the others, and can name no
 * package.
 */

import { WatchCacheError } from "../error/errors.js";
import { timer, unheld } from "../host/timer.js";

const NAME = "watchcache";
/** Of the database. What is in a state has a format of its own. */
const VERSION = 1;

/** A state without its blocks. */
export interface State {
  readonly head: Uint8Array;
  /** The numbers of its blocks, as they are to be read. */
  readonly order: Uint32Array;
  /** Of head and blocks. */
  readonly bytes: number;
  /** When it was written, in milliseconds since 1970. */
  readonly at: number;
  /** Who wrote it. */
  readonly writer: string;
}

/** Identity and name of a state. */
export type StateKey = readonly [identity: string, name: string];

/** The stores: states by identity and name, their blocks by number as well, and how often an identity was forgotten. */
export interface Stores {
  readonly states: IDBObjectStore;
  readonly blocks: IDBObjectStore;
  readonly epochs: IDBObjectStore;
}

let opening: Promise<IDBDatabase> | undefined;

/** The one connection of this thread. Rejects where there is no storage, and for a database of a newer version. */
function connect(): Promise<IDBDatabase> {
  return (opening ??= open().catch((error) => {
    opening = undefined;
    throw error;
  }));
}

/** Closes the connection. The next call opens another one. A page with one may not be kept for the way back. */
export function disconnect(): void {
  void opening?.then((database) => database.close()).catch(() => {});
  opening = undefined;
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    if (globalThis.indexedDB === undefined) throw new Error("this host has no IndexedDB");
    const request = indexedDB.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      for (const store of ["states", "blocks", "epochs"]) request.result.createObjectStore(store);
    };
    request.onblocked = () => reject(new Error("another page holds an older database open"));
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const database = request.result;
      // A later version of the package may make another one of it, and what the browser closes is opened anew.
      database.onversionchange = disconnect;
      database.onclose = () => (opening = undefined);
      resolve(database);
    };
  });
}

/** What a request gives. */
export function got<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Works in one transaction, which is over when this resolves. What throws undoes all of it. */
export async function transact<T>(
  mode: "readonly" | "readwrite",
  work: (stores: Stores) => Promise<T>,
  durability: "relaxed" | "strict" = "relaxed",
): Promise<T> {
  const database = await connect();
  const transaction = database.transaction(["states", "blocks", "epochs"], mode, { durability });
  const over = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was undone"));
  });
  // Heard below, where the work has not failed already.
  over.catch(() => {});
  const store = (name: string) => transaction.objectStore(name);
  let result: T;
  try {
    result = await work({ states: store("states"), blocks: store("blocks"), epochs: store("epochs") });
  } catch (error) {
    try {
      transaction.abort();
    } catch {
      // It is over already.
    }
    throw error;
  }
  await over;
  return result;
}

/** What comes of this work, unless it takes longer. Some storages are asked and never answer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const why = `the storage has not answered for ${ms / 1_000} seconds, and may still have what was kept`;
  let late: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    late = unheld(timer(() => reject(new WatchCacheError("timeout", why, { retryable: true })), ms));
  });
  return Promise.race([work, over]).finally(() => clearTimeout(late));
}

/** All keys that begin with these. */
export function under(...start: readonly IDBValidKey[]): IDBKeyRange {
  // An array comes behind whatever else stands at its place.
  return IDBKeyRange.bound([...start], [...start, []]);
}
