import { bindable } from "./bound.js";
import { call } from "./callbacks.js";
import type { Host } from "./compile.js";

/**
 * An `EventTarget` whose listeners harm nobody: what one throws, or rejects with, is reported. Node would end the process for it.
 *
 * Listeners are wrapped, each always by the same function, so that the platform's own rules hold for them: of `once`, `signal`, `capture`, of
 * one that is added twice, and of one that removes itself.
 */
export abstract class SafeTarget extends EventTarget {
  constructor(host: Host | undefined) {
    super();
    bindable(this);
    host?.unlimited(this);
  }

  override addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void {
    super.addEventListener(type, guarded(listener), options);
  }

  override removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | EventListenerOptions,
  ): void {
    super.removeEventListener(type, guarded(listener), options);
  }
}

const known = new WeakMap<object, EventListener>();

function guarded(listener: EventListenerOrEventListenerObject | null): EventListener | null {
  // What is none is the platform's to judge.
  if ((typeof listener !== "function" && typeof listener !== "object") || listener === null) return listener;
  let guard = known.get(listener);
  if (guard === undefined) {
    guard = function (this: { report(error: unknown): void }, event: Event) {
      const listen = (): unknown => (typeof listener === "function" ? listener.call(this, event) : listener.handleEvent(event));
      call(listen, [], (error) => this.report(error));
    };
    // Node has a signal remove what it was given, by the method above.
    known.set(listener, guard).set(guard, guard);
  }
  return guard;
}
