import { WatchCacheError } from "../error/errors.js";
import { addressOf } from "../host/fetch.js";
import { onWake } from "../host/sleep.js";
import type { WasmSource } from "../host/types.js";
import { backoff } from "./backoff.js";
import { compile, type Entry, forbidden, toLoadError, unreachable } from "./compile.js";
import { EarlyTries } from "./early-tries.js";
import { remedy } from "./remedy.js";

/** How far the page's one WebAssembly has come. */
export interface Loading {
  /**
   * - `idle`: nobody has wanted it yet
   * - `loading`: a try is under way
   * - `waiting`: the last try failed; the next is at `retryAt`, if anybody wants it then
   * - `loaded`
   * - `failed`: trying again is of no use by itself, see `error`
   */
  readonly phase: "idle" | "loading" | "waiting" | "loaded" | "failed";
  /** Tries that have failed. */
  readonly attempt: number;
  /** Why the last one did. */
  readonly error?: WatchCacheError | undefined;
  readonly retryAt?: number;
}

/** What becomes of a compiled module. */
export interface Adopter {
  /** @throws {WatchCacheError} `decode` when it is another build's. */
  check(module: WebAssembly.Module): void;
  /** Makes it the page's instance, unless there is one. */
  adopt(module: WebAssembly.Module): Promise<void>;
}

/**
 * Loads the WebAssembly for all caches of a page. A load that fails is a connection that fails: it is tried again, later each time, while
 * anybody wants it. The waits are the same for all caches, whatever their `retry` says, since there is one server that they are for.
 */
export class Loader {
  readonly #adopter: Adopter;
  /** Those who want it, by whom they hear of each change. */
  readonly #listeners = new Set<() => void>();
  #state: Loading = { phase: "idle", attempt: 0 };
  /** Where tries go, once somebody has named an address. */
  #address: URL | RequestInfo | undefined;
  /** The try that the state tells of. */
  #trying: { readonly source: WasmSource | undefined; readonly done: Promise<void> } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopListening: (() => void) | undefined;
  readonly #early = new EarlyTries();

  constructor(adopter: Adopter) {
    this.#adopter = adopter;
  }

  /** The same object until something in it changes. */
  get state(): Loading {
    return this.#state;
  }

  /**
   * Somebody needs it, until the returned function is called. While anybody does, it is tried again and again.
   *
   * @param onChange called with each change of `state`
   */
  want(onChange: () => void, entry: Entry): () => void {
    // Each its own, even if two want by one function.
    const listener = () => onChange();
    this.#listeners.add(listener);
    this.#go(entry);
    return () => {
      this.#listeners.delete(listener);
      // When it is wanted again, the wait goes on where it stands: coming and going hastens nothing.
      if (this.#listeners.size === 0) this.#stopWaiting();
    };
  }

  /**
   * What failed need not wait any longer.
   *
   * @param asked by a user: then also what has `failed` is tried again, where something outside of the page may have changed
   */
  tryNow(entry: Entry, asked = false): void {
    const { phase } = this.#state;
    if (phase !== "waiting" && !(phase === "failed" && asked && forbidden() === undefined)) return;
    if (!this.#early.take()) return;
    if (this.#listeners.size > 0) this.#try(undefined, entry).catch(() => {});
    else this.#state = { ...this.#state, phase: "waiting", retryAt: Date.now() };
  }

  /**
   * Loads it from there, or takes part in the try that is under way. After failures without another source, it takes part in the next one.
   *
   * @throws {WatchCacheError} what that one try failed with; `invalid` when the page has the WebAssembly already, of another build.
   */
  load(source: WasmSource | undefined, entry: Entry): Promise<void> {
    const { phase } = this.#state;
    const trying = this.#trying;
    if (trying !== undefined && (source === undefined || isSame(source, trying.source))) return trying.done;
    const known = source === undefined || isSame(source, this.#address);
    if (known && phase === "loaded") return Promise.resolve();
    if (!known || phase === "idle") return this.#try(source, entry);
    this.tryNow(entry, true);
    return new Promise((resolve, reject) => {
      const settle = () => {
        const { phase, error } = this.#state;
        if (phase === "loading") return true;
        if (phase === "loaded") resolve();
        else reject(error!);
        return false;
      };
      if (this.#state.phase === "failed") return settle();
      const off = this.want(() => settle() || off(), entry);
    });
  }

  /** It is there, by whatever way. */
  arrived(): void {
    this.#stopWaiting();
    this.#set({ phase: "loaded", attempt: 0 });
  }

  #go(entry: Entry): void {
    const { phase, retryAt } = this.#state;
    if (phase === "idle") this.#try(undefined, entry).catch(() => {});
    if (phase !== "waiting" || this.#timer !== undefined) return;
    // It keeps a process of Node alive, as a connection does: somebody waits.
    this.#timer = setTimeout(() => void this.#try(undefined, entry).catch(() => {}), Math.max(0, retryAt! - Date.now()));
    this.#stopListening = onWake({ wake: () => this.tryNow(entry), hide: () => {} });
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #try(source: WasmSource | undefined, entry: Entry): Promise<void> {
    // Another source that is tried meanwhile, or later, tells only who named it.
    const first = this.#trying === undefined && this.#state.phase !== "loaded";
    const done = this.#run(source, entry, first);
    if (first) {
      this.#trying = { source, done };
      this.#stopWaiting();
      const { attempt, error } = this.#state;
      this.#set({ phase: "loading", attempt, error });
    }
    return done;
  }

  async #run(source: WasmSource | undefined, entry: Entry, first: boolean): Promise<void> {
    const { attempt } = this.#state;
    try {
      // Whatever fails does so after the call, when the state tells of this try.
      const from = await (source ?? this.#address ?? bundled(entry));
      const address = addressOf(from);
      if (address !== undefined && (first || this.#address === undefined)) this.#address = isRequest(from) ? from : address;
      const module = await compile(from, entry, attempt > 0, (module) => this.#adopter.check(module));
      await this.#adopter.adopt(module);
      if (first) this.#trying = undefined;
      if (this.#state.phase !== "loaded") this.arrived();
    } catch (thrown) {
      const error = toLoadError(thrown);
      if (first) this.#trying = undefined;
      if (this.#state.phase === "loaded") {
        // It came by another way. Who named no bytes has got what they wanted.
        if (source === undefined || error.code === "network") return;
        throw new WatchCacheError("invalid", `the page has its WebAssembly already, and this is another: ${error.message}`, {
          cause: error,
        });
      }
      if (first) this.#failed(attempt + 1, error, entry);
      throw error;
    }
  }

  #failed(attempt: number, error: WatchCacheError, entry: Entry): void {
    if (!error.retryable) return this.#set({ phase: "failed", attempt, error });
    this.#set({ phase: "waiting", attempt, error, retryAt: Date.now() + backoff(attempt, Math.random()) });
    if (this.#listeners.size > 0) this.#go(entry);
  }

  #set(state: Loading): void {
    this.#state = state;
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener();
  }
}

function isSame(a: WasmSource, b: WasmSource | undefined): boolean {
  if (a === b || b === undefined) return a === b;
  const address = addressOf(a);
  return address !== undefined && address === addressOf(b);
}

function isRequest(source: unknown): source is Request {
  return typeof Request === "function" && source instanceof Request;
}

/** Later than the call, so that it never throws at the caller. */
async function bundled(entry: Entry): Promise<WasmSource> {
  try {
    return entry.bundled();
  } catch (error) {
    const why = "the script has no address beside which it could lie, as in a worker or a page that is made of a text";
    throw unreachable(`${why}; ${remedy(undefined)}`, false, error);
  }
}
