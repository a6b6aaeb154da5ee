import { openCache } from "../cache/cache.js";
import type { WatchCacheOptions } from "../cache/options-types.js";
import type { WatchCache } from "../cache/types.js";
import { closedError, toError, WatchCacheError } from "../error/errors.js";
import { timer, unheld } from "../host/timer.js";
import { holdLock, onReleased } from "../link/locks.js";
import { type FromHub, type FromTab, type HubStats, isMessage, type Port, post } from "../link/port.js";
import type { Runtime } from "../load/instance.js";
import { epochOf, isForgotten } from "../persist/epoch.js";
import type { ResourceImpl } from "../resource/resource.js";
import { readCredentials } from "../upstream/credentials.js";
import type { Credentials } from "../upstream/types.js";
import { Refused, Served, type Side } from "./served.js";

/** How long a tab may take to say who asks, before another one is asked: one that is frozen never does. */
const MAX_AUTH_MS = 10_000;
/** How long one that let that time pass may take until it has answered. A tab that has thawed answers what it was asked meanwhile, by itself. */
const MAX_SILENT_MS = 1_000;
/** Tabs that come or go within this time are told of once. */
const TELL_MS = 100;
/** How long an answer that comes too late may still be used: what was waiting for it is tried again. */
const KEEP_LATE_MS = 10_000;
/** How long the cache outlives the last tab, which may be about to be loaded anew. A user who closes it, as to sign out, ends it at once. */
const LINGER_MS = 5_000;

/** A tab, as the worker knows it. */
interface Guest {
  readonly port: Port;
  readonly asks: boolean;
  /** Whether the server has refused what it gave, and it has given nothing since. */
  isRefused: boolean;
  /** How often it has answered at all, be it too late. */
  answers: number;
  /** Whether it did not answer in time, and has not answered since. */
  isSilent: boolean;
  /** What it has answered too late, for a while. */
  late: (() => Credentials) | undefined;
  readonly lines: Map<number, Side>;
  forget: () => void;
}

/** Who gave credentials, and all who had been asked by then in that try. */
interface Giver {
  readonly guest: Guest;
  readonly asked: ReadonlySet<Guest>;
}

/** A tab was asked who asks. */
interface Asked {
  readonly guest: Guest;
  /** It has, with what that gives or throws. */
  answer(answer: () => Credentials): void;
  /** It will not. */
  pass(): void;
}

/** Where a hub lives. */
export interface HubPlace {
  /** What those who may share call it; undefined: what the first of them does. */
  readonly name?: string | undefined;
  /** Options that no page can hand over, such as another `fetch`. */
  readonly own?: WatchCacheOptions;
  /** Ends the worker, which is of no use any more. */
  readonly end?: () => void;
  /** Whether it is in the page of its only tab, which need not be told that it lives. A page that holds a lock is not kept for the way back. */
  readonly isInPage?: boolean;
}

/** The worker's side: one cache for all tabs of one name, which is the source of their resources. */
export class Hub {
  readonly #runtime: Runtime;
  readonly #own: WatchCacheOptions;
  readonly #end: () => void;
  readonly #lock: Promise<{ name: string | undefined }>;
  readonly #forgetPanic: () => void;
  readonly #guests = new Set<Guest>();
  readonly #asked = new Map<number, Asked>();
  #questions = 0;
  /** Those who wait for any tab to come, to go, or to answer. */
  readonly #waiting = new Set<() => void>();
  /** Who has answered last. */
  #answered: Guest | undefined;
  /** Who gave what, as long as a request goes with it: a refusal may come when others have answered since. */
  readonly #givers = new WeakMap<Credentials, Giver>();
  /** Whether nobody of those who are here could say who asks. */
  #isUnknown = false;
  #name: string | undefined;
  #cache: WatchCache | undefined;
  /** Of a cache that keeps anything: since when it does, by the date. And how often its identity had been forgotten when it was opened. */
  #keeps: { readonly since: number; readonly epoch: Promise<number | undefined> } | undefined;
  #ending: ReturnType<typeof setTimeout> | undefined;
  #telling: ReturnType<typeof setTimeout> | undefined;
  /** Why its WebAssembly can be asked no more. */
  #dead: string | undefined;
  /** How often all tabs have gone together. */
  #departures = 0;
  #closed = false;

  constructor(runtime: Runtime, { name, own = {}, end = () => {}, isInPage = false }: HubPlace = {}) {
    this.#runtime = runtime;
    this.#name = name;
    this.#own = own;
    this.#end = end;
    this.#lock = isInPage ? Promise.resolve({ name: undefined }) : holdLock("watchcache worker");
    this.#forgetPanic = runtime.onPanic((message) => this.die(message));
  }

  /** Its WebAssembly has failed: whoever is here goes on elsewhere. */
  die(message: string): void {
    if (this.#dead !== undefined) return;
    this.#dead = message;
    for (const { port } of this.#guests) post(port, { dead: message });
    // What it holds cannot be let go of any more: it goes with the worker.
    this.#guests.clear();
    this.#news();
    this.#end();
  }

  /** All tabs have gone. */
  leave(): void {
    this.#departures++;
    for (const guest of [...this.#guests]) this.#leave(guest);
  }

  /** Lets go of all it holds, at once and for good. */
  close(): void {
    this.#closed = true;
    this.#forgetPanic();
    this.leave();
    this.#letGo();
  }

  /** Hears whoever is at the other end of this port. */
  connect(port: Port): void {
    let guest: Guest | undefined;
    let coming = Promise.resolve();
    const heard = async (message: FromTab) => {
      if ("hello" in message) guest = await this.#welcome(port, message);
      else if (guest !== undefined) this.#take(guest, message);
    };
    port.addEventListener("message", ({ data }) => {
      // Of no tab of this package.
      if (!isMessage(data)) return;
      // In order, also behind a hello that waits for the WebAssembly.
      if (guest !== undefined) return this.#take(guest, data as FromTab);
      coming = coming.then(() => heard(data as FromTab));
    });
    port.start?.();
  }

  async #welcome(port: Port, hello: Extract<FromTab, { hello: string }>): Promise<Guest | undefined> {
    const refuse = (refused: string) => {
      post(port, { refused });
      port.close?.();
    };
    if (typeof hello.hello !== "string" || (this.#name ??= hello.hello) !== hello.hello)
      return void refuse("it is of another server, identity, version or options than this page");
    if (this.#dead !== undefined) return void post(port, { dead: this.#dead });
    const departures = this.#departures;
    try {
      await this.#runtime.load();
      if (await this.#wasForgotten(hello.options as WatchCacheOptions)) this.#letGo();
      if (this.#closed) throw closedError();
      // The page has put its port away meanwhile, and knows nothing of this welcome.
      if (departures !== this.#departures) return undefined;
      this.#cache ??= this.#open(hello.options as WatchCacheOptions, hello.since);
    } catch (error) {
      return void refuse(toError(error).message);
    }
    const { asks } = hello;
    const guest: Guest = { port, asks, isRefused: false, answers: 0, isSilent: false, late: undefined, lines: new Map(), forget: () => {} };
    guest.forget = onReleased(hello.lock, () => this.#leave(guest));
    clearTimeout(this.#ending);
    this.#guests.add(guest);
    post(port, { welcome: hello.hello, lock: (await this.#lock).name });
    // How it stands before this tab asks for anything: the tab can tell whether its first rows were there.
    if (this.#dead === undefined) post(port, { stats: this.#stats() });
    if (guest.asks) {
      this.#answered = undefined; // the newest may know who asks
      this.#retryAll();
    }
    this.#news();
    this.#tellStats();
    return guest;
  }

  /** @param since when the cache of the first tab began, by the date: what was forgotten later is not kept again */
  #open(options: WatchCacheOptions, since: number): WatchCache {
    this.#keeps = options.persist === undefined ? undefined : { since, epoch: epochOf(options.identity!) };
    const others = (refused: readonly Credentials[]) => this.#others(refused);
    const who = { auth: () => this.#credentials(), others, since };
    return openCache({ ...options, ...this.#own }, this.#runtime, undefined, who);
  }

  /** Whether nobody has the cache, and it would keep nothing more: its identity has signed out since it began, and is here again. */
  async #wasForgotten({ identity }: WatchCacheOptions): Promise<boolean> {
    const isLeft = () => this.#cache !== undefined && this.#guests.size === 0;
    if (this.#keeps === undefined || !isLeft()) return false;
    const [epoch, now] = await Promise.all([this.#keeps.epoch, epochOf(identity!)]);
    return isForgotten({ at: this.#keeps.since, epoch }, now) && isLeft();
  }

  #letGo(): void {
    clearTimeout(this.#ending);
    void this.#cache?.close();
    this.#cache = undefined;
  }

  #stats(): HubStats {
    const { memoryBytes, resources } = this.#cache?.stats() ?? { memoryBytes: 0, resources: [] };
    return { tabs: this.#guests.size, memoryBytes, resources, metrics: this.#cache?.metrics() ?? "" };
  }

  /** Tells all tabs, once for those that come or go together. */
  #tellStats(): void {
    this.#telling ??= unheld(
      timer(() => {
        this.#telling = undefined;
        if (this.#dead !== undefined || this.#guests.size === 0) return;
        const stats = this.#stats();
        for (const { port } of this.#guests) post(port, { stats });
      }, TELL_MS),
    );
  }

  #take(guest: Guest, message: FromTab): void {
    // Also of one whose lock has gone before its word came.
    if ("bye" in message) return this.#leave(guest, message.closed);
    if (!this.#guests.has(guest)) return;
    if ("line" in message) return this.#line(guest, message);
    if ("ping" in message) post(guest.port, { pong: message.ping, stats: this.#stats() });
    else if ("credentials" in message) {
      // Also where that is too late. Nothing else counts: a page whose `auth` never ends says other things, and is waited for in vain.
      guest.answers++;
      guest.isSilent = false;
      const { given, error } = message;
      const answer = () => {
        if (given === undefined) throw error;
        return readCredentials(given);
      };
      const asked = this.#asked.get(message.credentials);
      if (asked?.guest === guest) asked.answer(answer);
      else if (asked === undefined) this.#late(guest, answer);
    }
  }

  /** Somebody may have had to sign in, which took a while. */
  #late(guest: Guest, answer: () => Credentials): void {
    // Where nobody waits for it, it may be of long ago by the time that somebody does.
    if (!this.#isUnknown && this.#waiting.size === 0 && !this.#resources().some((resource) => resource.told().phase === "needs-auth"))
      return;
    guest.late = answer;
    // For all that waits, which may ask one after the other.
    unheld(timer(() => guest.late === answer && (guest.late = undefined), KEEP_LATE_MS));
    this.#news();
    this.#retryAll();
  }

  #line(guest: Guest, message: Extract<FromTab, { line: number }>): void {
    const { line } = message;
    const served = guest.lines.get(line);
    if ("open" in message) {
      const say = (said: FromHub) => this.#guests.has(guest) && post(guest.port, said);
      try {
        const resource = this.#cache!.resource(message.open) as unknown as ResourceImpl<unknown>;
        guest.lines.set(line, new Served(resource, line, say));
        if (guest.asks) this.#retry(resource);
      } catch (error) {
        guest.lines.set(line, new Refused(toError(error), line, say));
      }
    } else if ("close" in message) {
      guest.lines.delete(line);
      served?.close();
    } else if ("head" in message) served?.take(message.head, message.body);
    else if ("resume" in message) served?.resource?.resume();
    else if ("refresh" in message) void served?.refresh(message.refresh, message.reset);
  }

  /** A tab has gone, or says so. */
  #leave(guest: Guest, closed = false): void {
    if (this.#guests.delete(guest)) {
      guest.forget();
      for (const served of guest.lines.values()) served.close();
      guest.lines.clear();
      for (const asked of [...this.#asked.values()]) if (asked.guest === guest) asked.pass();
      this.#news();
      if (this.#guests.size > 0) return this.#tellStats();
      this.#ending = unheld(timer(() => this.#letGo(), LINGER_MS));
    }
    if (closed && this.#guests.size === 0) this.#letGo();
  }

  #news(): void {
    for (const heard of this.#waiting) heard();
    this.#waiting.clear();
  }

  /** Of all tabs, each once: a try that is begun again has spent what it was given. */
  #resources(): ResourceImpl<unknown>[] {
    const all = [...this.#guests].flatMap(({ lines }) => [...lines.values()].flatMap(({ resource }) => resource ?? []));
    return [...new Set(all)];
  }

  #retryAll(): void {
    for (const resource of this.#resources()) this.#retry(resource);
  }

  /** Tries again at once what waits for somebody who can say who asks: somebody has come. */
  #retry(resource: ResourceImpl<unknown>): void {
    const { phase } = resource.told();
    // What is paused or idle waits for nobody.
    const waits = phase !== "live" && phase !== "paused" && phase !== "idle";
    if (phase === "needs-auth" || (this.#isUnknown && waits)) resource.signedIn();
  }

  /** Credentials of whoever can say who asks. A tab that cannot, such as one that is signed out, holds up nobody else. */
  async #credentials(): Promise<Credentials> {
    if (this.#cache === undefined) throw closedError();
    // One that has no `auth` of its own shares what the others see.
    if (this.#guests.size > 0 && this.#next() === undefined) return {};
    const failures: unknown[] = [];
    const asked = new Set<Guest>();
    const isSilent = () => failures.length === 0 && [...asked].some((guest) => guest.isSilent && this.#guests.has(guest));
    for (;;) {
      const given = await this.#given(asked, failures);
      if (given !== undefined) return given;
      if (!isSilent()) break;
      // As in a page of its own: it takes as long as somebody needs to sign in.
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    this.#isUnknown = true;
    throw failures[0] ?? new WatchCacheError("network", "no page is there that could say who asks", { retryable: true });
  }

  /** The same, where the server has refused what these tabs gave. Undefined: it has refused all there is. */
  async #others(refused: readonly Credentials[]): Promise<Credentials | undefined> {
    const givers = refused.flatMap((given) => this.#givers.get(given) ?? []);
    const last = givers.at(-1);
    if (last !== undefined) last.guest.isRefused = true;
    for (const { guest } of givers) guest.late = undefined;
    // Those that were asked in vain are not asked again, either.
    return this.#given(new Set(givers.flatMap(({ asked }) => [...asked])));
  }

  /** Asks the tabs that are there until one answers, and none of them twice. One that comes meanwhile is among them. */
  async #given(asked: Set<Guest>, failures: unknown[] = []): Promise<Credentials | undefined> {
    for (let guest; (guest = this.#next(asked)) !== undefined;) {
      asked.add(guest);
      const { isRefused } = guest;
      const given = await this.#ask(guest).catch((error: unknown) => void failures.push(error));
      if (given === undefined) continue;
      // What it was asked for before the refusal says nothing new.
      if (isRefused) guest.isRefused = false;
      this.#answered = guest;
      this.#isUnknown = false;
      this.#givers.set(given, { guest, asked });
      return given;
    }
    return undefined;
  }

  /**
   * Who is asked next: whoever has answered last, and then those that came before it, and then the newest. Those that were refused come after all
   * others, and last of all those that do not answer.
   */
  #next(asked?: ReadonlySet<Guest>): Guest | undefined {
    const asking = [...this.#guests].reverse().filter(({ asks }) => asks);
    const from = Math.max(0, asking.indexOf(this.#answered!));
    const left = [...asking.slice(from), ...asking.slice(0, from)].filter((guest) => !asked?.has(guest) || guest.late !== undefined);
    const speaking = left.filter(({ isSilent }) => !isSilent);
    return speaking.find(({ isRefused }) => !isRefused) ?? speaking[0] ?? left[0];
  }

  /** Undefined: it does not answer, because it has gone or is frozen. */
  #ask(guest: Guest): Promise<Credentials | undefined> {
    if (!this.#guests.has(guest)) return Promise.resolve(undefined);
    const { late } = guest;
    if (late !== undefined) {
      const given = Promise.resolve().then(late);
      // What it throws is told once.
      given.catch(() => (guest.late = undefined));
      return given;
    }
    const number = ++this.#questions;
    const answered = new Promise<Credentials | undefined>((resolve) => {
      const { answers } = guest;
      const silent = () => {
        // Where it has answered another question meanwhile, this one alone hangs.
        guest.isSilent = guest.answers === answers;
        resolve(undefined);
      };
      const time = unheld(timer(silent, guest.isSilent ? MAX_SILENT_MS : MAX_AUTH_MS));
      const done = () => clearTimeout(time);
      this.#asked.set(number, {
        guest,
        answer: (answer) => (done(), resolve(Promise.resolve().then(answer))),
        pass: () => (done(), resolve(undefined)),
      });
      post(guest.port, { auth: number });
    });
    return answered.finally(() => this.#asked.delete(number));
  }
}
