import { now } from "../host/sleep.js";
import { timer, unheld } from "../host/timer.js";
import type { RawViewSpec } from "../wire/raw.js";
import type { Session } from "../wire/session.js";
import { numberOf } from "./functions.js";
import { SharedView, type ViewFunctions, type ViewHandle, type ViewHost } from "./shared-view.js";

/** The views of one resource that somebody reads or subscribes to. */
export class SharedViews {
  readonly #host: ViewHost;
  readonly #views = new Map<string, SharedView>();
  readonly #byId = new Map<number, SharedView>();
  /** Handles that hold on to a view, with and without subscribers. */
  readonly #claims = new Set<ViewHandle>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(host: ViewHost) {
    this.#host = host;
  }

  /** The view of this spec, for a handle that has none. */
  join(handle: ViewHandle, spec: RawViewSpec, functions: ViewFunctions): SharedView {
    const key = keyOf(spec, functions);
    let view = this.#views.get(key);
    if (view === undefined) this.#views.set(key, (view = new SharedView(this.#host, spec, functions, () => this.statusChanged())));
    view.join(handle);
    this.#claims.add(handle);
    this.#releaseLater();
    return view;
  }

  /** It holds on to it no longer. */
  leave(handle: ViewHandle, view: SharedView, spec: RawViewSpec, functions: ViewFunctions): void {
    this.#claims.delete(handle);
    if (!view.leave(handle)) return;
    this.#views.delete(keyOf(spec, functions));
    if (view.id !== undefined) this.#byId.delete(view.id);
    view.close();
  }

  /** The view of another search, for a handle that has one. It leaves that behind only then: what was told of derived columns goes on. */
  moveOn(handle: ViewHandle, from: SharedView, before: RawViewSpec, spec: RawViewSpec, functions: ViewFunctions): SharedView {
    const view = this.join(handle, spec, functions);
    this.attach(view, from.session);
    this.leave(handle, from, before, functions);
    this.#claims.add(handle);
    return view;
  }

  /** Registers a view with the core, if that is there. */
  attach(view: SharedView, session: Session | undefined): void {
    if (session === undefined || !view.attach(session, () => this.#alike(view))) return;
    this.#byId.set(view.id!, view);
  }

  /** The core's numbers of views with the same derived columns as this one. */
  #alike({ columns }: SharedView): number[] {
    return [...this.#byId].filter(([, other]) => other.columns === columns).map(([id]) => id);
  }

  attachAll(session: Session): void {
    for (const view of [...this.#views.values()]) this.attach(view, session);
  }

  detachAll(): void {
    this.#byId.clear();
    for (const view of [...this.#views.values()]) view.detach();
  }

  /** The core has named these. */
  changed(ids: Uint32Array): void {
    for (const id of ids) this.#byId.get(id)?.changed();
  }

  /** What they all tell of their resource, or of functions that several have, may have changed. */
  statusChanged(): void {
    for (const view of this.#views.values()) view.changed();
  }

  /** A handle has lost its last subscriber. */
  left(): void {
    this.#releaseLater();
  }

  /** The resource is closed. What was read of it is free with the last who holds it, and does not wait for the linger. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Releases handles later that nobody has read by then. */
  #releaseLater(ms = this.#host.linger): void {
    if (this.#timer !== undefined || this.#closed) return;
    const release = () => {
      this.#timer = undefined;
      const next = this.#releaseUnread();
      if (next < Infinity) this.#releaseLater(next);
    };
    this.#timer = unheld(timer(release, ms));
  }

  /** Releases those that nobody has read for `linger`. Returns the milliseconds until the next of the others has waited as long. */
  #releaseUnread(): number {
    const until = now() - this.#host.linger;
    let next = Infinity;
    for (const handle of [...this.#claims]) {
      if (handle.isSubscribed) continue;
      if (handle.lastUse <= until) handle.release();
      else next = Math.min(next, handle.lastUse - until);
    }
    return next;
  }
}

function keyOf(spec: RawViewSpec, { where, derive }: ViewFunctions): string {
  return JSON.stringify([spec, numberOf(where), ...derive.map(({ value }) => numberOf(value))]);
}
