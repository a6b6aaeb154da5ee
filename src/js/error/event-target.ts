import type { Host } from "../host/host.js";
import { bindable } from "../language/bound.js";
import { call } from "./callbacks.js";

type Listener = EventListenerOrEventListenerObject;

/** A listener of a target. */
interface Known {
  remove(): void;
  /** Has its signal know nothing of it. */
  unhook(): void;
}

/**
 * All listeners: by type and phase, then by listener, as the platform tells them apart. They are no member of the targets, because consoles show
 * the first members.
 */
const known = new WeakMap<SafeTarget, Map<string, Map<Listener, Known>>>();
/** Those on which nothing happens any more. */
const closed = new WeakSet<SafeTarget>();

/**
 * An `EventTarget` whose listeners harm nobody: what one throws, or rejects with, is reported. Node would end the process for it.
 *
 * Listeners are wrapped. So the platform's own rules hold for `once`, `signal` and `capture`, for one that is added twice, and for one that
 * removes itself.
 */
export abstract class SafeTarget extends EventTarget {
  constructor(host: Host | undefined) {
    super();
    bindable(this);
    host?.unlimited(this);
  }

  override addEventListener(type: string, listener: Listener | null, options?: boolean | AddEventListenerOptions): void {
    // What is none is the platform's to judge.
    if ((typeof listener !== "function" && typeof listener !== "object") || listener === null) {
      return super.addEventListener(type, listener, options);
    }
    const { signal, ...rest } = typeof options === "object" ? (options ?? {}) : { capture: options ?? false };
    let all = known.get(this);
    if (all === undefined) known.set(this, (all = new Map()));
    const key = keyOf(type, options);
    const same = all.get(key) ?? new Map<Listener, Known>();
    // Added twice it is the first one, whatever is said the second time.
    if (same.has(listener)) return;
    const unhook = () => signal?.removeEventListener("abort", remove);
    const remove = () => {
      super.removeEventListener(type, guard, rest);
      unhook();
      same.delete(listener);
      if (same.size === 0) all.delete(key);
      if (all.size === 0) this.listenersChanged();
    };
    const guard = (event: Event) => {
      if (rest.once) remove();
      const listen = (): unknown => (typeof listener === "function" ? listener.call(this, event) : listener.handleEvent(event));
      call(listen, [], (error) => this.report(error));
    };
    // What is no signal is refused. Of one that is, Node would leave something behind.
    super.addEventListener(type, guard, signal instanceof AbortSignal ? rest : options);
    all.set(key, same.set(listener, { remove, unhook }));
    if (signal?.aborted) return remove();
    if (!closed.has(this)) signal?.addEventListener("abort", remove);
    this.listenersChanged();
  }

  override removeEventListener(type: string, listener: Listener | null, options?: boolean | EventListenerOptions): void {
    known.get(this)?.get(keyOf(type, options))?.get(listener!)?.remove();
  }

  /** Takes what a listener threw. */
  abstract report(error: unknown): void;

  /** Somebody listens, or nobody any more: see `isListened`. */
  listenersChanged(): void {}
}

/** Nothing happens on it any more. A signal that lives longer, as that of a page, holds it no longer. */
export function closeTarget(target: SafeTarget): void {
  closed.add(target);
  for (const same of known.get(target)?.values() ?? []) for (const { unhook } of same.values()) unhook();
}

export function isListened(target: SafeTarget): boolean {
  return (known.get(target)?.size ?? 0) > 0;
}

function keyOf(type: string, options: boolean | EventListenerOptions | null | undefined): string {
  const capture = typeof options === "object" ? options?.capture : options;
  return `${capture ? 1 : 0} ${type}`;
}
