import { isPromise } from "./delivery.js";

/**
 * An `EventTarget` whose listeners harm nobody: what one throws, or rejects with, is reported. Node would end the process for it.
 *
 * Listeners are wrapped, each always by the same function, so that the platform's own rules hold for them: of `once`, `signal`, `capture`, of
 * one that is added twice, and of one that removes itself.
 */
export abstract class SafeTarget extends EventTarget {
  readonly #wrapped = new WeakMap<object, EventListener>();

  override addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void {
    super.addEventListener(type, this.#wrap(listener), options);
  }

  override removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | EventListenerOptions,
  ): void {
    super.removeEventListener(type, this.#wrap(listener), options);
  }

  #wrap(listener: EventListenerOrEventListenerObject | null): EventListener | null {
    // What is none is the platform's to judge.
    if ((typeof listener !== "function" && typeof listener !== "object") || listener === null) return listener;
    let wrapped = this.#wrapped.get(listener);
    if (wrapped === undefined) {
      const report = (error: unknown) => (this as unknown as { report(error: unknown): void }).report(error);
      wrapped = (event) => {
        try {
          const answer: unknown = typeof listener === "function" ? listener.call(this, event) : listener.handleEvent(event);
          if (isPromise(answer)) answer.then(undefined, report);
        } catch (error) {
          report(error);
        }
      };
      // Node has a signal remove what it was given, by the method above.
      this.#wrapped.set(listener, wrapped).set(wrapped, wrapped);
    }
    return wrapped;
  }
}
