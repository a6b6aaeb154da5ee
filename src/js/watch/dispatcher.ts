import { isPromise } from "../error/callbacks.js";
import type { ObjectTable } from "../wire/objects.js";
import { StoredEvent } from "./event.js";

/** What a watcher is called with. Its answer matters only when it is a promise. */
export type Handler = (event: StoredEvent<any>) => unknown;

/** Who stands behind a handler. */
export interface Recipient {
  /** The handler returned a promise: it wants the next event only when that has settled. */
  answered(promise: PromiseLike<unknown>, event: StoredEvent<any>): void;
  /** The core ended the watch; see `END_REASONS`. Nothing follows. */
  finished(reason: number): void;
}

/** Stands in the audience for a handler that is not called any more. */
const nobody: Handler = () => undefined;

const NO_PAIRS = new Uint32Array(0);

/**
 * Takes the events of a flush to the watchers: turns numbers into calls.
 *
 * Handlers may do anything to the cache, stopping themselves and others included. Each is looked up when it is to be called, so a stopped
 * one is not called again. None is called while another runs.
 */
export class Dispatcher {
  #objects: (() => ObjectTable) | undefined;
  readonly #report: (error: unknown) => void;
  /** By watcher id. The core numbers watchers densely, so this stays a plain array. */
  readonly #handlers: (Handler | undefined)[] = [];
  readonly #recipients = new Map<number, Recipient>();
  #closed = false;
  /** What is being handed out. It is kept for a handler that stops its own watch. */
  #events: StoredEvent<any>[] = [];
  /** Flat `[watcher, index into events]`; of an audience or of one event alone only when somebody asks. */
  #pairs: Uint32Array | undefined;
  /** Whom one event alone goes to. */
  #watcher: number | undefined;
  /** The place in the pairs that has been reached. */
  #at = 0;
  /** The watchers of the last audience. The core names them only when they are others. */
  #audience: Uint32Array | undefined;
  /** The handlers of the audience, in its order; gathered when they are needed. */
  #called: Handler[] | undefined;

  constructor(objects: () => ObjectTable, report: (error: unknown) => void) {
    this.#objects = objects;
    this.#report = report;
  }

  attach(watcher: number, handler: Handler, recipient: Recipient): void {
    this.#set(watcher, handler);
    this.#recipients.set(watcher, recipient);
  }

  /** Another handler for the same watcher, from its next event on. */
  redirect(watcher: number, handler: Handler): void {
    if (this.#recipients.has(watcher)) this.#set(watcher, handler);
  }

  /** Stops the calls. The recipient still hears of the end. */
  silence(watcher: number): void {
    this.#set(watcher, undefined);
  }

  detach(watcher: number): void {
    this.#set(watcher, undefined);
    this.#recipients.delete(watcher);
  }

  #set(watcher: number, handler: Handler | undefined): void {
    this.#handlers[watcher] = handler;
    if (this.#called === undefined || this.#audience === undefined) return;
    if (this.#events.length === 0) {
      this.#called = undefined;
      return;
    }
    // The audience is being called. A handler that changes is mostly the one that is called now.
    const watchers = this.#audience;
    const now = (this.#at / 2) % watchers.length;
    const place = watchers[now] === watcher ? now : watchers.indexOf(watcher);
    if (place >= 0) this.#called[place] = handler ?? nobody;
  }

  /** While events are being handed out: the one this watcher is handling right now. */
  handling(watcher: number): StoredEvent<any> | undefined {
    const pairs = this.#handedOut();
    return pairs[this.#at] === watcher ? this.#events[pairs[this.#at + 1]!] : undefined;
  }

  /** While events are being handed out: whether one for this watcher has not had its turn yet. */
  awaits(watcher: number): boolean {
    const pairs = this.#handedOut();
    for (let i = this.#at + 2; i < pairs.length; i += 2) if (pairs[i] === watcher) return true;
    return false;
  }

  /** All deliveries of the flush under way. */
  #handedOut(): Uint32Array {
    const watchers = this.#watcher === undefined ? (this.#audience ?? []) : [this.#watcher];
    return (this.#pairs ??= spread(watchers, this.#events.length));
  }

  close(): void {
    this.#closed = true;
    // Who is called right now may yet answer with a promise.
    const called = this.#events.length === 0 ? -1 : this.#handedOut()[this.#at]!;
    const recipient = this.#recipients.get(called);
    // The core holds on to this as long as its handle lives, which the table holds: only so can both be collected.
    this.#objects = undefined;
    this.#handlers.length = 0;
    this.#called?.fill(nobody); // nobody else is called, also where that is under way
    this.#called = undefined;
    this.#audience = undefined;
    this.#recipients.clear();
    if (recipient !== undefined) this.#recipients.set(called, recipient);
  }

  /** A flush that is one event and nothing else; see `Hooks.event`. Called by the core, possibly without a `this`. Never throws. */
  readonly event = (kind: number, id: number, watcher: number, audience: number): void => {
    if (this.#closed) return;
    const event = new StoredEvent<any>(this.#objects!().lease(), kind, id);
    if (audience !== 0) this.#call([event], NO_PAIRS, this.#audience!);
    else this.#callOne(event, watcher);
  };

  /** The events of a flush, then the watches that end with it; see `Hooks.flush`. Never throws. */
  deliver(events: Float64Array, pairs: Uint32Array, ended: Uint32Array, audience: number): void {
    if (events.length > 0) this.#handOut(events, pairs, audience);
    for (let i = 0; i < ended.length; i += 2) {
      const recipient = this.#recipients.get(ended[i]!);
      this.detach(ended[i]!);
      try {
        recipient?.finished(ended[i + 1]!);
      } catch (error) {
        this.#report(error);
      }
    }
  }

  /**
   * @param told the events, flat: kind and id of each
   * @param audience how many watchers hear all of them; 0 where the pairs say who hears what
   */
  #handOut(told: Float64Array, pairs: Uint32Array, audience: number): void {
    const objects = this.#objects!();
    const events = new Array<StoredEvent<any>>(told.length / 2);
    let lease = objects.lease();
    for (let i = 0; i < events.length; i++) {
      if (lease.isFull) lease = objects.lease();
      events[i] = new StoredEvent(lease, told[2 * i]!, told[2 * i + 1]!);
    }
    this.#call(events, pairs, audience === 0 ? undefined : this.#watchersOf(pairs));
  }

  /** By pairs, or each event to all of these watchers. */
  #call(events: StoredEvent<any>[], pairs: Uint32Array, watchers: Uint32Array | undefined): void {
    this.#events = events;
    this.#pairs = watchers === undefined ? pairs : undefined;
    const end = watchers === undefined ? pairs.length : 2 * watchers.length * events.length;
    for (let from = 0; from < end; from = this.#at + 2) {
      try {
        if (watchers === undefined) this.#callPairs(events, pairs, from);
        else this.#callAll(watchers, events, from);
        break;
      } catch (error) {
        this.#report(error);
      }
    }
    this.#handedAll();
  }

  #callOne(event: StoredEvent<any>, watcher: number): void {
    const handler = this.#handlers[watcher];
    if (handler === undefined) return;
    this.#events = [event];
    this.#pairs = undefined;
    this.#watcher = watcher;
    this.#at = 0;
    try {
      const answer = handler(event);
      if (answer !== undefined && isPromise(answer)) this.#answered(watcher, answer, event);
    } catch (error) {
      this.#report(error);
    }
    this.#watcher = undefined;
    this.#handedAll();
  }

  /** All is handed out. */
  #handedAll(): void {
    this.#events = [];
    this.#pairs = undefined;
    if (this.#closed) this.#recipients.clear();
  }

  /** The watchers of an audience, which are given when they are others than the last ones. */
  #watchersOf(given: Uint32Array): Uint32Array {
    if (given.length > 0 || this.#audience === undefined) {
      this.#audience = given.slice(); // what is given is filled anew at the next flush
      this.#called = undefined;
    }
    return this.#audience;
  }

  /** The hot loop: an array, an index and a call for each delivery. It is a function of its own, so the engine compiles it as a whole. */
  #callPairs(events: StoredEvent<any>[], pairs: Uint32Array, from: number): void {
    const handlers = this.#handlers;
    const end = pairs.length;
    for (let i = from; i < end;) {
      // The pairs of an event stand together.
      const index = pairs[i + 1]!;
      const event = events[index]!;
      do {
        const handler = handlers[pairs[i]!];
        if (handler !== undefined) {
          this.#at = i;
          const answer = handler(event);
          if (answer !== undefined && isPromise(answer)) this.#answered(pairs[i]!, answer, event);
        }
        i += 2;
      } while (i < end && pairs[i + 1] === index);
    }
  }

  /** The same where each event goes to the whole audience: without a look at any numbers. */
  #callAll(watchers: Uint32Array, events: StoredEvent<any>[], from: number): void {
    const handlers = (this.#called ??= Array.from(watchers, (watcher) => this.#handlers[watcher] ?? nobody));
    // Whole numbers, and known as such to the compiler: indices that could be fractions make the loop half as quick.
    const place = from >> 1;
    let at = from | 0;
    let e = (place / handlers.length) | 0;
    let i = (place - e * handlers.length) | 0;
    for (; e < events.length; e++, i = 0) {
      const event = events[e]!;
      for (; i < handlers.length; i++, at += 2) {
        this.#at = at;
        const handler = handlers[i]!;
        const answer = handler(event);
        if (answer !== undefined && isPromise(answer)) this.#answered(watchers[i]!, answer, event);
      }
    }
  }

  #answered(watcher: number, promise: PromiseLike<unknown>, event: StoredEvent<any>): void {
    const recipient = this.#recipients.get(watcher);
    if (recipient !== undefined) recipient.answered(promise, event);
    else promise.then(undefined, (error: unknown) => this.#report(error));
  }
}

/** The deliveries of so many events to each of these. */
function spread(watchers: ArrayLike<number>, events: number): Uint32Array {
  const pairs = new Uint32Array(2 * watchers.length * events);
  for (let i = 0; i < pairs.length / 2; i++) {
    pairs[2 * i] = watchers[i % watchers.length]!;
    pairs[2 * i + 1] = Math.floor(i / watchers.length);
  }
  return pairs;
}
