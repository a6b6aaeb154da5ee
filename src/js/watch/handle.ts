import { bindable, bindMethods } from "../language/bound.js";
import { disposable } from "../language/disposable.js";
import { printable } from "../language/printing.js";
import type { Mutable } from "../object/readonly.js";
import type { WatchEnd, Watcher as Shape, WatchEvent } from "./types.js";
import type { WatcherImpl } from "./watcher.js";

/** Watches whose handle nobody holds any more end, unless somebody is still called or waits. */
const dropped = new FinalizationRegistry<WatcherImpl<any>>((watcher) => watcher.dropped());

/**
 * A watch as users hold it. The watch itself is held by its resource and knows nothing of this. So a watch that nobody can read or stop
 * any more is noticed.
 */
class Watcher<T> implements Shape<T, Mutable> {
  readonly ended: Promise<WatchEnd>;
  readonly #watcher: WatcherImpl<T>;
  declare [Symbol.asyncDispose]: () => Promise<void>;

  constructor(watcher: WatcherImpl<T>) {
    bindable(this);
    this.ended = watcher.ended;
    this.#watcher = watcher;
    dropped.register(this, watcher, watcher);
  }

  /** It has ended: whether anybody holds its handle is of no interest any more. */
  static ended(watcher: WatcherImpl<any>): void {
    dropped.unregister(watcher);
  }

  next(): Promise<IteratorResult<WatchEvent<T, Mutable>, undefined>> {
    return this.#watcher.next();
  }

  async return(): Promise<IteratorResult<WatchEvent<T, Mutable>, undefined>> {
    this.stop();
    return { value: undefined, done: true };
  }

  batches(): AsyncIterableIterator<readonly WatchEvent<T, Mutable>[]> {
    // Who holds these holds this.
    const batches = {
      next: () => this.#watcher.batch(),
      return: async () => {
        this.stop();
        return { value: undefined, done: true as const };
      },
      [Symbol.asyncIterator]: () => batches,
    };
    disposable(batches, async () => this.stop());
    return batches;
  }

  forEach(handler: (event: WatchEvent<T, Mutable>) => void | Promise<void>): Promise<void> {
    return this.#watcher.forEach(handler);
  }

  stop(): void {
    this.#watcher.stop();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  static {
    printable(Watcher.prototype, "Watcher", (watcher: Watcher<unknown>) => watcher.#watcher.described());
  }
}

disposable(Watcher.prototype, async function (this: Watcher<unknown>) {
  this.stop();
});
bindMethods(Watcher.prototype);

// Chromium's console shows the name of the class.
export { Watcher as WatcherHandle };
