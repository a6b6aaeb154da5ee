import { isPromise } from "../error/callbacks.js";
import { toError, WatchCacheError } from "../error/errors.js";
import type { AbortSignalLike } from "../host/types.js";
import { Queue } from "../language/queue.js";
import type { Mutable } from "../object/readonly.js";
import { invalid } from "../options/kinds.js";
import { DEMAND_ALL, DEMAND_BATCH, DEMAND_NONE, END_REASONS } from "../wire/numbers.js";
import type { RawResource, RawWatchOptions } from "../wire/raw.js";
import type { Session } from "../wire/session.js";
import type { Dispatcher, Handler, Recipient } from "./dispatcher.js";
import type { StoredEvent } from "./event.js";
import type { WatchEnd, WatchEvent, WatchOptions } from "./types.js";

/** What a watcher needs of its resource. */
export interface WatcherHost {
  readonly name: string;
  report(error: unknown): void;
  /** The watch is over: it no longer counts as a use. */
  watcherEnded(watcher: WatcherImpl<any>): void;
}

/** A session, as watchers know it. */
export interface WatchSession extends Session {
  readonly dispatcher: Dispatcher;
}

interface Attachment {
  raw: RawResource;
  dispatcher: Dispatcher;
  id: number;
}

/** Someone who waits in `next` or `batches`, first come first served. */
interface Waiter {
  take(): void;
  over(failure: WatchCacheError | undefined): void;
}

/**
 * One watch. Pulled (`next`, `batches`), it asks the core for a batch when its queue is empty. What is not read waits in the core,
 * where `bufferSize` bounds it. Pushed (`forEach`), the handler itself stands in the delivery loop, until it returns a promise.
 */
export class WatcherImpl<T> implements Recipient {
  readonly ended: Promise<WatchEnd>;
  readonly #host: WatcherHost;
  readonly #options: RawWatchOptions;
  readonly #signal: AbortSignalLike | undefined;
  #settleEnded!: (end: WatchEnd) => void;
  #at: Attachment | undefined;
  readonly #queue = new Queue<StoredEvent<T>>();
  #waiters: Waiter[] = [];
  /** The waiters are served in a microtask that is to come. */
  #serving = false;
  /** Whether a batch was asked for and has not come. */
  #asked = false;
  /** The last event that left the queue. */
  #last: StoredEvent<T> | undefined;
  /** Whether the event that ends the initial ones was seen. */
  #pastInitialEvents = false;
  #handler: Handler | undefined;
  /** Whether events pass through the queue, as they do unless the handler itself stands in the delivery loop. */
  #queued = true;
  /** Events are given to the handler one by one, each when its promise has settled. */
  #pacing = false;
  #settleForEach: ((failure: WatchCacheError | undefined) => void) | undefined;
  #over = false;
  /** Over, and the handler is not called any more. */
  #cut = false;
  /** Nobody holds its handle. */
  #dropped = false;
  #failure: WatchCacheError | undefined;

  constructor(host: WatcherHost, options: WatchOptions) {
    this.#host = host;
    const { signal, ...rest } = options;
    this.#options = rest;
    this.#signal = signal;
    this.ended = new Promise((resolve) => (this.#settleEnded = resolve));
    if (signal?.aborted) this.stop();
    else signal?.addEventListener("abort", this.#abort, { once: true });
  }

  // ---------------------------------------------------------------------------------------- reading

  next(): Promise<IteratorResult<WatchEvent<T, Mutable>, undefined>> {
    return this.#pull(() => this.#shift() as WatchEvent<T, Mutable>);
  }

  /** All that one flush brought. */
  batch(): Promise<IteratorResult<readonly WatchEvent<T, Mutable>[], undefined>> {
    return this.#pull(() => this.#takeAll() as WatchEvent<T, Mutable>[]);
  }

  forEach(handler: (event: WatchEvent<T, Mutable>) => void | Promise<void>): Promise<void> {
    if (typeof handler !== "function") return Promise.reject(invalid("handler is a function"));
    if (this.#handler !== undefined || this.#waiters.length > 0) return Promise.reject(this.#busyError());
    if (this.#over && this.#queue.isEmpty) return this.#outcome();
    this.#handler = handler as Handler;
    const finished = new Promise<void>((resolve, reject) => {
      this.#settleForEach = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
    if (!this.#queue.isEmpty) void this.#pace(undefined);
    else if (this.#at !== undefined) this.#push();
    return finished;
  }

  stop(): void {
    if (this.#over) return;
    const at = this.#at;
    if (at === undefined) {
      this.#end({ reason: "stopped" });
      return;
    }
    const unseen = !this.#queue.isEmpty || at.dispatcher.awaits(at.id);
    const seen = unseen ? this.#lastSeen(at) : {};
    this.#queue.clear();
    // Nothing more is called; the core's word that the watch is over frees it in `finished`.
    at.dispatcher.silence(at.id);
    try {
      at.raw.stop(at.id);
    } catch {
      // Closed or poisoned: it has stopped already.
    }
    this.#end({ reason: "stopped", ...(unseen ? seen : this.#lastDelivered()) });
  }

  /** Nobody holds its handle any more. Who waits gets one more event, and a handler all of them; beyond that nobody can ask. */
  dropped(): void {
    this.#dropped = true;
    this.#stopUnread();
  }

  #stopUnread(): void {
    if (this.#dropped && this.#handler === undefined && this.#waiters.length === 0) this.stop();
  }

  // ------------------------------------------------------------------------- called by the resource

  /** The core is there: registers with it. */
  attach({ raw, dispatcher }: WatchSession): void {
    if (this.#over) return;
    let id: number;
    try {
      id = raw.watch(this.#options);
    } catch (error) {
      this.fail(toError(error, this.#host.name));
      return;
    }
    this.#at = { raw, dispatcher, id };
    dispatcher.attach(id, this.#enqueue, this);
    if (this.#handler !== undefined) this.#push();
    else if (this.#waiters.length > 0) this.#demand(DEMAND_BATCH);
  }

  /** Ends with an error: the iteration rejects. */
  fail(error: WatchCacheError): void {
    if (this.#over) return;
    this.#failure = error;
    this.#end({ reason: "error", ...this.#lastDelivered() });
  }

  /** The resource is closed. */
  closed(): void {
    if (!this.#over) this.#end({ reason: "closed", ...this.#lastDelivered() });
  }

  // ------------------------------------------------------------------------- called by the dispatcher

  answered(promise: PromiseLike<unknown>, event: StoredEvent<any>): void {
    if (this.#over) {
      // Its own handler ended the watch: nothing follows, but that one is waited for.
      void this.#pace(promise);
      return;
    }
    // From here on one event at a time: the rest of this flush queues here, what comes later in the core.
    this.#queued = true;
    this.#saw(event);
    this.#at!.dispatcher.redirect(this.#at!.id, this.#enqueue);
    this.#demand(DEMAND_NONE);
    void this.#pace(promise);
  }

  finished(reason: number): void {
    const { raw, id } = this.#at!;
    try {
      if (this.#over) return;
      const refusal = raw.refusal(id);
      if (refusal !== undefined) this.#failure = toError(refusal, this.#host.name);
      this.#end({ reason: END_REASONS[reason] ?? "error", ...this.#lastDelivered() });
    } catch (error) {
      this.fail(toError(error, this.#host.name));
    } finally {
      try {
        raw.forget(id);
      } catch {
        // Closed or poisoned: nothing is left to forget.
      }
    }
  }

  // -------------------------------------------------------------------------------------- the queue

  readonly #enqueue = (event: StoredEvent<T>): void => {
    this.#asked = false;
    this.#queue.push(event);
    this.#serveSoon();
  };

  /** After the flush, so that a batch is the whole of what it brought. */
  #serveSoon(): void {
    if (this.#serving || this.#waiters.length === 0) return;
    this.#serving = true;
    queueMicrotask(() => {
      this.#serving = false;
      while (this.#waiters.length > 0 && !this.#queue.isEmpty) this.#waiters.shift()!.take();
      if (this.#over) while (this.#waiters.length > 0) this.#waiters.shift()!.over(this.#takeFailure());
      if (this.#waiters.length > 0) this.#demand(DEMAND_BATCH);
      this.#stopUnread();
    });
  }

  #pull<V>(take: () => V): Promise<IteratorResult<V, undefined>> {
    if (this.#handler !== undefined) return Promise.reject(this.#busyError());
    return this.#wait(take);
  }

  #wait<V>(take: () => V): Promise<IteratorResult<V, undefined>> {
    if (this.#waiters.length === 0) {
      if (!this.#queue.isEmpty) return Promise.resolve({ value: take(), done: false });
      if (this.#over) {
        const failure = this.#takeFailure();
        return failure === undefined ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(failure);
      }
    }
    return new Promise((resolve, reject) => {
      this.#waiters.push({
        take: () => resolve({ value: take(), done: false }),
        over: (failure) => (failure === undefined ? resolve({ value: undefined, done: true }) : reject(failure)),
      });
      this.#demand(DEMAND_BATCH);
    });
  }

  #shift(): StoredEvent<T> {
    const event = this.#queue.shift()!;
    this.#saw(event);
    return event;
  }

  #takeAll(): StoredEvent<T>[] {
    const events = this.#queue.takeAll();
    if (events.some((event) => event.initialEventsEnd)) this.#pastInitialEvents = true;
    this.#saw(events.at(-1));
    return events;
  }

  #demand(mode: typeof DEMAND_NONE | typeof DEMAND_BATCH | typeof DEMAND_ALL): void {
    if (this.#at === undefined || this.#over) return;
    if (mode === DEMAND_BATCH && this.#asked) return;
    this.#asked = mode === DEMAND_BATCH;
    try {
      this.#at.raw.demand(this.#at.id, mode);
    } catch (error) {
      this.fail(toError(error, this.#host.name));
    }
  }

  // ---------------------------------------------------------------------------------------- forEach

  #push(): void {
    this.#queued = false;
    this.#at!.dispatcher.redirect(this.#at!.id, this.#handler!);
    this.#demand(DEMAND_ALL);
  }

  /** Calls the handler with one queued event after another, each after the last has been dealt with. */
  async #pace(first: PromiseLike<unknown> | undefined): Promise<void> {
    this.#pacing = true;
    const handler = this.#handler!;
    const settle = async (answer: unknown) => {
      try {
        if (isPromise(answer)) await answer;
      } catch (error) {
        this.#host.report(error);
      }
    };
    await settle(first);
    try {
      for (let next = await this.#wait(() => this.#shift()); !next.done; next = await this.#wait(() => this.#shift())) {
        // Stopped between the queue and here: nothing is delivered afterwards.
        if (this.#cut) break;
        try {
          await settle(handler(next.value));
        } catch (error) {
          this.#host.report(error);
        }
      }
      this.#settleForEach!(undefined);
    } catch (failure) {
      this.#settleForEach!(failure as WatchCacheError);
    }
  }

  // ---------------------------------------------------------------------------------------- the end

  readonly #abort = (): void => this.stop();

  #end(end: WatchEnd): void {
    this.#over = true;
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#settleEnded(end);
    if (this.#handler !== undefined) {
      this.#cut = end.reason === "stopped" || end.reason === "closed";
      if (this.#cut) this.#queue.clear();
      // A handler that is called right now may be about to return a promise. One that has returned a promise is waited for, and first gets
      // what is queued for it.
      queueMicrotask(() => {
        if (!this.#pacing) this.#settleForEach!(this.#takeFailure());
      });
    }
    this.#serveSoon();
    this.#host.watcherEnded(this);
  }

  /** A failure is told once, as an async generator throws once. */
  #takeFailure(): WatchCacheError | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** For whoever prints it. */
  described(): object {
    return { resource: this.#host.name, ...this.#options, open: !this.#over };
  }

  #outcome(): Promise<void> {
    const failure = this.#takeFailure();
    return failure === undefined ? Promise.resolve() : Promise.reject(failure);
  }

  /** From where an ended watch can be resumed, going by what the core has delivered. */
  #lastDelivered(): { lastResourceVersion?: string } {
    return version(() => this.#at?.raw.lastVersion(this.#at.id));
  }

  /**
   * The same, while something that the core has delivered was not seen. It is the version of the last event that was, if the core says that
   * it will do.
   */
  #lastSeen({ raw, dispatcher, id }: Attachment): { lastResourceVersion?: string } {
    const last = this.#queued ? this.#last : dispatcher.handling(id);
    return version(() => {
      if (!raw.resumesFromSeen(id, this.#pastInitialEvents)) return undefined;
      return last === undefined && this.#queued ? this.#options.resourceVersion : last?.resourceVersion;
    });
  }

  #saw(event: StoredEvent<T> | undefined): void {
    this.#last = event;
    if (event?.initialEventsEnd) this.#pastInitialEvents = true;
  }

  #busyError(): WatchCacheError {
    return new WatchCacheError("invalid", "this watcher is being read already", { resource: this.#host.name });
  }
}

function version(read: () => string | undefined): { lastResourceVersion?: string } {
  try {
    const lastResourceVersion = read();
    return lastResourceVersion === undefined || lastResourceVersion === "" ? {} : { lastResourceVersion };
  } catch {
    // Closed or poisoned: no longer known.
    return {};
  }
}
