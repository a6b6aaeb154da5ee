import { WatchCacheError } from "../error/errors.js";
import { unheld } from "../host/timer.js";
import { backoff } from "../load/backoff.js";
import type { Credentials, ResourceSpec } from "../upstream/types.js";
import type { RawRemote } from "../wire/raw.js";
import { holdLock, onReleased } from "./locks.js";
import { type FromHub, type FromTab, type HubOptions, type HubStats, isMessage, plain, type Port, post } from "./port.js";
import { openWorker, type SharedMode, type StartWorker, type WorkerOption } from "./workers.js";

/** How long a worker may take until it can be asked, where the machine starts twenty tabs at once. What cannot be loaded is told much sooner. */
const MAX_WELCOME_MS = 30_000;
/** The time between two questions whether it lives, and how many go unanswered before it counts as dead. */
const PING_MS = 5_000;
const MAX_PINGS = 3;

/** What a link needs of its cache. */
export interface LinkHost {
  /** Who shares, with whom and what: equal ones meet. */
  readonly name: string;
  readonly mode: SharedMode;
  /** Where the worker's script lies, or what opens a port to it. */
  readonly worker: WorkerOption | undefined;
  /** Starts the package's own script, where the entry knows one. */
  readonly start: StartWorker | undefined;
  readonly options: HubOptions;
  readonly auth: (() => Promise<Credentials>) | undefined;
  /** There is none and there will be none: say so once. */
  alone(why: string): void;
  /** Hears that the first worker can be asked, or that there is none. */
  decided(): void;
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
  #port: Port | undefined;
  /** Whether the port's worker has said that it can be asked. */
  #welcome = false;
  /** Whether it ever came to that, or never will. */
  #decided = false;
  #alone = false;
  #closed = false;
  #generation = 0;
  #failed = 0;
  #pings = 0;
  #stats: HubStats | undefined;
  /** Undone when the port is given up. */
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

  /** What the worker said last of itself. */
  get stats(): HubStats | undefined {
    return this.#stats;
  }

  /** That of the worker. One that hangs would be there again under its own. */
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
    if (!this.#welcome) return Promise.reject(lost("there is no worker to list anew"));
    const number = ++this.#numbers;
    return new Promise((resolve, reject) => {
      this.#refreshes.set(number, { resolve, reject });
      this.say({ line, refresh: number, reset });
    });
  }

  /** Says something to the worker, if there is one. */
  say(message: FromTab): void {
    if (this.#port !== undefined && (this.#welcome || "hello" in message)) post(this.#port, message);
  }

  /** The page may be kept for the way back, where nothing holds it: `wake` connects again. */
  suspend(): void {
    this.#giveUp("the page sleeps");
  }

  /** It is awake: the next try waits no longer. */
  wake(): void {
    if (!this.#closed && !this.#alone && this.#port === undefined) this.#connect();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#giveUp("the cache is closed");
  }

  #connect(): void {
    clearTimeout(this.#retry);
    let port: Port;
    try {
      const { mode, worker, start } = this.#host;
      port = openWorker(mode, this.#name, worker, start, (why) => this.#lost(port, why));
    } catch (error) {
      return this.#lost(undefined, error instanceof Error ? error.message : String(error));
    }
    this.#port = port;
    port.addEventListener("message", ({ data }) => port === this.#port && isMessage(data) && this.#heard(port, data as FromHub));
    port.start?.();
    const late = unheld(setTimeout(() => this.#lost(port, "it does not answer", true), MAX_WELCOME_MS));
    this.#undo.push(() => clearTimeout(late));
    void this.#hello(port);
  }

  async #hello(port: Port): Promise<void> {
    const { options, auth } = this.#host;
    const { name: lock, release } = await holdLock("watchcache tab");
    if (port !== this.#port) return release();
    this.#undo.push(release);
    this.say({ hello: this.#name, options, asks: auth !== undefined, lock });
  }

  #heard(port: Port, message: FromHub): void {
    this.#pings = 0;
    if ("stats" in message) this.#stats = message.stats;
    if ("line" in message) {
      if ("refreshed" in message) this.#refreshed(message);
      else this.#lines.get(message.line)?.take(message);
    } else if ("welcome" in message) {
      this.#welcomed(port, message.lock);
    } else if ("auth" in message) {
      void this.#answer(port, message.auth);
    } else if ("refused" in message) {
      this.#lost(port, message.refused);
    } else if ("dead" in message) {
      this.#lost(port, message.dead, true);
    }
  }

  #welcomed(port: Port, lock: string | undefined): void {
    this.#drain();
    this.#welcome = true;
    this.#failed = 0;
    this.#undo.push(onReleased(lock, () => this.#lost(port, "it has ended")));
    const ping = unheld(
      setInterval(() => {
        if (++this.#pings > MAX_PINGS) return this.#lost(port, "it hangs", true);
        this.say({ ping: this.#pings });
      }, PING_MS),
    );
    this.#undo.push(() => clearInterval(ping));
    for (const line of this.#lines.values()) line.connect();
    this.#decide();
  }

  /** Of what is undone, only the tab's lock outlives the welcome. */
  #drain(): void {
    const [late, ...rest] = this.#undo;
    late?.();
    this.#undo = rest;
  }

  async #answer(port: Port, auth: number): Promise<void> {
    let answer: Extract<FromTab, { credentials: number }>;
    try {
      answer = { credentials: auth, given: await this.#host.auth!() };
    } catch (error) {
      answer = { credentials: auth, error: told(error) };
    }
    if (port === this.#port) this.say(answer);
  }

  #refreshed({ refreshed, error }: Extract<FromHub, { refreshed: number }>): void {
    const waiting = this.#refreshes.get(refreshed);
    this.#refreshes.delete(refreshed);
    if (error === undefined) waiting?.resolve();
    else waiting?.reject(error);
  }

  /** @param hangs whether that worker would be there again if it were asked for by its name */
  #lost(port: Port | undefined, why: string, hangs = false): void {
    if (this.#closed || port !== this.#port) return;
    if (hangs) this.#generation++;
    const was = this.#welcome;
    this.#giveUp(`the worker that holds the streams is lost: ${why}`);
    if (!this.#decided) {
      // Nothing is held yet, and nobody knows when a worker would come.
      this.#alone = true;
      this.#host.alone(why);
      return this.#decide();
    }
    if (was) return this.#connect();
    this.#retry = unheld(setTimeout(() => this.wake(), backoff(++this.#failed, Math.random())));
  }

  #decide(): void {
    if (this.#decided) return;
    this.#decided = true;
    this.#host.decided();
  }

  #giveUp(why: string): void {
    clearTimeout(this.#retry);
    if (this.#port === undefined) return;
    this.say({ bye: true });
    const port = this.#port;
    this.#port = undefined;
    this.#stats = undefined;
    this.#welcome = false;
    this.#pings = 0;
    for (const undo of this.#undo.splice(0)) undo();
    for (const { reject } of this.#refreshes.values()) reject(lost(why));
    this.#refreshes.clear();
    for (const line of this.#lines.values()) line.break(why);
    port.close?.();
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
