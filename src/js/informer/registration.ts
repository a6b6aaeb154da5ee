import { isPromise } from "../error/callbacks.js";
import { closedError, WatchCacheError } from "../error/errors.js";
import { bindable, bindMethods } from "../language/bound.js";
import { Deferred } from "../language/deferred.js";
import type { Mutable } from "../object/readonly.js";
import {
  NOTIFICATION_ADDED,
  NOTIFICATION_INITIALLY_ADDED,
  NOTIFICATION_OVERFLOWED,
  NOTIFICATION_RESYNCED,
  NOTIFICATION_UPDATED,
} from "../wire/numbers.js";
import type { ObjectTable } from "../wire/objects.js";
import type { RawHandlerOptions, RawResource } from "../wire/raw.js";
import { NotificationFilter } from "./filter.js";
import { DeletedObject, type Notification } from "./notification.js";
import type { Notifier } from "./notifier.js";
import type { Reader } from "./reader.js";
import type {
  AddEvent,
  DeleteEvent,
  EventHandler,
  HandlerOptions,
  HandlerRegistration as Shape,
  InformerEvent,
  InformerListener,
  UpdateEvent,
} from "./types.js";

/** What a registration needs of its informer. */
export interface RegistrationHost {
  readonly name: string;
  report(error: unknown): void;
  removed(registration: HandlerRegistration<any>): void;
}

interface Attachment {
  readonly raw: RawResource;
  readonly notifier: Notifier;
  readonly reader: Reader;
  readonly informer: number;
  readonly id: number;
}

/** One handler at one informer. The core queues its notifications. Here the handler is called, and awaited if it returns a promise. */
class HandlerRegistration<T> implements Shape {
  readonly #host: RegistrationHost;
  readonly #handler: EventHandler<T, Mutable> | InformerListener<T, Mutable>;
  readonly #options: RawHandlerOptions;
  readonly #filter: ((object: T) => boolean) | undefined;
  readonly #timeSlice: number;
  readonly #synced = new Deferred();
  #hasSynced = false;
  #removed = false;
  /** The handler itself, where it takes notifications as they are. */
  #plain: InformerListener<T, Mutable> | undefined;
  /** Where a filter or a transform stands between. */
  #notificationFilter: NotificationFilter<T> | undefined;
  #at: Attachment | undefined;
  /** The flush that it was told of last. */
  #flush = 0;
  /** Notifications of this flush that the handler was called for. */
  #begun = 0;
  /** When its time slice of this flush is over. */
  #until = Infinity;
  /** The core was told that the handler is not done: what else this flush has for it comes again. */
  #held = false;
  /** A call is under way, whose promise may not have settled. */
  #busy = false;
  /** Made for who waits for its end. */
  #ended: Deferred | undefined;

  constructor(
    host: RegistrationHost,
    handler: EventHandler<T, Mutable> | InformerListener<T, Mutable>,
    options: HandlerOptions<T, Mutable>,
  ) {
    bindable(this);
    const { filter, timeSlice, ...raw } = options;
    this.#host = host;
    this.#handler = handler;
    this.#options = raw;
    this.#filter = filter;
    this.#timeSlice = timeSlice ?? Infinity;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  async remove(): Promise<void> {
    const { idle } = this;
    this.end();
    this.#host.removed(this);
    await idle;
  }

  // ------------------------------------------------------------------------- called by the informer

  /** The core is there: registers with it. Throws what the core says of the options. */
  attach(raw: RawResource, notifier: Notifier, objects: ObjectTable, reader: Reader, informer: number): void {
    if (this.#removed) return;
    const judged = this.#filter !== undefined || reader !== objects;
    const id = raw.informerHandler(informer, { ...this.#options, judged });
    this.#held = false;
    this.#at = { raw, notifier, reader, informer, id };
    this.#notificationFilter = judged ? new NotificationFilter(this.#filter, this.#options.changesOf) : undefined;
    this.#plain = typeof this.#handler === "function" && this.#notificationFilter === undefined ? this.#handler : undefined;
    notifier.attach(id, this);
  }

  detach(): void {
    this.#at?.notifier.detach(this.#at.id);
    this.#at = undefined;
  }

  /** Nothing is called any more; a call under way may end. */
  end(error: WatchCacheError = closedError(this.#host.name)): void {
    if (this.#removed) return;
    this.#removed = true;
    const at = this.#at;
    this.detach();
    try {
      at?.raw.handlerRemove(at.informer, at.id);
    } catch {
      // Closed or poisoned: it is gone with its informer.
    }
    if (!this.#hasSynced) this.#synced.reject(error);
  }

  /** Resolves when the call under way has ended. */
  get idle(): Promise<void> {
    return this.#busy ? (this.#ended ??= new Deferred()).promise : Promise.resolve();
  }

  // ------------------------------------------------------------------------- called by the notifier

  /**
   * What the handler throws is thrown, and `threw` is to be told of it.
   * @param flush tells the notifications of one flush from those of the next
   */
  deliver(notification: Notification<T>, flush: number): void {
    if (this.#held) return;
    if (this.#flush !== flush) {
      this.#flush = flush;
      this.#begun = 0;
      if (this.#timeSlice !== Infinity) this.#until = performance.now() + this.#timeSlice;
    }
    this.#begun++;
    this.#busy = true;
    const plain = this.#plain;
    const at = this.#at!;
    const answer = plain === undefined ? this.#call(notification.seenBy(at.reader)) : plain(notification as InformerEvent<T, Mutable>);
    if (answer !== undefined && isPromise(answer)) this.#wait(at, true, answer);
    else this.#called(at);
  }

  /** What the handler threw at the last call. */
  threw(error: unknown): void {
    const at = this.#at;
    this.#host.report(error);
    this.#called(at);
  }

  syncedNow(): void {
    this.#hasSynced = true;
    this.#synced.resolve();
  }

  // ---------------------------------------------------------------------------------------- calling

  #call(notification: Notification<T>): unknown {
    const seen = this.#notificationFilter === undefined ? notification : this.#notificationFilter.judge(notification);
    if (seen === undefined) return undefined;
    const handler = this.#handler;
    if (typeof handler === "function") return handler(seen as InformerEvent<T, Mutable>);
    switch (seen.kind) {
      case NOTIFICATION_ADDED:
      case NOTIFICATION_INITIALLY_ADDED:
        return handler.onAdd?.(seen.object, seen.isInInitialList, seen as AddEvent<T, Mutable>);
      case NOTIFICATION_UPDATED:
      case NOTIFICATION_RESYNCED:
        return handler.onUpdate?.(seen.oldObject as T, seen.object, seen as UpdateEvent<T, Mutable>);
      case NOTIFICATION_OVERFLOWED:
        if (handler.onOverflow !== undefined) return handler.onOverflow();
        throw new WatchCacheError("overflow", "a handler is too slow: changes that wait for it merge now", { resource: this.#host.name });
      default:
        return handler.onDelete?.(new DeletedObject(seen), seen as DeleteEvent<T, Mutable>);
    }
  }

  #called(at: Attachment | undefined): void {
    this.#callEnded();
    if (this.#until !== Infinity && performance.now() >= this.#until) this.#wait(at, false, yielded());
  }

  #callEnded(): void {
    this.#busy = false;
    if (this.#ended === undefined) return;
    this.#ended.resolve();
    this.#ended = undefined;
  }

  #wait(at: Attachment | undefined, pace: boolean, promise: PromiseLike<unknown>): void {
    const done = () => {
      if (pace) this.#callEnded();
      if (at === undefined || this.#at !== at) return;
      this.#held = false;
      try {
        at.raw.handlerDone(at.id);
      } catch {
        // Closed or poisoned: nothing follows.
      }
    };
    if (at !== undefined && this.#at === at) {
      this.#held = true;
      at.raw.handlerWaits(at.id, this.#begun, pace);
    }
    promise.then(done, (error: unknown) => {
      this.#host.report(error);
      done();
    });
  }
}

bindMethods(HandlerRegistration.prototype);

// Chromium's console shows the name of the class.
export { HandlerRegistration as RegistrationImpl };

/** Resolves after the page has run its own tasks. */
function yielded(): Promise<void> {
  const scheduler = (globalThis as { scheduler?: { yield?: () => Promise<void> } }).scheduler;
  if (typeof scheduler?.yield === "function") return scheduler.yield();
  return new Promise((resolve) => setTimeout(resolve, 0));
}
