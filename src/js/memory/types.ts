import type { HostAbortSignal } from "../host-types.js";
import type { KubeObject, ObjectLike, Status } from "../metadata-types.js";
import type { Source } from "../source.js";

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
  /** Moves on, and makes the calls that fall due, in their order. */
  advance(ms: number): Promise<void>;
}

/** What a source can be asked for. */
export type MemoryVerb = "list" | "watch" | "get" | "create" | "update" | "delete";

/** A request as it came in. */
export interface MemoryRequest {
  /** What was asked for. */
  readonly verb: MemoryVerb;
  /** What else the request says, as the methods of `Source` take it. */
  readonly [parameter: string]: unknown;
}

/** How a request fails: as a server refuses it, or with an `Error` where no server answers at all. */
export type MemoryFailure =
  | Error
  | Status
  | {
      /** The HTTP status. */
      code: number;
      /** A machine-readable word, such as `Forbidden`. */
      reason?: string;
      /** A sentence for people. */
      message?: string;
      /** How long the client should wait before it asks again. */
      retryAfterSeconds?: number;
    };

/** Which requests fail. */
export interface FailOptions {
  /** So many requests fail, and then no more. Default: all until `recover()`. */
  times?: number;
  /** Only such requests. Default: all. */
  verbs?: readonly MemoryVerb[];
}

/** How streams are cut. */
export interface DropOptions {
  /** What the streams break with. Default: they end in order, as a server ends them. */
  error?: Error;
  /** The first half of a frame arrives before the stream breaks. */
  midFrame?: boolean;
}

/** What a memory source begins with. */
export interface MemorySourceOptions<T extends ObjectLike = KubeObject> {
  /** What it holds at first. These objects have no history: who resumes from before them gets 410. */
  objects?: Iterable<T>;
  /** The kind of its objects. Default: that of the first object. */
  kind?: string;
  /** The API version of its objects. Default: that of the first object, or `v1`. */
  apiVersion?: string;
  /** The version before the first object. Default: `"100"`. */
  resourceVersion?: string;
  /** A page of a list holds so many objects at most. Default: as many as the request allows. */
  pageSize?: number;
  /** Whether watches may begin with the state, as servers from 1.32 on allow. Default: true. */
  watchList?: boolean;
  /** Without `get`, `create`, `update` and `delete`. Default: false. */
  readOnly?: boolean;
  /** Each answer and each event arrives so many milliseconds late. `Infinity`: never. Default: 0. */
  delay?: number;
  /** What delays, timeouts of watches and timestamps go by. Default: the clock of the host. */
  clock?: MemoryClock;
}

/**
 * A `Source` in memory, with a script: what its methods change upstream, a cache over it hears as it would of a server.
 *
 * Lists, pages, versions and watches are those of a Kubernetes API server. Requests for other namespaces or names are narrowed; selectors are
 * left to the cache.
 */
export interface MemorySource<T extends ObjectLike = KubeObject> extends Source {
  /** What it holds, in the order of the keys. */
  readonly objects: readonly T[];
  /**
   * The newest version. A higher one may be set, as when other resources of a server change. A lower one is that of a server that was restored
   * from a backup: the past is gone.
   */
  resourceVersion: string;
  /** How many watches are open. */
  readonly streams: number;
  /** All requests so far. */
  readonly requests: readonly MemoryRequest[];
  /** The requests of one kind so far. */
  asked(verb: MemoryVerb): readonly MemoryRequest[];

  /** Adds an object, or replaces the one of its key. Returns it with its new version. */
  put(object: T): T;
  /** Deletes an object. Returns it with the version of its deletion. `key` is `"namespace/name"`, or `"name"` where there are no namespaces. */
  remove(key: string): T | undefined;

  /** Sends a BOOKMARK with the newest version on all open watches that take bookmarks. */
  bookmark(): void;
  /** Sends one frame on all open watches: text or bytes as they stand, anything else as JSON. */
  send(frame: unknown): void;
  /** Forgets the past. Watches and lists of an older version, and continue tokens, then get 410. Open watches go on. */
  expire(): void;
  /** Cuts all open watches. */
  drop(options?: DropOptions): void;
  /** Has requests fail until `recover()`. Open watches go on. */
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
  outgoing: ((object: T) => unknown) | undefined;
}
