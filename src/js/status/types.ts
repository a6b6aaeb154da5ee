import type { WatchCacheError, WatchCacheErrorCode } from "../error/errors.js";

/**
 * Where a resource's stream stands, as a frozen snapshot: `resource.status` is the same object until a `status` event tells of another one.
 * Data and status are separate: no phase but `closed` takes a row away. What changes with each event is no status; it stands on the resource.
 *
 * `error` can be read in every phase; where the phase says that there is one (`failed`, `needs-auth`), it is never undefined.
 *
 * - `idle`: not used by anyone
 * - `loading`: the WebAssembly is being compiled, or the first list was asked for, also again after it failed
 * - `listing`: the pages of the first list arrive, or it is whole and its watch is being opened
 * - `live`: the watch is open
 * - `reconnecting`: the watch broke, and the next try is at `retryAt` or under way; or a list failed, and the next is at `retryAt`. Under way that
 *   one is `loading` or `relisting`, with the `error` of the last. Without an `error`: rows of a warm start show, and the server is asked
 * - `relisting`: the version was too old to resume from, or `refresh` was called
 * - `paused`: `pause` was called
 * - `needs-auth`: the server answered 401; the next try, at `retryAt` or by `resume`, asks `auth` anew
 * - `failed`: the server said no, see `error`; it is tried again at `retryAt`, or by `resume`. Without `retryAt` a try is under way, or only `resume`
 *   helps, and that only where something outside has changed
 * - `closed`
 */
export type ResourceStatus = Readonly<{
  /** Something is held, but changes are not arriving. */
  stale: boolean;
  /** Since when it is stale, in milliseconds since 1970. There while it is. */
  staleSince?: number;
  /** Failed tries since the last success. */
  attempt: number;
  /** How far the list that is on its way has come, in objects. */
  listed?: Readonly<{ loaded: number; remaining?: number }>;
  /**
   * The keys of objects that the server sends in a form that cannot be taken, and that a new list has not cured. They have no usable
   * version, a name that is no key, or bytes that are no JSON. What was held of them stays as it was, everything else goes on. An `error`
   * event tells of each; the first sound version of an object takes it out again.
   */
  quarantined?: readonly string[];
  /** How each namespace stands, of a resource with `namespaces`. `phase` above is the worst of those that hold a list and were not refused. */
  namespaces?: Readonly<Record<string, NamespaceStatus>>;
}> &
  (
    | Readonly<{ phase: "idle" | "listing" | "live" | "relisting" | "paused" | "closed"; error?: undefined; retryAt?: undefined }>
    | Readonly<{
        phase: "loading" | "reconnecting";
        /** What failed last. */
        error?: WatchCacheError;
        /** When the next try is due, in milliseconds since 1970. */
        retryAt?: number;
      }>
    | Readonly<{
        phase: "needs-auth" | "failed";
        /** What the server said, or what went wrong. */
        error: WatchCacheError;
        /** When the next try is due, in milliseconds since 1970. */
        retryAt?: number;
      }>
  );

/** How one of several namespaces stands. */
export type NamespaceStatus = Readonly<{
  /** As that of a resource. */
  phase: Exclude<ResourceStatus["phase"], "idle" | "closed">;
  /** What failed last, until it is live again. An `error` event tells of a namespace that is refused. */
  error?: Readonly<{ code: WatchCacheErrorCode; message: string }>;
  /** When the next try is due, in milliseconds since 1970. */
  retryAt?: number;
}>;

/** What an `error` event carries: the status of that moment with what failed, in every phase. An object that cannot be taken ends no stream. */
export type ResourceErrorDetail = Omit<ResourceStatus, "error" | "retryAt"> &
  Readonly<{
    error: WatchCacheError;
    /** When the next try is due, in milliseconds since 1970. */
    retryAt?: number | undefined;
  }>;
