/**
 * The host's types, without asking for the library that declares them. Where a project has `EventTarget`, `AbortSignal` or `fetch`, that
 * very type is meant. It may come from the DOM library, from `@types/node` or from a runtime of its own. Where it has none, the least that
 * is used.
 *
 * What the package takes is named by its least, so any implementation will do. What it gives is the host's.
 */

/** The host's class of this name, or something in its place. */
type Host<Name extends string, Otherwise> = typeof globalThis extends Record<Name, { prototype: infer Instance }> ? Instance : Otherwise;

/** The least of an `Event`. */
export interface EventLike {
  /** The event's name, such as `status`. */
  readonly type: string;
}

/** The least of an `EventTarget`. */
export interface EventTargetLike {
  /** Has the listener called for each event of this name. */
  addEventListener(
    type: string,
    listener: ((event: any) => void) | { handleEvent(event: any): void } | null,
    options?: boolean | { capture?: boolean; once?: boolean; passive?: boolean; signal?: AbortSignalLike },
  ): void;
  /** Calls the listeners of the event's name. */
  dispatchEvent(event: EventLike): boolean;
  /** Has it called no more. */
  removeEventListener(
    type: string,
    listener: ((event: any) => void) | { handleEvent(event: any): void } | null,
    options?: boolean | { capture?: boolean },
  ): void;
}

/** The least of an `AbortSignal`: what every option `signal` takes. */
export interface AbortSignalLike {
  /** Whether it has been aborted. */
  readonly aborted: boolean;
  /** Why it has been. */
  readonly reason?: any;
  /** Has the listener called when it is. */
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  /** Has it called no more. */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** An `AbortSignal` as it is given out. */
export type HostAbortSignal = Host<
  "AbortSignal",
  AbortSignalLike & {
    /** Throws the reason, if it has been aborted. */
    throwIfAborted(): void;
  }
>;

/** An `AbortController`. */
export type HostAbortController = Host<
  "AbortController",
  {
    /** What it aborts. */
    readonly signal: HostAbortSignal;
    /** Aborts it. */
    abort(reason?: any): void;
  }
>;

/** The host's `EventTarget`. */
export type HostEventTarget = Host<"EventTarget", EventTargetLike>;

/** A `CustomEvent` with this detail. */
export interface DetailEvent<D> extends Omit<Host<"CustomEvent", Host<"Event", EventLike>>, "detail"> {
  /** What it carries. */
  readonly detail: D;
}

/** A `URL`, a `Location`, or whatever else has an address. */
export interface UrlLike {
  /** The address. */
  readonly href: string;
}

/** The headers of a request: an object, pairs, or a `Headers`. */
export type HeadersLike =
  | { readonly [name: string]: string }
  | readonly (readonly [name: string, value: string])[]
  | { forEach(callback: (value: string, name: string) => void): void };

/** What a `fetch` is called with where no library says it. */
export interface FetchInit {
  /** `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. */
  method: string;
  /** A `Headers` of the host. */
  headers: any;
  /** JSON, as bytes. */
  body?: Uint8Array;
  /** Whether it carries cookies. */
  credentials: "omit" | "same-origin" | "include";
  /** What comes is kept here, and nowhere else. */
  cache: "no-store";
  /** Aborted when nobody waits for the answer any more. */
  signal: HostAbortSignal;
}

/** What a `fetch` answers where no library says it. */
export interface FetchAnswer {
  /** Whether the status is one of 200 to 299. */
  readonly ok: boolean;
  /** The HTTP status. */
  readonly status: number;
  /** Its headers, of which single ones are asked. */
  readonly headers: { get(name: string): string | null };
  /** Its body as a stream. */
  readonly body: ByteStream | null;
}

/** The host's `fetch`: what it takes and gives, without what else some hosts hang on it. */
export type HostFetch = typeof globalThis extends { fetch: (...request: infer Request) => infer Answer }
  ? (...request: Request) => Answer
  : (input: string, init?: FetchInit) => Promise<FetchAnswer>;

/** A class of sockets: the host's `WebSocket`, or one with its interface. */
export type WebSocketClass = new (url: string, protocols?: string[]) => any;

/** A stream of bytes: a `ReadableStream` of the web, or of Node's `stream/web`. */
export interface ByteStream {
  /** Its reader. */
  getReader(): {
    /** The next piece. */
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    /** Asks for no more. */
    cancel(reason?: any): Promise<void>;
    /** Lets somebody else read. */
    releaseLock(): void;
  };
}

/** Where messages go: `console` is one. */
export interface Logger {
  /** What only its developers want to know. */
  debug(...data: any[]): void;
  /** What is as it should be. */
  info(...data: any[]): void;
  /** What may become a mistake. */
  warn(...data: any[]): void;
  /** What went wrong. */
  error(...data: any[]): void;
}

/**
 * Where the WebAssembly's bytes come from: an address as text or `URL`, a `Request`, the bytes, a compiled `WebAssembly.Module`, or a
 * `Response` on its way.
 */
export type WasmSource = string | UrlLike | WasmBytes | Promise<{ arrayBuffer(): Promise<ArrayBuffer> }>;

/** The bytes of a WebAssembly module, or a compiled `WebAssembly.Module`, which has no members that a type could name. */
export type WasmBytes = ArrayBuffer | ArrayBufferView | object;

/** `Symbol.asyncDispose`, where the project's library knows it. */
type AsyncDispose = SymbolConstructor extends { readonly asyncDispose: infer Key extends symbol } ? Key : never;

/** What `await using` takes, where the project's library knows of that. */
export type HostAsyncDisposable = {
  /** Ends it. */
  [Key in AsyncDispose]: () => Promise<void>;
};
