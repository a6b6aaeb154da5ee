import { WatchCacheError } from "../error/errors.js";
import { unheld } from "../host/timer.js";
import { backoff } from "../load/backoff.js";
import type { Credentials, ResourceSpec } from "../upstream/types.js";
import type { RawRemote } from "../wire/raw.js";
import { heldLocks, holdLock, onReleased } from "./locks.js";
import { type FromHub, type FromTab, type HubOptions, type HubStats, isMessage, plain, type Port, post } from "./port.js";
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
 * So many tries in a row may bring no worker, in 25 seconds or more. After a rollout its script may be gone for good. One that begins and ends is no such try: what ends it
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
  readonly auth: (() => Promise<Credentials>) | undefined;
  /** There is none and there will be none: say so once. */
  alone(why: string): void;
  /** Hears that the first worker can be asked, or that there is none. */
  decided(): void;
  /** Hears of each worker that can be asked: whoever waits need not any longer. */
  connected(): void;
}

/** A way to a worker. Whoever listens there listens until it has ended. */
interface Way {
  port?: Port;
  readonly ended: AbortSignal;
}

/** One resource that the worker holds for this tab. */
export class Line {
  readonly #link: Link;
  readonly #number: number;
  readonly #remote: RawRemote;
  readonly spec: ResourceSpec;

  constructor(link: Link, number: number, spec: ResourceSpec, remote: RawRemote) {
    this.#link = link;
    this.#number = number;
    this.#remote = remote;
    this.spec = spec;
  }

  /** There is a worker that can be asked. */
  connect(): void {
    this.#link.say({ line: this.#number, open: this.spec });
    this.#remote.reconnect((head, body) => this.#link.say({ line: this.#number, head, body }));
  }

  /** What was asked is over. */
  break(why: string): void {
    this.#remote.breakOff(why);
  }

  take(message: Extract<FromHub, { line: number }>): void {
    if ("head" in message) {
      this.#remote.take(message.head, message.body);
    } else if ("broken" in message) {
      this.break(message.broken);
      this.#remote.reconnect((head, body) => this.#link.say({ line: this.#number, head, body }));
    }
  }

  resume(): void {
    this.#link.say({ line: this.#number, resume: true });
  }

  /** Has the worker list anew. Resolves when it has. */
  refresh(reset: boolean): Promise<void> {
    return this.#link.refresh(this.#number, reset);
  }

  close(): void {
    this.#link.closed(this.#number);
    this.#remote.free();
  }
}

/**
 * A tab's way to the worker that holds the streams of all tabs. When that dies, what was asked of it fails as with a connection that breaks, and
 * the next worker takes over.
 */
export class Link {
  readonly #host: LinkHost;
  readonly #lines = new Map<number, Line>();
  readonly #refreshes = new Map<number, { resolve(): void; reject(error: unknown): void }>();
  #numbers = 0;
  /** The way to a worker, from the moment that it is looked for. */
  #way: Way | undefined;
  /** Whether the worker there has said that it can be asked. */
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
  #beats = 0;
  #stats: HubStats | undefined;
  /** Undone when the way is given up. */
  #undo: (() => void)[] = [];
  #retry: ReturnType<typeof setTimeout> | undefined;

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

  /** That of the worker. One that hangs would be there again under its own, and one that ends may be. */
  get #name(): string {
    return this.#generation === 0 ? this.#host.name : `${this.#host.name} #${this.#generation}`;
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
    const port = this.#way?.port;
    // Who goes before it is welcomed says so, too: where there are no locks nothing else tells the worker.
    if (port !== undefined && (this.#welcome || "hello" in message || "bye" in message)) post(port, message);
  }

  /** The page may be kept for the way back, where nothing holds it: `wake` connects again. */
  suspend(): void {
    this.#giveUp("the page sleeps");
  }

  /** It is awake: the next try waits no longer. */
  wake(): void {
    if (this.#closed || this.#alone) return;
    if (this.#here !== undefined) return void this.#rejoin(this.#here);
    if (this.#way !== undefined) return;
    // What wakes a page comes in numbers, and before its network may be there: a try that is brought forward does not count.
    this.#failed = Math.max(0, this.#failed - 1);
    this.#missed = Math.max(0, this.#missed - 1);
    this.#connect();
  }

  /** The page holds its streams itself: where others have a worker, it meets them there. */
  async #rejoin(here: Here): Promise<void> {
    const known = await this.#known();
    if (here !== this.#here || this.#closed) return;
    if (known.length > 0) {
      // It may be one of before, which whoever came later knows nothing against.
      this.#generation = Math.max(...known);
      this.#giveUp("others have a worker");
      this.#here = undefined;
      here.close();
      this.#failed = 0;
      // They may be on their way to one in vain, as this page was: one try shows that.
      this.#missed = MAX_MISSED - 1;
    }
    if (this.#way === undefined) this.#connect();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#giveUp("the cache is closed");
    this.#here?.close();
  }

  #connect(): void {
    clearTimeout(this.#retry);
    if (this.#closed) return;
    const ended = new AbortController();
    this.#undo.push(() => ended.abort());
    const way: Way = (this.#way = { ended: ended.signal });
    if (this.#here !== undefined) {
      this.#listen(way, this.#here.open());
      return this.#greet(this.#host.name, undefined);
    }
    this.#beats = 0;
    const beat = unheld(setInterval(() => void this.#beat(way), BEAT_MS));
    this.#undo.push(() => clearInterval(beat));
    void this.#enter(way);
  }

  async #beat(way: object): Promise<void> {
    const [most, why] = this.#welcome ? [MAX_PINGS, "it hangs"] : [MAX_UNREADY, "it does not answer"];
    if (++this.#beats > most) return this.#lost(way, why, true);
    this.say({ ping: this.#beats });
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
    return known.map((rest) => parseInt(rest));
  }

  /** Tabs tell each other by their locks which worker is the one. Who was frozen, or opens later, has not heard what became of others. */
  async #newest(): Promise<number> {
    return Math.max(this.#generation, ...(await this.#known()));
  }

  async #enter(way: Way): Promise<void> {
    const { mode, worker, start } = this.#host;
    const newest = await this.#newest();
    if (way !== this.#way) return;
    this.#generation = newest;
    try {
      this.#listen(
        way,
        openWorker(mode, this.#name, worker, start, (why) => this.#lost(way, why), way.ended),
      );
    } catch (error) {
      return this.#lost(way, error instanceof Error ? error.message : String(error));
    }
    const { name: lock, release } = await holdLock(this.#tabs + this.#generation);
    if (way !== this.#way) return release();
    this.#undo.push(release);
    this.#greet(this.#name, lock);
  }

  #listen(way: Way, port: Port): void {
    way.port = port;
    const { ended: signal } = way;
    port.addEventListener("message", ({ data }) => way === this.#way && isMessage(data) && this.#heard(way, data as FromHub), { signal });
    port.start?.();
  }

  #greet(hello: string, lock: string | undefined): void {
    const { options, auth } = this.#host;
    this.say({ hello, options, asks: auth !== undefined, lock });
  }

  #heard(way: object, message: FromHub): void {
    this.#beats = 0;
    if ("stats" in message) this.#stats = message.stats;
    if ("line" in message) {
      if ("refreshed" in message) this.#refreshed(message);
      else this.#lines.get(message.line)?.take(message);
    } else if ("welcome" in message) {
      this.#welcomed(way, message.lock);
    } else if ("auth" in message) {
      void this.#answer(way, message.auth);
    } else if ("refused" in message) {
      this.#lost(way, message.refused);
    } else if ("dead" in message) {
      this.#lost(way, message.dead, true);
    }
  }

  #welcomed(way: object, lock: string | undefined): void {
    this.#welcome = true;
    this.#missed = 0;
    const steady = unheld(setTimeout(() => (this.#failed = 0), STEADY_MS));
    this.#undo.push(() => clearTimeout(steady));
    this.#undo.push(onReleased(lock, () => this.#lost(way, "it has ended", true)));
    for (const line of this.#lines.values()) line.connect();
    this.#host.connected();
    this.#decide();
  }

  async #answer(way: object, auth: number): Promise<void> {
    let answer: Extract<FromTab, { credentials: number }>;
    try {
      answer = { credentials: auth, given: await this.#host.auth!() };
    } catch (error) {
      answer = { credentials: auth, error: told(error) };
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
  #lost(way: object, why: string, hangs = false): void {
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
    this.#retry = unheld(setTimeout(() => this.#connect(), backoff(Math.max(1, failed), Math.random())));
  }

  #decide(): void {
    if (this.#decided) return;
    this.#decided = true;
    this.#host.decided();
  }

  #giveUp(why: string): void {
    clearTimeout(this.#retry);
    const way = this.#way;
    if (way === undefined) return;
    if (this.#here === undefined) this.say({ bye: true });
    else this.#here.leave();
    this.#way = undefined;
    this.#stats = undefined;
    this.#welcome = false;
    for (const undo of this.#undo.splice(0)) undo();
    for (const { reject } of this.#refreshes.values()) reject(lost(why));
    this.#refreshes.clear();
    for (const line of this.#lines.values()) line.break(why);
    way.port?.close?.();
  }
}

function lost(why: string): WatchCacheError {
  return new WatchCacheError("network", why, { retryable: true });
}

/** What `auth` threw, as it crosses: the members that are read of it. */
function told(thrown: unknown): unknown {
  if (typeof thrown !== "object" || thrown === null) return { message: String(thrown) };
  const { name, message, code, reason, retryAfterSeconds, status } = thrown as Record<string, any>;
  // A number is that of a response, and no code of ours.
  if (typeof status === "number") return { name, message: message ?? `auth answered ${status}`, status };
  return { ...plain({ code, message, retryable: false, status, retryAfterSeconds }), name, reason };
}
