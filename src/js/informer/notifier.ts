import type { ObjectTable } from "../wire/objects.js";
import type { Hooks, RawInterruption } from "../wire/raw.js";
import { Notification } from "./notification.js";

/** A handler at an informer, as it is told. */
export interface NotifiedHandler {
  /** What the handler throws is thrown, and `threw` is called. @param flush tells the notifications of one flush from those of the next */
  deliver(notification: Notification<any>, flush: number): void;
  /** What the handler threw at the last call. */
  threw(error: unknown): void;
  /** It has handled the state that it began with. */
  syncedNow(): void;
}

/** An informer, as it is told. */
export interface NotifiedInformer {
  /** Its first state is there. */
  syncedNow(): void;
  /** The stream was interrupted. */
  interrupted(interruption: RawInterruption): void;
  /** The core had no memory for it, and has ended it. */
  starved(interruption: RawInterruption): void;
}

/** Takes the notifications of a flush to the handlers of informers. */
export class Notifier {
  /** By the core's numbers, which are dense. */
  readonly #registrations: (NotifiedHandler | undefined)[] = [];
  readonly #informers: (NotifiedInformer | undefined)[] = [];
  #flushes = 0;
  /** How far the handing out has come, and whose handler that is. */
  #at = 0;
  #running: NotifiedHandler | undefined;

  attach(id: number, registration: NotifiedHandler): void {
    this.#registrations[id] = registration;
  }

  detach(id: number): void {
    this.#registrations[id] = undefined;
  }

  attachInformer(id: number, informer: NotifiedInformer): void {
    this.#informers[id] = informer;
  }

  detachInformer(id: number): void {
    this.#informers[id] = undefined;
  }

  close(): void {
    this.#registrations.length = 0;
    this.#informers.length = 0;
  }

  /** Never throws: registrations report what their handlers throw. */
  deliver(objects: ObjectTable, ...[table, pairs, handlers, informers, interruptions]: Parameters<Hooks["notify"]>): void {
    const notifications = new Array<Notification<any>>(table.length / 3);
    let lease = objects.lease();
    for (let i = 0; i < notifications.length; i++) {
      if (lease.isFull) lease = objects.lease();
      notifications[i] = new Notification(lease, table[3 * i]!, table[3 * i + 1]!, table[3 * i + 2]!);
    }
    const flush = ++this.#flushes;
    for (let from = 0; from < pairs.length; from = this.#at + 2) {
      try {
        this.#call(notifications, pairs, from, flush);
        break;
      } catch (error) {
        this.#running?.threw(error);
      }
    }
    this.#running = undefined;
    for (const id of informers) this.#informers[id]?.syncedNow();
    for (const id of handlers) this.#registrations[id]?.syncedNow();
    if (interruptions.length === 0) return;
    // A copy: whoever stops an informer in a callback changes the list.
    const told = [...this.#informers];
    for (const interruption of interruptions) {
      const { ended } = interruption;
      if (ended === undefined) for (const informer of told) informer?.interrupted(interruption);
      else this.#informers[ended]?.starved(interruption);
    }
  }

  /** The hot loop, a function of its own. Each handler is looked up when it is called, so a removed one is not called again. */
  #call(notifications: Notification<any>[], pairs: Uint32Array, from: number, flush: number): void {
    const registrations = this.#registrations;
    for (let i = from; i < pairs.length; i += 2) {
      const registration = registrations[pairs[i]!];
      if (registration === undefined) continue;
      this.#at = i;
      this.#running = registration;
      registration.deliver(notifications[pairs[i + 1]!]!, flush);
    }
  }
}
