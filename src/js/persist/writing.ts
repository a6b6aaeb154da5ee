import { hostLocks } from "../host/locks.js";

/**
 * The right to write one state, which one page or worker has at a time. It ends with its holder, so no time limit can be wrong. A host without
 * locks is taken for one page.
 */
export class Writing {
  readonly #name: string;
  #letGo: () => void = () => {};
  #held = false;
  #closed = false;
  #awake = Promise.resolve();
  #wakeUp: () => void = () => {};
  /** Whether it was free when it was asked for first. */
  readonly first: Promise<boolean>;

  constructor(name: string) {
    this.#name = name;
    this.first = this.#ask(true);
  }

  get isHeld(): boolean {
    return this.#held;
  }

  /** Resolves when it is held; never, once this is closed. True if it was free when it was asked for first. */
  async turn(): Promise<boolean> {
    const wasFree = await this.first;
    while (!this.#held) {
      await this.#awake;
      await (this.#closed ? new Promise(() => {}) : this.#ask(false));
    }
    return wasFree;
  }

  /** Lets go of it, and asks for it again when the page is awake. */
  suspend(): void {
    this.#release();
    this.#awake = new Promise((resolve) => (this.#wakeUp = resolve));
  }

  wake(): void {
    this.#wakeUp();
  }

  /** Lets somebody else have it. It is asked for again with the next turn. */
  yield(): void {
    this.#release();
  }

  close(): void {
    this.#closed = true;
    this.#release();
  }

  #release(): void {
    this.#held = false;
    this.#letGo();
  }

  /** Whether it is held then. */
  #ask(ifAvailable: boolean): Promise<boolean> {
    const locks = hostLocks();
    if (locks === undefined) return Promise.resolve((this.#held = true));
    const abort = new AbortController();
    const { signal } = abort;
    let release = () => {};
    this.#letGo = () => {
      abort.abort();
      release();
    };
    return new Promise((resolve) => {
      const asked = locks.request(this.#name, ifAvailable ? { ifAvailable } : { signal }, (lock) => {
        const isHeld = lock !== null && !signal.aborted;
        resolve((this.#held = isHeld));
        return isHeld ? new Promise<void>((resolve) => (release = resolve)) : undefined;
      });
      asked.catch(() => resolve((this.#held = !signal.aborted)));
    });
  }
}
