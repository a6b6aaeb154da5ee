import { Notifier } from "../informer/notifier.js";
import { Dispatcher } from "../watch/dispatcher.js";
import type { ObjectTable } from "../wire/objects.js";
import type { Hooks } from "../wire/raw.js";

/** Where the rest of a flush goes. */
export interface DeliveryTarget {
  viewsChanged(views: Uint32Array): void;
  signalled(signals: number): void;
  /** The values of an object in each index that a function makes. */
  valuesFor(object: unknown): string[][];
}

/** The receiving end of a flush: watchers, handlers of informers, views and the resource itself each get their part of it. */
export class Delivery implements Hooks {
  #objects: (() => ObjectTable) | undefined;
  #target: DeliveryTarget | undefined;
  readonly dispatcher: Dispatcher;
  readonly notifier = new Notifier();
  readonly event: Hooks["event"];
  #closed = false;

  /** @param report hears what functions of a user's throw, also of one that has closed the resource: it holds none */
  constructor(objects: () => ObjectTable, target: DeliveryTarget, report: (error: unknown) => void) {
    this.#objects = objects;
    this.#target = target;
    this.dispatcher = new Dispatcher(objects, report);
    this.event = this.dispatcher.event;
  }

  close(): void {
    this.#closed = true;
    this.dispatcher.close();
    // The core holds on to this as long as its handle lives. The table holds that, and so do views of the target. Only so can all be collected.
    this.#objects = undefined;
    this.#target = undefined;
    this.notifier.close();
  }

  /** Called by the core, possibly without a `this`, and never while it runs. Never throws. */
  readonly flush = (...[events, pairs, ended, views, signals, audience]: Parameters<Hooks["flush"]>): void => {
    if (this.#closed) return;
    this.dispatcher.deliver(events, pairs, ended, audience);
    if (views.length > 0) this.#target?.viewsChanged(views);
    if (signals !== 0) this.#target?.signalled(signals);
  };

  /** Called by the core as `flush` is. Never throws. */
  readonly notify = (...notifications: Parameters<Hooks["notify"]>): void => {
    const objects = this.#objects?.();
    if (objects !== undefined) this.notifier.deliver(objects, ...notifications);
  };

  /** Called by the core before it stores an object. Never throws. */
  readonly indexValues = (id: number): string[][] => {
    const objects = this.#objects?.();
    return objects === undefined ? [] : (this.#target?.valuesFor(objects.take(id)) ?? []);
  };
}
