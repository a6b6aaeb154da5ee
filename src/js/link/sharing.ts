import type { Loading } from "../load/loader.js";
import type { Runtime } from "../load/instance.js";
import type { ResourceSpec } from "../upstream/types.js";
import type { RawRemote } from "../wire/raw.js";
import type { Line } from "./line.js";
import { Link, type LinkHost } from "./link.js";
import type { HubStats } from "./port.js";

/** The page's way to its streams while that is being found out. */
const FINDING: Loading = Object.freeze({ phase: "loading", attempt: 0 });

/** What a cache gives to its sharing. */
interface SharingHost extends Omit<LinkHost, "decided"> {
  /** Hears that a worker is looked for: from now on it is to be told what becomes of the page. */
  begun(): void;
}

/**
 * How a cache that shares its streams gets at them. Nothing is opened before a resource is used.
 */
export class Sharing {
  readonly #host: SharingHost;
  readonly #waiting = new Set<() => void>();
  #link: Link | undefined;
  #begun = false;
  #alone = false;
  #closed = false;

  constructor(host: SharingHost) {
    this.#host = host;
  }

  /** Whether there is no worker, and none will be looked for, once that is known. */
  get isAlone(): boolean | undefined {
    return this.#alone || (this.#link?.isDecided ? this.#link.isAlone : undefined);
  }

  /** Whether the page holds its streams by itself, once that is known. */
  get isInline(): boolean | undefined {
    return this.#alone || (this.#link?.isDecided ? this.#link.isInline : undefined);
  }

  /** Whether there is a way to a worker, or one is looked for. */
  get isUsed(): boolean {
    return this.#begun && !this.#closed && this.isAlone !== true;
  }

  /** Undefined while somebody is there that can be asked. Without a time a try is under way. */
  get away(): { readonly retryAt: number | undefined } | undefined {
    return this.isAlone === false ? this.#link!.away : undefined;
  }

  /** What the worker said last of itself. */
  get stats(): HubStats | undefined {
    return this.#link?.stats;
  }

  /** The runtime of resources that wait for this as they wait for the WebAssembly. */
  runtime(runtime: Runtime): Runtime {
    const finds = () => this.isAlone === undefined;
    return {
      loaded: () => (finds() ? undefined : runtime.loaded()),
      host: runtime.host,
      get loading() {
        const { loading } = runtime;
        return loading.phase === "loaded" && finds() ? FINDING : loading;
      },
      want: (onChange) => {
        const offs = [runtime.want(onChange), this.#want(onChange)];
        return () => offs.forEach((off) => off());
      },
      load: () => runtime.load(),
      tryNow: () => {
        runtime.tryNow();
        this.#link?.tryNow();
      },
      onPanic: (listener) => runtime.onPanic(listener),
    };
  }

  #begin(): void {
    if (this.#begun || this.#closed) return;
    this.#begun = true;
    this.#host.begun();
    // Later than the call that wants it, which is then told as all others are.
    queueMicrotask(() => {
      if (this.#closed) return;
      try {
        this.#link = new Link({ ...this.#host, decided: () => this.#decided() });
        this.#link.begin();
      } catch (error) {
        this.#never(error instanceof Error ? error.message : String(error));
      }
    });
  }

  /** Calls back when it is known where the streams are. The returned function takes that back. */
  #want(onChange: () => void): () => void {
    this.#begin();
    const listener = () => onChange();
    this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  open(spec: ResourceSpec, remote: RawRemote): Line {
    return this.#link!.open(spec, remote);
  }

  suspend(): void {
    this.#link?.suspend();
  }

  wake(): void {
    this.#link?.wake();
  }

  close(): void {
    this.#closed = true;
    this.#link?.close();
  }

  #never(why: string): void {
    this.#alone = true;
    this.#host.alone(why);
    this.#decided();
  }

  #decided(): void {
    for (const listener of [...this.#waiting]) listener();
  }
}
