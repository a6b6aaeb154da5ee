import { WatchCacheError } from "../error/errors.js";
import { unheld } from "../host/timer.js";
import { backoff } from "../load/backoff.js";
import { EarlyTries } from "../load/early-tries.js";
import type { Credentials, ResourceSpec } from "../upstream/types.js";
import type { RawRemote } from "../wire/raw.js";
import { Line } from "./line.js";
import { heldLocks, holdLock, onReleased } from "./locks.js";
import { type FromHub, type FromTab, type HubOptions, type HubStats, isMessage, type Port, post, thrown } from "./port.js";
import { type Here, openWorker, type SharedMode, type StartWorker, type WorkerOption } from "./workers.js";

/** The time between two questions whether a worker lives. Beats are counted, not time: a page that was frozen has heard nothing meanwhile. */
const BEAT_MS = 5_000;
/**
 * How many beats it may be silent: from when it can be asked, and until then. Its script waits behind those of all tabs that open at once: of thirty on a
 * small machine for twenty seconds. What cannot be loaded is told much sooner.
 */
const MAX_PINGS = 3;
const MAX_UNREADY = 5;
/**
 * So many tries in a row may bring no worker, which takes 24 seconds or more. After a rollout its script may be gone for good. One that begins and ends is no such try: what ends it
 * may be what it is asked to hold, and would end the page.
 */
const MAX_MISSED = 6;
/** A worker that ends sooner than so is waited for as one that does not come. */
const STEADY_MS = 10_000;

/** What a link needs of its cache. */
export interface LinkHost {
  /** Who shares, with whom and what: equal ones meet. */
  readonly name: string;
  readonly mode: SharedMode;
  /** Where the worker's script lies, or what opens a port to it. */
  readonly worker: WorkerOption | undefined;
  /** Starts the package's own script, where the entry knows one. */
  readonly start: StartWorker | undefined;
  /** What holds the streams in the page, once no worker can be had. */
  readonly here: () => Here;
  readonly options: HubOptions;
  /** When the cache began, by the date. */
  readonly since: number;
  readonly auth: (() => Promise<Credentials>) | undefined;
  /** The page holds its streams itself: say so once. */
  alone(why: string): void;
  /** Hears that the first worker can be asked, or that there is none. */
  decided(): void;
  /** Hears of each worker that can be asked: whoever waits need not any longer. */
  connected(): void;
  /** Hears of each wait for the next try, and of its end. */
  waits(): void;
}

/** A way to a worker, from the moment that it is looked for. */
interface Way {
  port?: Port;
  /** How many workers of this name were of no use any more when it was chosen. */
  generation: number;
  /** Beats since the worker has said anything. */
  beats: number;
  /** Whoever listens there listens until it has ended. */
  readonly ended: AbortSignal;
  /** Undone when it is given up. */
  readonly undo: (() => void)[];
}

/**
 * A tab's way to the worker that holds the streams of all tabs. When that dies, what was asked of it fails as with a connection that breaks, and
 * the next worker takes over. Where none can be had, the page serves itself over the same way, until others have a worker.
 */
export class Link {
  readonly #host: LinkHost;
  readonly #lines = new Map<number, Line>();
  readonly #refreshes = new Map<number, { resolve(): void; reject(error: unknown): void }>();
  #numbers = 0;
  #way: Way | undefined;
  /** A way to the worker of others, while the page holds its streams itself. */
  #joining: Way | undefined;
  /** Whether the worker at the way has said that it can be asked. */
  #welcome = false;
  /** Whether it ever came to that, or never will. */
  #decided = false;
  #alone = false;
  /** What the page holds its streams by since the next worker could not be had. */
  #here: Here | undefined;
  /** Whether that was told. */
  #said = false;
  #closed = false;
  /** How many workers of this name are known to be of no use any more. */
  #generation = 0;
  #failed = 0;
  /** Of those, how many brought none since the last that did. */
  #missed = 0;
  #stats: HubStats | undefined;
  /** The wait for the next try. */
  #wait: { readonly retryAt: number; readonly timer: ReturnType<typeof setTimeout> } | undefined;
  readonly #early = new EarlyTries();

  constructor(host: LinkHost) {
    this.#host = host;
  }

  begin(): void {
    this.#connect();
  }

  /** Whether it is known how this tab gets at its streams. */
  get isDecided(): boolean {
    return this.#decided;
  }

  /** Whether there is no worker, and the page has to hold its streams itself. */
  get isAlone(): boolean {
    return this.#alone;
  }

  /** Whether the page holds its streams by itself, from the start or since then. */
  get isInline(): boolean {
    return this.#alone || this.#here !== undefined;
  }

  /** What the worker said last of itself. */
  get stats(): HubStats | undefined {
    return this.#here === undefined ? this.#stats : undefined;
  }

  /** Undefined while somebody is there that can be asked. Without a time a try is under way. */
  get away(): { readonly retryAt: number | undefined } | undefined {
    return this.#welcome ? undefined : { retryAt: this.#wait?.retryAt };
  }

  /** Of the worker of a generation. One that hangs would be there again under its own name, and one that ends may be. */
  #nameOf(generation: number): string {
    return generation === 0 ? this.#host.name : `${this.#host.name} #${generation}`;
  }

  open(spec: ResourceSpec, remote: RawRemote): Line {
    const number = ++this.#numbers;
    const line = new Line(this, number, spec, remote);
    this.#lines.set(number, line);
    if (this.#welcome) line.connect();
    return line;
  }

  closed(number: number): void {
    if (!this.#lines.delete(number)) return;
    this.say({ line: number, close: true });
  }

  refresh(line: number, reset: boolean): Promise<void> {
    if (!this.#welcome) return Promise.reject(lost("nobody can be asked to list anew yet"));
    const number = ++this.#numbers;
    return new Promise((resolve, reject) => {
      this.#refreshes.set(number, { resolve, reject });
      this.say({ line, refresh: number, reset });
    });
  }

  /** Says something to the worker, if there is one. */
  say(message: FromTab): void {
    if (this.#welcome) post(this.#way!.port!, message);
  }

  /** The page may be kept for the way back, where nothing holds it: `wake` connects again. */
  suspend(): void {
    this.#giveUp("the page sleeps");
  }

  /** It is awake: the next try waits no longer. */
  wake(): void {
    if (this.#closed || this.#alone) return;
    if (this.#here !== undefined) void this.#join();
    if (this.#way !== undefined) return;
    // What wakes a page comes in numbers, and before its network may be there: a try that is brought forward does not count.
    this.#failed = Math.max(0, this.#failed - 1);
    this.#missed = Math.max(0, this.#missed - 1);
    this.#connect();
  }

  /** Its user wants no wait for the next try. */
  tryNow(): void {
    if (this.#wait !== undefined && this.#early.take()) this.wake();
  }

  /**
   * The page holds its streams itself. Where others have a worker it meets them there, once that welcomes it. They may be on their way to one in
   * vain, as this page was.
   */
  async #join(): Promise<void> {
    if (this.#joining !== undefined) return;
    const way = (this.#joining = this.#begun());
    const known = await this.#known();
    if (way !== this.#joining) return;
    if (known.length === 0) return this.#lost(way, "no tab has a worker");
    // It may be one of before, which whoever came later knows nothing against.
    way.generation = Math.max(...known);
    void this.#enter(way);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#giveUp("the cache is closed");
    this.#here?.close();
  }

  #connect(): void {
    this.#waitNoMore();
    if (this.#closed) return;
    const way = (this.#way = this.#begun());
    if (this.#here !== undefined) {
      this.#listen(way, this.#here.open());
      this.#greet(way, this.#host.name, undefined);
    } else {
      void this.#enterNewest(way);
    }
  }

  /** A way that leads nowhere yet. */
  #begun(): Way {
    const ended = new AbortController();
    const way: Way = { generation: this.#generation, beats: 0, ended: ended.signal, undo: [() => ended.abort()] };
    return way;
  }

  #waitFor(ms: number): void {
    this.#wait = { retryAt: Math.round(Date.now() + ms), timer: unheld(setTimeout(() => this.#connect(), ms)) };
    this.#host.waits();
  }

  #waitNoMore(): void {
    if (this.#wait === undefined) return;
    clearTimeout(this.#wait.timer);
    this.#wait = undefined;
    this.#host.waits();
  }

  async #beat(way: Way): Promise<void> {
    const isWelcome = way === this.#way && this.#welcome;
    const [most, why] = isWelcome ? [MAX_PINGS, "it hangs"] : [MAX_UNREADY, "it does not answer"];
    if (++way.beats > most) return this.#lost(way, why, true);
    if (way !== this.#way) return;
    this.say({ ping: way.beats });
    const newest = await this.#newest();
    if (way !== this.#way || newest === this.#generation) return;
    this.#giveUp("others have left the worker that holds the streams");
    this.#connect();
  }

  /** Beginning of the locks of all tabs that share. Then comes where they are. */
  get #tabs(): string {
    return `watchcache tab:${this.#host.mode} ${this.#host.name} #`;
  }

  /** At which worker each other tab is, by number. */
  async #known(): Promise<number[]> {
    const known = this.#host.mode === "shared" ? await heldLocks(this.#tabs) : [];
    return known.map((rest) => parseInt(rest)).filter(Number.isSafeInteger);
  }

  /** Tabs tell each other by their locks which worker is the one. Who was frozen, or opens later, has not heard what became of others. */
  async #newest(): Promise<number> {
    return Math.max(this.#generation, ...(await this.#known()));
  }

  async #enterNewest(way: Way): Promise<void> {
    const newest = await this.#newest();
    if (way !== this.#way) return;
    way.generation = this.#generation = newest;
    await this.#enter(way);
  }

  /** Whether anybody still waits for what comes of it. */
  #isWanted(way: Way): boolean {
    return way === this.#way || way === this.#joining;
  }

  async #enter(way: Way): Promise<void> {
    const { mode, worker, start } = this.#host;
    const name = this.#nameOf(way.generation);
    const beat = unheld(setInterval(() => void this.#beat(way), BEAT_MS));
    way.undo.push(() => clearInterval(beat));
    // What it throws once it was there is its own affair.
    const failed = (why: string, isEnd: boolean) => (isEnd || way !== this.#way || !this.#welcome) && this.#lost(way, why);
    try {
      this.#listen(way, openWorker(mode, name, worker, start, failed, way.ended));
      const { name: lock, release } = await holdLock(this.#tabs + way.generation);
      if (!this.#isWanted(way)) return release();
      way.undo.push(release);
      this.#greet(way, name, lock);
    } catch (error) {
      this.#lost(way, error instanceof Error ? error.message : String(error));
    }
  }

  #listen(way: Way, port: Port): void {
    way.port = port;
    const { ended: signal } = way;
    port.addEventListener("message", ({ data }) => this.#isWanted(way) && isMessage(data) && this.#heard(way, data as FromHub), { signal });
    port.start?.();
  }

  #greet({ port }: Way, hello: string, lock: string | undefined): void {
    const { options, since, auth } = this.#host;
    post(port!, { hello, options, since, asks: auth !== undefined, lock });
  }

  #heard(way: Way, message: FromHub): void {
    way.beats = 0;
    if ("welcome" in message) return this.#welcomed(way, message.lock);
    if ("refused" in message) return this.#lost(way, message.refused);
    if ("dead" in message) return this.#lost(way, message.dead, true);
    // Of a worker that has not welcomed this page.
    if (way !== this.#way) return;
    if ("stats" in message) this.#stats = message.stats;
    if ("line" in message) {
      if ("refreshed" in message) this.#refreshed(message);
      else this.#lines.get(message.line)?.take(message);
    } else if ("auth" in message) {
      void this.#answer(way, message.auth);
    }
  }

  #welcomed(way: Way, lock: string | undefined): void {
    if (way === this.#joining) this.#joined(way);
    this.#welcome = true;
    this.#missed = 0;
    const steady = unheld(setTimeout(() => (this.#failed = 0), STEADY_MS));
    way.undo.push(() => clearTimeout(steady));
    way.undo.push(onReleased(lock, () => this.#lost(way, "it has ended", true)));
    for (const line of this.#lines.values()) line.connect();
    this.#host.connected();
    this.#decide();
  }

  /** The page has met the others at their worker, and leaves what it held by itself. */
  #joined(way: Way): void {
    const here = this.#here!;
    this.#joining = undefined;
    this.#giveUp("others have a worker");
    this.#here = undefined;
    here.close();
    this.#way = way;
    this.#generation = way.generation;
    this.#failed = 0;
  }

  async #answer(way: Way, auth: number): Promise<void> {
    let answer: Extract<FromTab, { credentials: number }>;
    try {
      answer = { credentials: auth, given: await this.#host.auth!() };
    } catch (error) {
      answer = { credentials: auth, error: thrown(error) };
    }
    if (way === this.#way) this.say(answer);
  }

  #refreshed({ refreshed, error }: Extract<FromHub, { refreshed: number }>): void {
    const waiting = this.#refreshes.get(refreshed);
    this.#refreshes.delete(refreshed);
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(error);
  }

  /** @param hangs whether that worker might be there again if it were asked for by its name */
  #lost(way: Way, why: string, hangs = false): void {
    if (way === this.#joining) return this.#joinNoMore();
    if (this.#closed || way !== this.#way) return;
    const was = this.#welcome;
    const isHere = this.#here !== undefined;
    this.#giveUp(isHere ? `the page cannot hold its streams: ${why}` : `the worker that holds the streams is lost: ${why}`);
    // Its WebAssembly is that of the page, which ends all that it had.
    if (isHere && hangs) return;
    if (hangs) this.#generation++;
    if (!this.#decided) {
      // Nothing is held yet, and nobody knows when a worker would come.
      this.#alone = true;
      this.#host.alone(why);
      return this.#decide();
    }
    // The end of one that was there is no failure yet.
    const failed = this.#failed++;
    if (was && failed === 0) return this.#connect();
    if (!was && ++this.#missed === MAX_MISSED && this.#here === undefined) {
      this.#here = this.#host.here();
      if (!this.#said) this.#host.alone(why);
      this.#said = true;
      return this.#connect();
    }
    this.#waitFor(backoff(Math.max(1, failed), Math.random()));
  }

  #decide(): void {
    if (this.#decided) return;
    this.#decided = true;
    this.#host.decided();
  }

  #giveUp(why: string): void {
    this.#waitNoMore();
    this.#joinNoMore();
    const way = this.#way;
    if (way === undefined) return;
    if (this.#here !== undefined) this.#here.leave();
    this.#way = undefined;
    this.#stats = undefined;
    this.#welcome = false;
    for (const { reject } of this.#refreshes.values()) reject(lost(why));
    this.#refreshes.clear();
    for (const line of this.#lines.values()) line.break(why);
    end(way, this.#closed);
  }

  #joinNoMore(): void {
    const way = this.#joining;
    this.#joining = undefined;
    if (way !== undefined) end(way);
  }
}

/** Who goes says so, welcomed or not: where there are no locks nothing else tells the worker. */
function end({ port, undo }: Way, closed = false): void {
  for (const one of undo) one();
  try {
    if (port !== undefined) post(port, { bye: true, closed });
    port?.close?.();
  } catch {
    // A port of a page's own that cannot be posted to has no worker.
  }
}

function lost(why: string): WatchCacheError {
  return new WatchCacheError("network", why, { retryable: true });
}
