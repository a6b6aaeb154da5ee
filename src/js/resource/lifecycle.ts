import { abortError, closedError, pausedError, toError, type WatchCacheError } from "../error/errors.js";
import type { AbortSignalLike } from "../host/types.js";
import type { Loading } from "../load/loader.js";
import { Wanting } from "../load/wanting.js";
import { givenBy } from "../request/document.js";
import { Questions } from "../request/questions.js";
import { isSynced, type StatusTeller, told, type Told } from "../status/status.js";
import { FrameEncoder } from "../wire/frame-encoder.js";
import { ObjectTable } from "../wire/objects.js";
import type { RawResource } from "../wire/raw.js";
import { Delivery, type DeliveryTarget } from "./delivery.js";
import type { Open, PageLife, ResourceHost } from "./host.js";
import type { ResourceSession } from "./session.js";
import { Usage } from "./usage.js";

/** A resource, as its lifecycle sees it. */
export interface Living extends DeliveryTarget {
  readonly name: string;
  /** A session has come: whoever is older than it is registered. */
  attach(session: ResourceSession): void;
  /** The session is gone, or never came. */
  detach(session: ResourceSession | undefined): void;
  /** The instance is lost, and the session with it: nothing of it can be asked any more. */
  lost(): void;
  /** It is being closed: what would go on without its session is stopped. */
  closing(): void;
  /** It is closed, and its session gone. */
  closed(): void;
  /** Ends those who wait for events. */
  fail(error: WatchCacheError): void;
  /** Dispatches an event. */
  dispatch(name: "error"): void;
  /** It was paused, resumed or closed: the cache may have to keep it, or no longer. */
  updateKept(): void;
}

/** How a question is put. */
interface Asking<V> {
  signal?: AbortSignalLike | undefined;
  /** What to do with an answer that nobody waits for any more. */
  discard?: (value: V, objects: ObjectTable) => void;
  /** Whether it waits for the first list, which does not come while the resource is paused. */
  forList?: boolean;
}

/**
 * The lifecycle of a resource: when its session comes and goes, and when its stream runs. A session comes with the first use and goes after the
 * last. It may have to wait for the page's WebAssembly, and ends for good with a fault that no later try can mend.
 */
export class Lifecycle<R extends Living> implements PageLife {
  readonly #of: R;
  readonly #host: ResourceHost<R>;
  readonly #open: Open;
  readonly #teller: StatusTeller;
  readonly #usage: Usage;
  readonly #questions = new Questions();
  readonly #wanting: Wanting;
  #session: ResourceSession | undefined;
  #error: WatchCacheError | undefined;
  /** What no later try can mend: mistakes of configuration, a lost instance. */
  #final: WatchCacheError | undefined;
  /** Since when it is held still, in milliseconds since 1970; if it was stale before, since then. */
  #paused: number | undefined;
  #closed = false;

  constructor(of: R, host: ResourceHost<R>, open: Open, teller: StatusTeller) {
    this.#of = of;
    this.#host = host;
    this.#open = open;
    this.#teller = teller;
    this.#wanting = new Wanting(host.runtime, (loading) => this.#loading(loading));
    this.#usage = new Usage(
      host.linger,
      () => this.#goIdle(),
      () => this.drop(),
    );
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get isPaused(): boolean {
    return this.#paused !== undefined;
  }

  get session(): ResourceSession | undefined {
    return this.#session;
  }

  /** Why there is no session, for now. */
  get error(): WatchCacheError | undefined {
    return this.#error;
  }

  /** Why there will be none. */
  get final(): WatchCacheError | undefined {
    return this.#final;
  }

  /** What a status is made of, at this moment. */
  told(): Told {
    const own = { closed: this.#closed, loading: this.#wanting.state, paused: this.#paused, error: this.#error, away: this.#host.away };
    return told(this.#session?.raw, own, this.#of.name);
  }

  // ------------------------------------------------------------------------------------------ using

  /** A use that lasts until the returned function is called. */
  acquire(): () => void {
    const release = this.#usage.acquire();
    if (!this.#closed) this.use();
    return release;
  }

  /** A use that is over at once. */
  touch(): ResourceSession | undefined {
    if (this.#closed) return undefined;
    this.#usage.touch();
    return this.use();
  }

  /** The same, which opens no stream. */
  prepare(): void {
    this.#usage.touch();
    this.ensure();
  }

  /** The session, with its stream running unless it was paused. Undefined while it loads, and when it failed. */
  use(): ResourceSession | undefined {
    const session = this.ensure();
    if (session === undefined) {
      if (this.#final === undefined && this.#host.runtime.loaded() === undefined) this.#wanting.begin();
      return undefined;
    }
    if (this.#paused !== undefined) return session;
    try {
      const { raw, stream } = session;
      if (stream === "idle") raw.resume();
      session.stream = "wanted";
      if (stream === "new") raw.start();
      if (this.#error !== undefined) this.#teller.soon();
      this.#error = undefined;
    } catch (error) {
      this.#host.checkPoison();
      this.#failed(toError(error, this.#of.name));
      return undefined;
    }
    return session;
  }

  /** The session, started or not. Undefined while there is no WebAssembly, and after opening failed, which is told once. */
  ensure(): ResourceSession | undefined {
    if (this.#closed || this.#session !== undefined || this.#final !== undefined) return this.#session;
    const module = this.#host.runtime.loaded();
    if (module === undefined) return undefined;
    let session: ResourceSession;
    try {
      let objects!: ObjectTable;
      const delivery = new Delivery(() => objects, this.#of, this.#host.report);
      const frames = new FrameEncoder();
      const raw = this.#open(module, delivery, frames);
      frames.onheld = (bytes) => raw.holdFrames(bytes);
      objects = new ObjectTable(raw, this.#host.debug);
      const { dispatcher, notifier } = delivery;
      session = { raw, objects, frames, delivery, dispatcher, notifier, stream: "new" };
    } catch (error) {
      this.#host.checkPoison();
      this.#failed((this.#final = toError(error, this.#of.name)));
      return undefined;
    }
    this.#session = session;
    this.#error = undefined;
    this.#teller.soon();
    this.#host.opened(this.#of, this);
    this.#of.attach(session);
    return this.#session;
  }

  /** A read that answers at once. */
  read<V>(empty: V, read: (session: ResourceSession) => V): V {
    const session = this.touch();
    return session === undefined ? empty : this.call(() => read(session));
  }

  call<V>(call: () => V): V {
    try {
      return call();
    } catch (error) {
      this.#host.checkPoison();
      throw toError(error, this.#of.name);
    }
  }

  /**
   * A question to the core, which counts as a use until it is answered.
   *
   * @param question gets what makes a promise that resolves when nobody waits for the answer any more
   */
  ask<V>(
    question: (raw: RawResource, over: () => Promise<void>) => Promise<V>,
    { signal, discard, forList = false }: Asking<V> = {},
  ): Promise<{ value: V; objects: ObjectTable }> {
    if (signal?.aborted) return Promise.reject(abortError(signal));
    if (this.#closed) return Promise.reject(closedError(this.#of.name));
    return this.#questions.ask(
      signal,
      forList,
      () => this.acquire(),
      async ({ isOpen, over, answer }) => {
        try {
          const synced = this.#session !== undefined && isSynced(this.#session.raw.status());
          if (forList && this.#paused !== undefined && !synced) throw pausedError(this.#of.name);
          if (isOpen() && this.#wanting.state !== undefined) await this.#wanting.over();
          const session = isOpen() ? this.use() : undefined;
          if (session === undefined) throw this.#error ?? closedError(this.#of.name);
          const { objects } = session;
          const value = await question(session.raw, over);
          if (!answer({ value, objects })) discard?.(value, objects);
        } catch (error) {
          this.#host.checkPoison();
          throw givenBy(error, () => toError(error, this.#of.name));
        }
      },
    );
  }

  // ------------------------------------------------------------------------------------- the stream

  pause(): void {
    if (this.#closed || this.#paused !== undefined) return;
    const before = this.told();
    const { staleSince = Date.now() } = before;
    const wanted = this.#wanted();
    this.#paused = staleSince;
    this.#of.updateKept();
    if (wanted !== undefined) this.call(() => wanted.raw.pause());
    if (!isSynced(before)) this.#questions.reject(pausedError(this.#of.name), true);
    this.#teller.now();
  }

  resume(): void {
    this.#paused = undefined;
    this.#of.updateKept();
    if (this.#closed || this.#final !== undefined) return;
    // Without a user it ends as after a read.
    this.#usage.touch();
    this.#host.runtime.tryNow();
    for (const line of this.#host.lines(this.#of)) line.resume();
    const session = this.use();
    if (session !== undefined) this.call(() => session.raw.resume());
    this.#teller.now();
  }

  /** Somebody has come who may be able to say who asks. */
  signedIn(): void {
    const wanted = this.#wanted();
    if (wanted !== undefined) this.call(() => wanted.raw.signedIn());
  }

  /** The page is visible, awake or online again. A try to connect waits no longer, and the stream is checked. */
  wake(): void {
    const wanted = this.#wanted();
    // Where memory has run out, only the user knows whether there is more of it.
    if (wanted === undefined || this.told().error?.code === "out-of-memory") return;
    for (const line of this.#host.lines(this.#of)) line.resume();
    this.call(() => wanted.raw.resume());
  }

  /** The page may be kept for the way back, if it has no connection. `wake` opens it again. */
  hide(): void {
    const wanted = this.#wanted();
    if (wanted !== undefined) this.call(() => wanted.raw.pause());
  }

  tell(): void {
    this.#teller.soon();
  }

  #goIdle(): void {
    if (this.#wanting.state !== undefined) {
      this.#wanting.end();
      this.#teller.now();
    }
    const wanted = this.#wanted();
    if (wanted === undefined) return;
    wanted.stream = "idle";
    this.call(() => wanted.raw.goIdle());
    this.#teller.now();
  }

  /** The session whose stream is to run: it was started, somebody uses it, and it is not held still. */
  #wanted(): ResourceSession | undefined {
    return this.#paused === undefined && this.#session?.stream === "wanted" ? this.#session : undefined;
  }

  // ---------------------------------------------------------------------------------------- its end

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#error = undefined;
    this.#wanting.end();
    this.#of.closing();
    this.drop();
    // After the core, which then knows how far each watch had come.
    this.#of.closed();
    this.#questions.reject(closedError(this.#of.name));
    this.#usage.close();
    this.#of.updateKept();
    this.#host.closed(this.#of);
    this.#teller.now();
  }

  /** Memory is short: lets go of what is held for the sake of what comes next. */
  letGo(): void {
    this.#session?.objects.letGo();
    this.#session?.frames.letGo();
  }

  /** Lets go of the session, as where the core has closed it to make room for others. The next use makes another. */
  drop(): void {
    const session = this.#session;
    this.#session = undefined;
    session?.delivery.close();
    this.#of.detach(session);
    if (session === undefined) return;
    // Whoever still holds an event of it holds the table.
    session.objects.letGo();
    session.frames.onheld = () => true; // the core's handle is of no use any more
    try {
      session.raw.close();
    } catch {
      // Poisoned: it holds nothing that could still be let go.
    }
    this.#host.dropped(this.#of);
    this.#teller.soon();
  }

  /** The WebAssembly instance is lost, and this resource with it. */
  poisoned(error: WatchCacheError): void {
    this.#final = error;
    this.#session?.delivery.close();
    this.#session = undefined;
    this.#of.lost();
    this.#failed(error);
  }

  /** The page's WebAssembly has come further, or no further. */
  #loading({ phase, error }: Loading): void {
    if (phase === "failed") {
      // It may still be tried again, as others ask. What fails now has failed, and is told once.
      if (this.#error === error) this.#end(error!);
      else this.#failed(error!);
      return;
    }
    this.#error = undefined;
    if (phase === "loaded") {
      this.#wanting.end();
      this.use();
    }
    this.#teller.soon();
  }

  /** Told in a microtask, never inside the call of whoever caused it. */
  #failed(error: WatchCacheError): void {
    this.#error = error;
    this.#end(error);
    this.#teller.soon();
    queueMicrotask(() => this.#of.dispatch("error"));
  }

  /** Ends what waits. */
  #end(error: WatchCacheError): void {
    this.#of.fail(error);
    this.#questions.reject(error);
  }
}
