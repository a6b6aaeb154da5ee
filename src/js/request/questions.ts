import { abortError, type WatchCacheError } from "../error/errors.js";
import type { AbortSignalLike } from "../host/types.js";

/** A question under way, as who answers it sees it. */
export interface Question<V> {
  /** Whether somebody still waits for the answer. */
  isOpen(): boolean;
  /** Makes a promise that resolves when nobody waits for the answer any more. */
  over(): Promise<void>;
  /** Gives the answer. False where nobody waits for it any more. */
  answer(value: V): boolean;
}

/** The calls of a resource that wait for an answer. A call ends by its answer, by its signal, or by what ends them all. */
export class Questions {
  /** What rejects each, and whether it waits for the first list. */
  readonly #open = new Map<(error: unknown) => void, boolean>();

  /**
   * @param acquire begins a use of the resource, which lasts as long as the question is open
   * @param asked finds the answer; what it throws rejects the call
   */
  ask<V>(
    signal: AbortSignalLike | undefined,
    forList: boolean,
    acquire: () => () => void,
    asked: (question: Question<V>) => Promise<void>,
  ): Promise<V> {
    return new Promise((resolve, reject) => {
      let open = true;
      let release = () => {};
      let end = () => {};
      const settle = () => {
        open = false;
        end();
        this.#open.delete(fail);
        signal?.removeEventListener("abort", abort);
        release();
      };
      const fail = (error: unknown) => {
        if (!open) return;
        settle();
        reject(error);
      };
      const abort = () => fail(abortError(signal!));
      signal?.addEventListener("abort", abort, { once: true });
      this.#open.set(fail, forList);
      release = acquire();
      // The use itself may have failed, and ended this.
      if (!open) release();
      asked({
        isOpen: () => open,
        over: () => new Promise((resolve) => (end = resolve)),
        answer(value) {
          if (!open) return false;
          settle();
          resolve(value);
          return true;
        },
      }).catch(fail);
    });
  }

  /** Rejects them, or with `forList` only those that wait for the first list. */
  reject(error: WatchCacheError, forList = false): void {
    for (const [fail, waits] of [...this.#open]) if (waits || !forList) fail(error);
  }
}
