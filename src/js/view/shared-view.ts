import { atOnce, isRefusal } from "../error/callbacks.js";
import { closedError, toError, type WatchCacheError } from "../error/errors.js";
import type { Judge } from "../options/kinds.js";
import type { ResourceStatus } from "../status/types.js";
import type { RawAsked, RawViewSpec } from "../wire/raw.js";
import type { Session } from "../wire/session.js";
import { NO_COUNTS, sameOrNew } from "./counts.js";
import { Deriver, type NamedColumn } from "./derived.js";
import { numberOf } from "./functions.js";
import type { Ticker, Ticking } from "./ticker.js";

/** What views need of their resource. */
export interface ViewHost extends Judge {
  readonly name: string;
  readonly debug: boolean;
  readonly ticker: Ticker;
  /** In milliseconds. */
  readonly linger: number;
  readonly status: ResourceStatus;
  readonly hasSynced: boolean;
  /** The core's half, if there is one. */
  readonly session: Session | undefined;
  /** The same; it is opened where that can be, without a stream. */
  openSession(): Session | undefined;
  /** A use that lasts, with a stream. */
  acquire(): () => void;
  /** A read, with a stream. */
  touch(): void;
  report(error: unknown): void;
  warn(message: string): void;
}

/** The functions of a view's spec. */
export interface ViewFunctions {
  readonly where: ((object: any) => boolean) | undefined;
  /** In the order in which the core knows the columns. */
  readonly derive: readonly NamedColumn[];
}

/** A view as users hold it, as far as the view that it shares needs it. */
export interface ViewHandle {
  readonly isSubscribed: boolean;
  /** When it was read or lost its last subscriber, as `now` tells. */
  readonly lastUse: number;
  /** The core is gone. */
  detach(): void;
  /** Takes in the last state of the shared view; who is to hear of it. */
  pull(): (() => void)[];
  /** Nobody uses it any more. */
  release(): void;
}

/** How long `where`, and functions that derive, may run before they let others have the thread, in milliseconds. */
const DECIDE_MS = 6;
/** Objects that the core is asked about at once. */
const ASKED_AT_ONCE = 64;
const NO_IDS = new Float64Array(0);

/**
 * One view of the core, for all handles of equal specs. Between two pulls it shows one state, and each handle makes its snapshot of that
 * state.
 */
export class SharedView implements Ticking {
  readonly #host: ViewHost;
  readonly #spec: RawViewSpec;
  readonly #where: ((object: any) => boolean) | undefined;
  readonly #deriver: Deriver | undefined;
  /** The same text as of all views with the same derived columns; `undefined` without any. */
  readonly columns: string | undefined;
  /** A function that derives is being called: it may read, and then sees what was there before. */
  isDeriving = false;
  /** It goes on when the host has had its turn. */
  #goesOn = false;
  /** Until then rows wait for columns. */
  #isResting = false;
  readonly #handles = new Set<ViewHandle>();
  #session: Session | undefined;
  /** The last session that was asked for it. */
  #asked: Session | undefined;
  /** The core's number for it. */
  id: number | undefined;
  /** The number of the state that all below is of. */
  state = 0;
  total = 0;
  counts: ReadonlyMap<string, number> = NO_COUNTS;
  loaded = false;
  stale = false;
  error: WatchCacheError | undefined;
  /** Why the core has no such view. */
  #refused: WatchCacheError | undefined;
  /** That `where` is none. */
  #mistake: WatchCacheError | undefined;
  /** Ids that `where` has not judged yet, from `#judged` on. */
  #undecided: Float64Array = NO_IDS;
  #judged = 0;

  /** @param conductChanged called when what is known of a function that derives is another: other views may have it, too */
  constructor(host: ViewHost, spec: RawViewSpec, { where, derive }: ViewFunctions, conductChanged: () => void) {
    this.#host = host;
    this.#spec = spec;
    this.#where = where;
    if (derive.length > 0) {
      this.#deriver = new Deriver(derive, host, conductChanged);
      this.columns = JSON.stringify([spec.derive, derive.map(({ value }) => numberOf(value))]);
    }
    // What ended the resource before this was there is told by nobody any more.
    this.#take(false);
  }

  get session(): Session | undefined {
    return this.#session;
  }

  // ---------------------------------------------------------------------------------------- handles

  join(handle: ViewHandle): void {
    this.#handles.add(handle);
  }

  /** Whether nobody is left. */
  leave(handle: ViewHandle): boolean {
    this.#handles.delete(handle);
    return this.#handles.size === 0;
  }

  // ------------------------------------------------------------------------------ the core comes and goes

  /**
   * Whether the core has it now and had not. A spec that a session refused is not put to it again.
   *
   * @param alike gives the core's numbers of views with the same derived columns, whose values are known here, too
   */
  attach(session: Session, alike: () => number[]): boolean {
    if (this.#asked === session) return false;
    this.#asked = session;
    this.#refused = undefined;
    try {
      this.id = session.raw.view(this.columns === undefined ? this.#spec : { ...this.#spec, alike: alike() });
      this.#session = session;
    } catch (error) {
      this.#refused = toError(error, this.#host.name);
    }
    this.#take(true);
    // What others show may be older than this: they are brought up to date before anything is painted.
    this.#host.ticker.soon(this);
    return this.#session !== undefined;
  }

  /** The core is gone; snapshots stay. */
  detach(): void {
    for (const handle of this.#handles) handle.detach();
    for (; this.#judged < this.#undecided.length; this.#judged++) this.#session?.objects.giveBack(this.#undecided[this.#judged]!);
    this.#undecided = NO_IDS;
    this.#judged = 0;
    this.#session = undefined;
    this.#asked = undefined;
    this.id = undefined;
    this.#host.ticker.soon(this);
  }

  /** Nobody needs it any more. */
  close(): void {
    const [session, id] = [this.#session, this.id];
    this.detach();
    this.#host.ticker.remove(this);
    if (session === undefined || id === undefined) return;
    try {
      session.raw.viewClose(id);
    } catch {
      // The resource is closed or poisoned: its views are gone with it.
    }
  }

  // ------------------------------------------------------------------------------------- the flush

  /** The core, or the status, says that something may have changed. */
  changed(): void {
    this.#host.ticker.add(this);
  }

  pull(): (() => void)[] {
    let synced = this.#sync();
    const decided = this.#where !== undefined && this.#decide(this.#where);
    const derived = this.#deriver !== undefined && this.#derive(this.#deriver);
    if (decided || derived) synced = this.#sync() || synced;
    this.#take(synced);
    return [...this.#handles].flatMap((handle) => handle.pull());
  }

  #sync(): boolean {
    return this.#session !== undefined && this.#session.raw.viewSync(this.id!);
  }

  /** Makes the state of now the one that snapshots are made of. */
  #take(synced: boolean): void {
    const { raw } = this.#session ?? {};
    if (raw !== undefined && synced) {
      const id = this.id!;
      try {
        this.total = raw.viewTotal(id);
        this.loaded = raw.viewLoaded(id);
        if (this.#spec.groupBy !== undefined) this.counts = sameOrNew(this.counts, raw.viewCounts(id));
        const refusal = raw.viewError(id);
        this.#refused = refusal && toError(refusal, this.#host.name);
      } catch (error) {
        this.#refused = toError(error, this.#host.name);
      }
      this.state++;
    }
    const { phase, stale, error } = this.#host.status as ResourceStatus & { error?: WatchCacheError };
    const stopped = phase === "failed" || phase === "needs-auth" ? error : undefined;
    const why = phase === "closed" ? closedError(this.#host.name) : (this.#mistake ?? this.#deriver?.mistake ?? this.#refused ?? stopped);
    if (stale === this.stale && why?.code === this.error?.code && why?.message === this.error?.message) return;
    this.stale = stale;
    this.error = why;
    this.state++;
  }

  /** Lets `where` judge for a while; whether it judged anything. What is left follows after the host's turn. */
  #decide(where: (object: any) => boolean): boolean {
    const [session, id] = [this.#session, this.id!];
    if (session === undefined) return false;
    const { raw, objects } = session;
    if (this.#judged === this.#undecided.length) {
      this.#undecided = raw.viewUndecided(id);
      this.#judged = 0;
      if (this.#undecided.length === 0) return false;
    }
    const ids = this.#undecided;
    const from = this.#judged;
    const verdicts = new Uint8Array(ids.length - from);
    const until = performance.now() + DECIDE_MS;
    let reported = false;
    let next = from;
    while (next < ids.length) {
      const object = objects.take(ids[next]!);
      this.#judged = next + 1;
      try {
        verdicts[next - from] = atOnce("where", where, where(object)) ? 1 : 0;
      } catch (error) {
        if (isRefusal(error)) this.#mistake = error;
        // Once is enough: it will most likely fail for all the others as well. An object it fails for is no row.
        if (!reported) this.#host.report(error);
        reported = true;
      }
      next++;
      // The filter itself may have closed the view or its resource.
      if (this.#session !== session || this.id !== id) return false;
      if (performance.now() > until) break;
    }
    raw.viewDecide(id, ids.slice(from, next), verdicts.slice(0, next - from));
    if (next < ids.length) this.#goOnLater();
    return true;
  }

  /** Has columns derived that place rows, for a while; whether any was. What is left follows after the host's turn. */
  #derive(deriver: Deriver): boolean {
    let until: number | undefined;
    for (;;) {
      const asked = this.#session?.raw.viewAsks(this.id!, ASKED_AT_ONCE);
      if (asked === undefined || asked.length === 0) return until !== undefined;
      // Of the time that the question takes nothing is left for answers: it does not count.
      until ??= performance.now() + DECIDE_MS;
      if (!this.#answer(deriver, asked, until)) return false;
      if (performance.now() > until) {
        this.#goOnLater();
        return true;
      }
    }
  }

  /** Has columns derived that the rows of a range show, for a while; whether these can be read now. What is left follows after the host's turn. */
  deriveIn(range: number): boolean {
    const deriver = this.#deriver;
    if (deriver === undefined) return true;
    // Several pulls and reads may come before the host's turn: they would go on without end.
    if (this.#isResting) return false;
    let until: number | undefined;
    // Each question passes over the rows that are told already: more at a time make it fewer questions.
    for (let max = ASKED_AT_ONCE; ; max *= 2) {
      const asked = this.#session?.raw.viewAsksIn(range, max);
      if (asked === undefined || asked.length === 0) return true;
      // The first one looks at many rows, where many were told before a search or have beaten.
      until ??= performance.now() + DECIDE_MS;
      if (!this.#answer(deriver, asked, until)) return false;
      if (performance.now() > until) {
        this.#isResting = true;
        this.#goOnLater();
        return false;
      }
    }
  }

  /** It goes on when the host has had its turn. One turn is enough for all that wait for it. */
  #goOnLater(): void {
    if (this.#goesOn) return;
    this.#goesOn = true;
    setTimeout(() => {
      this.#goesOn = this.#isResting = false;
      this.changed();
    }, 0);
  }

  /** Tells the core what it asks, until that time; whether it is still there. A function of a user's may have closed the view or its resource. */
  #answer(deriver: Deriver, asked: RawAsked[], until: number): boolean {
    const [session, id] = [this.#session!, this.id!];
    const isThere = () => this.#session === session && this.id === id;
    let values;
    this.isDeriving = true;
    try {
      values = deriver.answer(asked, () => isThere() && performance.now() <= until);
    } finally {
      this.isDeriving = false;
    }
    if (!isThere()) return false;
    session.raw.viewTell(id, JSON.stringify(values));
    return true;
  }
}
