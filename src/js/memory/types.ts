import type { HostAbortSignal } from "../host/types.js";
import type { KubeObject, ObjectLike, Status } from "../object/metadata.js";
import type { DeepReadonly } from "../object/readonly.js";
import type { TypedSource } from "../upstream/source.js";

/** What a memory source knows of time. Fake timers of a test runner need none of it: the default looks the host's up at each use. */
export interface MemoryClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls once, so many milliseconds from now. */
  setTimeout(call: () => void, ms: number): unknown;
  /** Takes such a call back. */
  clearTimeout(timer: any): void;
}

/** A clock that moves only when it is told to. */
export interface VirtualClock extends MemoryClock {
  /**
   * Moves on, and makes the calls that fall due, in their order. Calls of it add up, also while another one moves. Where what was called answers
   * later than a few microtasks, as a cache does that asks for the next page, move on step by step. What a call throws it throws at its end.
   */
  advance(ms: number): Promise<void>;
}

/** What a source can be asked for. */
export type MemoryVerb = "list" | "watch" | "get" | "create" | "update" | "patch" | "delete" | "deleteCollection";

/** A request as it came in. */
export interface MemoryRequest {
  /** What was asked for. */
  readonly verb: MemoryVerb;
  /** What else the request says, as the methods of `Source` take it. */
  readonly [parameter: string]: unknown;
}

/** How a server refuses a request. */
export interface MemoryRefusal {
  /** The HTTP status, from 400 to 599. */
  code: number;
  /** A machine-readable word, such as `Forbidden`. */
  reason?: string | undefined;
  /** A sentence for people. */
  message?: string | undefined;
  /** How long the client should wait before it asks again. */
  retryAfterSeconds?: number | undefined;
}

/** How a request fails: as a server refuses it, or with an `Error` where no server answers at all. */
export type MemoryFailure = Error | Status | MemoryRefusal;

/** Which requests fail. */
export interface FailOptions {
  /** So many requests fail, and then no more. Default: all until `recover()`. */
  times?: number | undefined;
  /** Only such requests, of one verb at least. Default: all. */
  verbs?: readonly MemoryVerb[] | undefined;
}

/** How streams are cut. */
export interface DropOptions {
  /** What the streams break with. Default: they end in order, as a server ends them. */
  error?: Error | undefined;
  /**
   * The connection is cut in the middle of a frame. Half a frame is none, so that readers see what the streams break with, and nothing else:
   * `TypeError: terminated`, unless `error` says otherwise.
   */
  midFrame?: boolean | undefined;
}

/** What a memory source takes as an object of type `T`: such as it is, or as a cache gave it. It has metadata with a name. */
export type MemoryObject<T, O> = O & {
  // What the type lacks is a slip of the pen.
  readonly [Key in keyof O]: Key extends (T extends unknown ? keyof T : never) ? unknown : never;
} & ("metadata" extends keyof O ? ("name" extends keyof NonNullable<O["metadata"]> ? unknown : never) : never);

/** What a memory source begins with. */
export interface MemorySourceOptions<T extends ObjectLike = KubeObject> {
  /** What it holds at first, put one by one, each under a key of its own. They have no history: who resumes from before them gets 410. */
  objects?: Iterable<T> | undefined;
  /** The kind of its lists, which messages name it by. Objects are sent as they were put. Default: that of the first object. */
  kind?: string | undefined;
  /** The API version of its lists. Default: that of the first object, or `v1`. */
  apiVersion?: string | undefined;
  /** The version before the first object: a decimal number of any length. Default: `"100"`. */
  resourceVersion?: string | undefined;
  /** A page of a list holds so many objects at most. Default: as many as the request allows. */
  pageSize?: number | undefined;
  /** Whether watches may begin with the state, as servers from 1.32 on allow. Default: true. */
  watchList?: boolean | undefined;
  /** Without `get`, and without all that writes. Default: false. */
  readOnly?: boolean | undefined;
  /**
   * Each answer and each event arrives so many milliseconds late. `Infinity`: never, but an event comes along with a later one that does arrive.
   * A source has no way to say that a watch has opened: only what it brings is late. Default: 0.
   */
  delay?: number | undefined;
  /** What delays, timeouts of watches and timestamps go by. Default: the clock of the host. */
  clock?: MemoryClock | undefined;
}

/**
 * A `Source` in memory, with a script: what its methods change upstream, a cache over it hears as it would of a server.
 *
 * Lists, pages, versions and watches are those of a Kubernetes API server. Requests for other namespaces or names are narrowed; selectors are
 * left to the cache. Patches replace lists, also those of the type `"strategic"`. Who owns a field is nobody's affair. The one subresource is `status`.
 */
export interface MemorySource<T extends ObjectLike = KubeObject> extends TypedSource<T> {
  /** What it holds, in the order of the keys. What a source gives out is frozen, as it is the source's own. */
  readonly objects: readonly T[];
  /**
   * The newest version. A higher one may be set, as when other resources of a server change. A lower one is that of a server that was restored
   * from a backup: the past is gone.
   */
  resourceVersion: string;
  /** How many watches are open: none after `await cache.close()`. */
  readonly streams: number;
  /** All requests so far. Each holds, beside its verb, what the method of `Source` was given: a write's `body` is text. */
  readonly requests: readonly MemoryRequest[];
  /** The requests of one kind so far. */
  asked(verb: MemoryVerb): readonly MemoryRequest[];

  /**
   * Adds an object, or replaces the one of its key. It is kept as JSON has it, and so it is returned, with its new version. An object without
   * `uid` or `creationTimestamp` gets them. What throws changes nothing.
   *
   * @throws {WatchCacheError} `invalid` for what is no object with a `metadata.name`.
   */
  put<O extends T | DeepReadonly<T>>(object: MemoryObject<T, O>): T;
  /** Deletes an object. Returns it with the version of its deletion. `key` is `"namespace/name"`, or `"name"` where there are no namespaces. */
  remove(key: string): T | undefined;

  /** Sends a BOOKMARK with the newest version on all open watches that take bookmarks. */
  bookmark(): void;
  /** Sends one frame on all open watches: text or bytes as they stand, anything else as JSON. Half a frame is one, too. */
  send(frame: unknown): void;
  /** Forgets the past. Watches and lists of an older version, and continue tokens, then get 410. Open watches go on. */
  expire(): void;
  /**
   * Ends all open watches, at once: events under way are lost. A cache resumes where its watch had brought something new, or stood for a second;
   * else the try has failed, and the next one waits.
   */
  drop(options?: DropOptions): void;
  /**
   * Has requests fail until `recover()`. Open watches go on. Failures of so many `times` queue up, in the order of their calls, and come first.
   * Of the others the newest holds, for its verbs.
   */
  fail(failure: MemoryFailure, options?: FailOptions): void;
  /** Answers again. */
  recover(): void;

  /** See `MemorySourceOptions`. It may be set at any time, for what is asked or sent from then on. */
  delay: number;
  /** See `MemorySourceOptions`. It may be set at any time. */
  pageSize: number;
  /** Called, and waited for, before each request is answered. What it throws fails the request. */
  before: ((request: MemoryRequest, signal: HostAbortSignal) => unknown) | undefined;
  /** What is sent in place of an object, for objects that no sound server would send. */
  outgoing: { /** Gives what is sent. */ call(object: T): unknown }["call"] | undefined;
}
